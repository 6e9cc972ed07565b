// Proves when a watch comes back: at once when a fetch would be answered at once, with the commit
// that brings enough, when a partition goes away or its limits move, when cancelled; and always
// exactly once.
#include "engine/partition/fetch_waiters.h"

#include <gtest/gtest.h>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

class FetchWaitersTest : public testing::Test {
 protected:
  FetchWaitersTest() : world(1, options()) {}
  static WorldOptions options() {
    WorldOptions all;
    all.partition_count = 3;
    return all;
  }
  void SetUp() override { ASSERT_TRUE(world.start()); }
  void TearDown() override { world.sim().crash(io::sim::CrashKind::process_kill); }

  struct Watch : Call<WatchRequest> {
    std::vector<WatchItem> list;
  };
  void watch(Watch& call, std::vector<WatchItem> list, uint64_t size_min = 1) {
    call.list = std::move(list);
    call.items = call.list;
    call.size_min = size_min;
    call.done = false;
    world.send(call, model::ports::kWatch);
    world.sim().run_for(1'000'000);
  }
  static WatchItem item(int32_t index, int64_t offset, uint32_t size_max = 1 << 20) {
    return {.key = key_of(index), .fetch_offset = model::Offset(offset), .size_max = size_max};
  }

  PartitionWorld world;
  log::Buffer batch = log::make_batch(1, 1000, 1'000);
};

TEST_F(FetchWaitersTest, waits_for_the_first_byte) {
  Watch call;
  watch(call, {item(0, 0)});
  EXPECT_FALSE(call.done);
  ASSERT_EQ(world.append(batch, 1), 0);
  EXPECT_FALSE(call.done) << "another partition's";
  ASSERT_EQ(world.append(batch, 0), 0);
  EXPECT_TRUE(world.run_until([&] { return call.done; }));
}

TEST_F(FetchWaitersTest, waits_for_enough_of_all_partitions_together) {
  Watch call;
  watch(call, {item(0, 0), item(1, 0)}, batch.size() * 3);
  ASSERT_EQ(world.append(batch, 0), 0);
  ASSERT_EQ(world.append(batch, 1), 0);
  world.sim().run_for(10'000'000);
  EXPECT_FALSE(call.done);
  ASSERT_EQ(world.append(batch, 1), 1);
  EXPECT_TRUE(world.run_until([&] { return call.done; }));
}

TEST_F(FetchWaitersTest, a_partition_counts_only_up_to_its_limit) {
  Watch call;
  watch(call, {item(0, 0, 1'500), item(1, 0, 1'500)}, 2'000);
  for (int64_t i = 0; i < 5; ++i) ASSERT_EQ(world.append(batch, 0), i);
  world.sim().run_for(10'000'000);
  EXPECT_FALSE(call.done) << "one partition can bring 1,500 bytes at most";
  ASSERT_EQ(world.append(batch, 1), 0);
  EXPECT_TRUE(world.run_until([&] { return call.done; }));
}

TEST_F(FetchWaitersTest, what_came_between_read_and_watch_counts) {
  ASSERT_EQ(world.append(batch, 0), 0);
  Watch call;
  watch(call, {item(0, 0)});
  EXPECT_TRUE(call.done);
  watch(call, {item(0, 0)}, batch.size() * 2);
  EXPECT_FALSE(call.done);
  ASSERT_EQ(world.append(batch, 0), 1);
  EXPECT_TRUE(world.run_until([&] { return call.done; }));
}

TEST_F(FetchWaitersTest, comes_back_at_once_when_a_fetch_would_fail) {
  Watch call;
  watch(call, {item(0, 1)});
  EXPECT_TRUE(call.done) << "behind the end";
  watch(call, {item(1, 0), item(9, 0)});
  EXPECT_TRUE(call.done) << "no such partition";
}

TEST_F(FetchWaitersTest, comes_back_when_a_partition_goes) {
  Watch both;
  Watch other;
  watch(both, {item(0, 0), item(1, 0)});
  watch(other, {item(1, 0)});
  world.table().remove(key_of(0));
  EXPECT_TRUE(world.run_until([&] { return both.done; }));
  EXPECT_FALSE(other.done);
  ASSERT_EQ(world.append(batch, 1), 0);
  EXPECT_TRUE(world.run_until([&] { return other.done; }));
}

TEST_F(FetchWaitersTest, many_watches_on_one_partition_are_all_told) {
  std::vector<std::unique_ptr<Watch>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(std::make_unique<Watch>());
    watch(*calls.back(), {item(i % 2, 0), item(2, 0)}, 1 + static_cast<uint64_t>(i) * 200);
  }
  ASSERT_EQ(world.append(batch, 2), 0);
  world.sim().run_for(10'000'000);
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i]->done, calls[i]->size_min <= batch.size()) << i;
  }
  for (int n = 0; n < 3; ++n) ASSERT_EQ(world.append(batch, 2), n + 1);
  world.sim().run_for(10'000'000);
  for (const auto& call : calls) EXPECT_TRUE(call->done);
}

TEST_F(FetchWaitersTest, a_cancelled_watch_comes_back_first) {
  Watch call;
  watch(call, {item(0, 0)});
  Call<CancelWatch> cancel;
  cancel.watch = &call;
  ASSERT_TRUE(world.ask(cancel, model::ports::kCancelWatch));
  EXPECT_TRUE(call.done);
  // Crossing its answer: harmless.
  ASSERT_TRUE(world.ask(cancel, model::ports::kCancelWatch));
  ASSERT_EQ(world.append(batch, 0), 0);
}

}  // namespace
}  // namespace weir::partition
