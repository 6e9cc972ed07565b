// Proves that segments are filled with zeros ahead of a burst's successor while nothing else is to
// do, as far as they may be and no further; that an append which reaches so far waits for the zeros
// on their way and is whole afterwards, whatever crash follows; that removal, a stop and a failing
// device find their way through.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/sim/sim_disk.h"
#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

constexpr size_t kStraightToSegment = 100'000;  // of a batch that goes straight to its segment

WorldOptions primed_early() {
  WorldOptions options;
  options.partition.prime_burst_min = 128_KiB;
  options.partition.prime_piece_bytes = 64_KiB;
  options.partition.prime_quiet_ns = 10_ms;
  return options;
}

log::Buffer large(int64_t time = 1) { return log::make_batch(1, time, kStraightToSegment); }

void burst(PartitionWorld& world, int count) {
  for (int i = 0; i < count; ++i) ASSERT_GE(world.append(large()), 0);
}

bool primed(PartitionWorld& world, uint64_t bytes) {
  return world.run_until([&] { return world.metrics().primed_bytes >= bytes; });
}

TEST(SegmentPrimer, a_burst_is_followed_by_as_many_zeros_and_no_more) {
  PartitionWorld world(1, primed_early());
  ASSERT_TRUE(world.start());
  burst(world, 3);
  EXPECT_EQ(world.metrics().primed_bytes, 0u) << "the core was not quiet";
  ASSERT_TRUE(primed(world, 1));
  world.sim().run_for(1'000_ms);
  const log::Segment& active = world.partition().log().active();
  const uint64_t burst_bytes = active.end;
  EXPECT_LE(world.metrics().primed_bytes, std::min(burst_bytes, active.allocated - active.end));
  EXPECT_GE(world.metrics().primed_bytes + 2 * io::kBlockSize,
            std::min(burst_bytes, active.allocated - active.end));
  const uint64_t before = world.metrics().primed_bytes;
  world.sim().run_for(10'000_ms);
  EXPECT_EQ(world.metrics().primed_bytes, before);
  ErrorCode error{};
  EXPECT_EQ(world.read_all(0, error).size(), burst_bytes);
}

TEST(SegmentPrimer, little_writes_and_a_limit_of_nothing_leave_segments_alone) {
  WorldOptions options = primed_early();
  {
    PartitionWorld world(2, options);
    ASSERT_TRUE(world.start());
    for (int i = 0; i < 100; ++i) ASSERT_GE(world.append(log::make_batch(1, 1, 9'000)), 0);
    world.sim().run_for(1'000_ms);
    EXPECT_EQ(world.metrics().primed_bytes, 0u);
  }
  options.partition.prime_bytes_max = 0;
  PartitionWorld world(2, options);
  ASSERT_TRUE(world.start());
  burst(world, 4);
  world.sim().run_for(1'000_ms);
  EXPECT_EQ(world.metrics().primed_bytes, 0u);
}

TEST(SegmentPrimer, large_writes_with_pauses_between_are_no_burst) {
  PartitionWorld world(3, primed_early());
  ASSERT_TRUE(world.start());
  for (int i = 0; i < 8; ++i) {
    burst(world, 1);
    world.sim().run_for(20_ms);
  }
  world.sim().run_for(1'000_ms);
  EXPECT_EQ(world.metrics().primed_bytes, 0u);
}

TEST(SegmentPrimer, the_limit_holds) {
  WorldOptions options = primed_early();
  options.settings.segment_bytes = 4_MiB;
  options.partition.prime_bytes_max = 100'000;
  PartitionWorld world(4, options);
  ASSERT_TRUE(world.start());
  burst(world, 10);
  ASSERT_TRUE(primed(world, 1));
  world.sim().run_for(1'000_ms);
  EXPECT_LE(world.metrics().primed_bytes, 100'000u);
}

// Appends meet zeros on their way at every moment; each is whole after a power cut.
TEST(SegmentPrimer, appends_and_zeros_do_not_meet) {
  uint64_t waited = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    WorldOptions options = primed_early();
    options.sim.faults.disk_latency_ns = 2'000'000;
    options.partition.prime_quiet_ns = 1_ms;
    options.settings.segment_bytes = 2_MiB;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    log::Buffer all;
    int64_t next = 0;
    for (int round = 0; round < 4; ++round) {
      std::vector<std::unique_ptr<Call<AppendRequest>>> calls;
      const auto batch = large(round + 1);
      for (int i = 0; i < 3; ++i) {
        calls.push_back(std::make_unique<Call<AppendRequest>>());
        world.send_append(*calls.back(), batch);
        log::Buffer stored = batch;
        log::set_base_offset(stored, model::Offset(next++));
        log::set_leader_epoch(stored, 1);
        log::append(all, stored);
      }
      world.sim().run_for(1'000);
      if (!world.partition().quiet() && world.metrics().primed_bytes > 0) ++waited;
      for (auto& call : calls) {
        ASSERT_TRUE(world.run_until([&] { return call->done; }));
        ASSERT_EQ(call->error, ErrorCode::none);
      }
      // Into the pause, or into the middle of a piece.
      world.sim().run_for(static_cast<int64_t>(seed) * 150'000);
    }
    world.crash(seed % 2 == 0 ? CrashKind::power_cut : CrashKind::process_kill);
    ASSERT_TRUE(world.start());
    ErrorCode error{};
    EXPECT_EQ(world.read_all(0, error), all) << "seed " << seed;
  }
  EXPECT_GT(waited, 0u);
}

TEST(SegmentPrimer, what_a_crash_left_behind_the_end_is_overwritten) {
  PartitionWorld world(5, primed_early());
  ASSERT_TRUE(world.start());
  burst(world, 2);
  Call<AppendRequest> lost;
  const auto batch = large();
  world.send_append(lost, batch);
  world.sim().run_for(200'000);
  world.crash(CrashKind::process_kill);
  ASSERT_TRUE(world.start());
  burst(world, 4);
  ASSERT_TRUE(primed(world, 1));
  world.sim().run_for(1'000_ms);
  const log::Segment& active = world.partition().log().active();
  const auto content = world.sim().disk().content(world.segment_path(0, log::kLogSuffix));
  ASSERT_GE(content.size(), active.primed);
  const auto begin = content.begin() + static_cast<ptrdiff_t>(active.written);
  const auto end = content.begin() + static_cast<ptrdiff_t>(active.primed);
  EXPECT_TRUE(std::all_of(begin, end, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(SegmentPrimer, removal_and_stop_wait_for_the_piece_under_way) {
  for (const bool removes : {true, false}) {
    for (int64_t step = 0; step < 30; ++step) {
      WorldOptions options = primed_early();
      options.sim.faults.disk_latency_ns = 2'000'000;
      PartitionWorld world(6, options);
      ASSERT_TRUE(world.start());
      burst(world, 3);
      world.sim().run_for(10_ms + step * 400'000);
      removes ? world.table().remove(key_of(0)) : world.table().prepare_stop();
      ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); }));
      const uint64_t bytes = world.metrics().primed_bytes;
      world.sim().run_for(1'000_ms);
      EXPECT_EQ(world.metrics().primed_bytes, bytes);
    }
  }
}

TEST(SegmentPrimer, a_failing_device_is_noticed) {
  PartitionWorld world(7, primed_early());
  ASSERT_TRUE(world.start());
  burst(world, 3);
  // The next write is of zeros: the record that says that all is durable comes later.
  world.sim().faults().write_error = 1;
  ASSERT_TRUE(world.run_until([&] { return world.journal().failed(); }));
  Call<AppendRequest> later;
  const auto batch = large();
  world.send_append(later, batch);
  ASSERT_TRUE(world.run_until([&] { return later.done; }));
  EXPECT_EQ(later.error, ErrorCode::kafka_storage_error);
  EXPECT_FALSE(later.outcome_unknown);
}

}  // namespace
}  // namespace weir::partition
