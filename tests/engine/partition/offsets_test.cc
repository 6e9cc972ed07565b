// Proves: ListOffsets by time gives what a brute-force scan of all records gives, whatever the
// timestamps (falling, negative, far in the future), over many segments, compressed or not, before
// and after a restart; and so does the question for the largest timestamp.
#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

struct Stamped {
  int64_t offset;
  int64_t timestamp;
};

class OffsetsWorld {
 public:
  explicit OffsetsWorld(uint64_t seed) : random_(seed, "times"), world_(seed, options()) {
    EXPECT_TRUE(world_.start());
  }
  PartitionWorld& world() { return world_; }
  base::RandomStream& random() { return random_; }

  void append_some(uint64_t batches) {
    for (uint64_t n = 0; n < batches; ++n) {
      log::BatchBuilder builder;
      const auto count = static_cast<int64_t>(random_.between(1, 6));
      for (int64_t i = 0; i < count; ++i) {
        const int64_t timestamp = draw_timestamp();
        const std::string value(random_.between(1, 6'000), 'v');
        builder.append(std::nullopt, base::as_bytes(value), timestamp);
        all_.push_back({next_ + i, timestamp});
      }
      log::Buffer batch = log::to_buffer(builder.finish());
      const log::Compression kinds[] = {log::Compression::gzip, log::Compression::zstd,
                                        log::Compression::lz4};
      if (random_.chance(0.3)) batch = log::compressed(batch, kinds[random_.below(3)]);
      ASSERT_EQ(world_.append(batch), next_);
      next_ += count;
    }
  }

  void check(int64_t wanted) {
    Call<OffsetsRequest> request;
    request.key = key_of(0);
    request.timestamp = wanted;
    ASSERT_TRUE(world_.ask(request, model::ports::kListOffsets));
    ASSERT_EQ(request.error, ErrorCode::none);
    const auto found = std::ranges::find_if(
        all_, [&](const Stamped& record) { return record.timestamp >= wanted; });
    const bool any = found != all_.end();
    EXPECT_EQ(request.offset.value(), any ? found->offset : -1) << "for " << wanted;
    EXPECT_EQ(request.found_timestamp, any ? found->timestamp : -1);
  }
  void check_largest() {
    Call<OffsetsRequest> request;
    request.key = key_of(0);
    request.timestamp = -3;
    ASSERT_TRUE(world_.ask(request, model::ports::kListOffsets));
    ASSERT_EQ(request.error, ErrorCode::none);
    const auto largest = std::ranges::max_element(all_, {}, &Stamped::timestamp);
    if (largest == all_.end()) {
      EXPECT_EQ(request.offset.value(), -1);
      return;
    }
    if (largest->timestamp < 0) return;  // nothing with a time: Kafka names none
    EXPECT_EQ(request.offset.value(), largest->offset);
    EXPECT_EQ(request.found_timestamp, largest->timestamp);
  }
  void check_many() {
    check_largest();
    for (int i = 0; i < 30; ++i) check(static_cast<int64_t>(random_.below(2'000)));
    for (const int64_t wanted : {int64_t{0}, int64_t{1'000}, int64_t{4'000'000'000'000},
                                 std::numeric_limits<int64_t>::max()}) {
      check(wanted);
    }
    for (int i = 0; i < 10 && !all_.empty(); ++i) {
      const int64_t timestamp = all_[random_.below(all_.size())].timestamp;
      if (timestamp >= 0) check(timestamp);
      if (timestamp >= 0 && timestamp < std::numeric_limits<int64_t>::max()) check(timestamp + 1);
    }
  }

 private:
  static WorldOptions options() {
    WorldOptions all;
    all.settings.segment_bytes = 128_KiB;
    all.partition.tail_cache_bytes = 64_KiB;
    return all;
  }
  int64_t draw_timestamp() {
    if (random_.chance(0.05)) return -static_cast<int64_t>(random_.below(1'000'000)) - 1;
    if (random_.chance(0.02)) return 4'000'000'000'000 + static_cast<int64_t>(random_.below(1'000));
    if (random_.chance(0.3)) return static_cast<int64_t>(random_.below(1'500));
    return falling_ > 3 ? falling_ -= static_cast<int64_t>(random_.below(4)) : falling_ = 1'500;
  }

  base::RandomStream random_;
  PartitionWorld world_;
  std::vector<Stamped> all_;
  int64_t next_ = 0;
  int64_t falling_ = 1'500;
};

TEST(ListOffsets, by_time_is_what_a_scan_gives) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    OffsetsWorld offsets(seed);
    offsets.check_many();
    for (int round = 0; round < 3; ++round) {
      offsets.append_some(offsets.random().between(1, 30));
      offsets.check_many();
    }
    offsets.world().crash(io::sim::CrashKind::power_cut);
    ASSERT_TRUE(offsets.world().start());
    offsets.check_many();
    offsets.append_some(5);
    offsets.check_many();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ListOffsets, earliest_and_latest) {
  PartitionWorld world(1);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(7)), 0);
  const auto ask = [&](int64_t timestamp, int32_t epoch, int32_t index = 0) {
    auto request = std::make_unique<Call<OffsetsRequest>>();
    request->key = key_of(index);
    request->timestamp = timestamp;
    request->current_leader_epoch = epoch;
    EXPECT_TRUE(world.ask(*request, model::ports::kListOffsets));
    return request;
  };
  EXPECT_EQ(ask(-1, -1)->offset.value(), 7);
  EXPECT_EQ(ask(-1, 1)->leader_epoch, 1);
  EXPECT_EQ(ask(-2, -1)->offset.value(), 0);
  EXPECT_EQ(ask(-4, -1)->offset.value(), 0);
  EXPECT_EQ(ask(-1, 0)->error, ErrorCode::fenced_leader_epoch);
  EXPECT_EQ(ask(-1, 2)->error, ErrorCode::unknown_leader_epoch);
  EXPECT_EQ(ask(-1, -1, 9)->error, ErrorCode::unknown_topic_or_partition);
}

TEST(ListOffsets, only_durable_records_are_found) {
  WorldOptions options;
  options.sim.faults.disk_latency_ns = 3'000'000;
  PartitionWorld world(2, options);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(1, 100)), 0);
  Call<AppendRequest> pending;
  const auto batch = log::make_batch(1, 900);
  world.send_append(pending, batch);
  world.sim().run_for(20'000);
  ASSERT_FALSE(pending.done);
  const auto ask = [&](int64_t timestamp) {
    Call<OffsetsRequest> request;
    request.key = key_of(0);
    request.timestamp = timestamp;
    EXPECT_TRUE(world.ask(request, model::ports::kListOffsets));
    return request.offset.value();
  };
  EXPECT_EQ(ask(50), 0);
  EXPECT_FALSE(pending.done);
  EXPECT_EQ(ask(500), -1);
  EXPECT_FALSE(pending.done);
  EXPECT_EQ(ask(-3), 0);
  ASSERT_TRUE(world.run_until([&] { return pending.done; }));
  EXPECT_EQ(ask(500), 1);
}

}  // namespace
}  // namespace weir::partition
