// Proves that reads hold no more memory than they may: who has nothing waits for what others give
// back, in line, and not for ever; who has something makes do with it; memory that several share
// counts once.
//
// How: a node with one core over the simulated disk, its gate as narrow as the case wants it.
#include "engine/partition/read_gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

// A fetch of the whole of some partitions, which holds what it gets until it is released.
struct Fetch : Call<ReadRequest> {
  explicit Fetch(std::vector<int32_t> partitions) : all(partitions.size()) {
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].key = key_of(partitions[i]);
      all[i].size_max = 1 << 20;
    }
    items = all;
    size_max = 1 << 20;
  }
  std::vector<ReadItem> all;
};

class ReadGateTest : public ::testing::Test {
 protected:
  // One batch in each of three partitions.
  void start(int64_t fetch_memory_bytes) {
    WorldOptions options;
    options.partition_count = 3;
    options.partition.fetch_memory_bytes = fetch_memory_bytes;
    world_ = std::make_unique<PartitionWorld>(1, options);
    ASSERT_TRUE(world_->start());
    for (int32_t i = 0; i < 3; ++i) ASSERT_EQ(world_->append(batch_, i), 0);
  }
  void send(Fetch& fetch) { world_->send(fetch, model::ports::kRead); }
  bool release(Fetch& fetch) { return world_->ask(fetch, model::ports::kReleaseRead); }
  bool pass(int64_t ns) {
    const int64_t end_ns = world_->sim().now_ns() + ns;
    return world_->run_until([&] { return world_->sim().now_ns() >= end_ns; });
  }
  bool came_back(Fetch& fetch) {
    return world_->run_until([&] { return fetch.done; }, 10'000'000'000);
  }
  bool fetch(Fetch& wanted) {
    send(wanted);
    return came_back(wanted);
  }
  size_t held() { return world_->pool().leased_bytes(); }

  const log::Buffer batch_ = log::make_batch(1, 1000, 3'000);
  std::unique_ptr<PartitionWorld> world_;
};

TEST_F(ReadGateTest, a_read_without_room_waits_for_what_is_given_back) {
  start(1);
  Fetch first({0});
  ASSERT_TRUE(fetch(first));
  EXPECT_EQ(first.all[0].size, batch_.size()) << "where nothing is held one is let in";
  EXPECT_GE(held(), batch_.size());
  Fetch second({1});
  Fetch third({2});
  send(second);
  send(third);
  ASSERT_TRUE(pass(ReadGate::kPatience_ns / 2));
  EXPECT_FALSE(second.done);
  EXPECT_FALSE(third.done);
  ASSERT_TRUE(release(first));
  ASSERT_TRUE(came_back(second));
  EXPECT_EQ(second.all[0].size, batch_.size());
  EXPECT_FALSE(third.done) << "one after the other";
  ASSERT_TRUE(release(second));
  ASSERT_TRUE(came_back(third));
  EXPECT_EQ(third.all[0].size, batch_.size());
  ASSERT_TRUE(release(third));
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(world_->metrics().read_waits, 2u);
  EXPECT_EQ(world_->metrics().reads_turned_away, 0u);
}

// Consumers who stand still with large answers do not stop the others.
TEST_F(ReadGateTest, the_last_quarter_is_for_little) {
  constexpr int64_t kMemory = 8'000'000;
  start(kMemory);
  const log::Buffer large = log::make_batch(1, 1000, 100'000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_GE(world_->append(large, 1), 0);
    ASSERT_GE(world_->append(large, 2), 0);
  }
  std::vector<std::unique_ptr<Fetch>> held_back;
  while (held() < kMemory - kMemory / 4) {
    const int64_t offset = world_->append(large, 0);
    ASSERT_GE(offset, 0);
    held_back.push_back(std::make_unique<Fetch>(std::vector<int32_t>{0}));
    held_back.back()->all[0].fetch_offset = model::Offset(offset);
    ASSERT_TRUE(fetch(*held_back.back()));
  }
  ASSERT_LT(held(), static_cast<size_t>(kMemory) - 4 * large.size());
  Fetch little({1, 2});
  ASSERT_TRUE(fetch(little));
  EXPECT_GE(little.all[0].size, batch_.size());
  EXPECT_LE(little.all[0].size, ReadGate::kLittle);
  EXPECT_EQ(little.all[1].size, 0u);
  EXPECT_EQ(world_->metrics().read_waits, 0u);
  ASSERT_TRUE(release(little));
  for (auto& each : held_back) ASSERT_TRUE(release(*each));
  Fetch all({1, 2});
  ASSERT_TRUE(fetch(all));
  EXPECT_EQ(all.all[0].size, batch_.size() + 3 * large.size());
  EXPECT_EQ(all.all[1].size, batch_.size() + 3 * large.size());
  ASSERT_TRUE(release(all));
}

TEST_F(ReadGateTest, a_read_does_not_wait_for_ever) {
  start(1);
  Fetch first({0});
  ASSERT_TRUE(fetch(first));
  Fetch second({1});
  ASSERT_TRUE(fetch(second));
  EXPECT_EQ(second.all[0].error, ErrorCode::none);
  EXPECT_EQ(second.all[0].size, 0u);
  EXPECT_EQ(second.all[0].high_watermark.value(), 1) << "limits are told all the same";
  EXPECT_EQ(world_->metrics().reads_turned_away, 1u);
  ASSERT_TRUE(release(second));
  ASSERT_TRUE(release(first));
  EXPECT_EQ(held(), 0u);
}

TEST_F(ReadGateTest, a_read_that_has_something_makes_do_with_it) {
  start(1);
  Fetch all({0, 1, 2});
  ASSERT_TRUE(fetch(all));
  EXPECT_EQ(all.all[0].size, batch_.size());
  EXPECT_EQ(all.all[1].size, 0u);
  EXPECT_EQ(all.all[2].size, 0u);
  EXPECT_EQ(all.all[2].high_watermark.value(), 1);
  EXPECT_EQ(world_->metrics().read_waits, 0u);
  ASSERT_TRUE(release(all));
}

// Room for one buffer, and more than that many readers of it.
TEST_F(ReadGateTest, what_readers_share_counts_once) {
  start(20'000);
  Fetch first({0});
  Fetch second({0});
  Fetch third({0});
  for (Fetch* each : {&first, &second, &third}) {
    ASSERT_TRUE(fetch(*each));
    EXPECT_EQ(each->all[0].size, batch_.size());
  }
  EXPECT_LT(held(), 20'000u);
  for (Fetch* each : {&first, &second, &third}) {
    EXPECT_GE(held(), batch_.size());
    ASSERT_TRUE(release(*each));
  }
  EXPECT_EQ(held(), 0u);
}

// The topic goes while a read of it waits.
TEST_F(ReadGateTest, a_partition_may_go_meanwhile) {
  start(1);
  Fetch first({0});
  ASSERT_TRUE(fetch(first));
  Fetch second({1});
  send(second);
  ASSERT_TRUE(pass(1'000'000));
  world_->table().remove(key_of(1));
  ASSERT_TRUE(release(first));
  ASSERT_TRUE(came_back(second));
  EXPECT_EQ(second.all[0].error, ErrorCode::unknown_topic_or_partition);
  ASSERT_TRUE(release(second));
  EXPECT_EQ(held(), 0u);
}

}  // namespace
}  // namespace weir::partition
