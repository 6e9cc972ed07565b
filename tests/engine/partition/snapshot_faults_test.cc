// Files below the log start wait for the producer snapshot that speaks for them, whatever kept it
// from being written; only on a full disk they go without. Else a retry of what they held would be
// taken anew after the next start (I13).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int32_t kSent = 7;

class SnapshotFaults : public testing::Test {
 protected:
  static WorldOptions options() {
    WorldOptions options;
    options.settings.segment_bytes = 64_KiB;
    options.settings.file_delete_delay_ms = 0;
    options.settings.retention.age_ms_max = 0;
    options.partition.retention_check_ms = 1;
    options.partition.tail_cache_bytes = 0;
    return options;
  }

  int64_t send(int32_t sequence) {
    return world.append(log::make_batch(1, 9'000 + sequence, 700,
                                        {.producer_id = model::ProducerId(5),
                                         .producer_epoch = model::ProducerEpoch(0),
                                         .base_sequence = model::Sequence(sequence)}));
  }

  // All that was sent is below the log start, durably, and no snapshot speaks for it yet.
  void delete_all() {
    ASSERT_TRUE(world.start()) << world.failure();
    for (int32_t i = 0; i < kSent; ++i) ASSERT_EQ(send(i), i);
    world.table().start_retention(nullptr);
    ASSERT_TRUE(world.run_until([&] {
      return world.partition().log_start_offset().value() == kSent;
    }));
    ASSERT_EQ(world.metrics().segments_dropped, 0u) << "not without a snapshot";
  }

  size_t segments_on_disk() {
    return static_cast<size_t>(std::ranges::count_if(
        world.sim().disk().files(),
        [](const auto& path) { return path.ends_with(log::kLogSuffix); }));
  }

  std::string snapshot_path() {
    return fmt::format("{}/{}", world.directory(), log::kProducerSnapshotName);
  }

  // After a power cut and a start the producer is where it was.
  void expect_known() {
    world.crash(io::sim::CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.partition().log_start_offset().value(), kSent);
    EXPECT_EQ(send(kSent - 1), kSent - 1) << "a retry";
    EXPECT_EQ(send(kSent + 1), -45) << "a gap";
    EXPECT_EQ(send(kSent), kSent);
  }

  PartitionWorld world{12, options()};
};

TEST_F(SnapshotFaults, without_descriptors_files_wait_until_there_are_some) {
  ASSERT_NO_FATAL_FAILURE(delete_all());
  world.sim().disk().set_open_refusals(1);
  world.sim().run_for(100 * kSecond_ns);
  EXPECT_EQ(world.metrics().segments_dropped, 0u);
  EXPECT_EQ(segments_on_disk(), 2u);
  EXPECT_FALSE(world.journal().failed()) << "descriptors come back";
  world.sim().disk().set_open_refusals(0);
  EXPECT_TRUE(world.run_until([&] { return segments_on_disk() == 1; }, 100 * kSecond_ns));
  expect_known();
}

TEST_F(SnapshotFaults, a_failing_device_takes_no_file_with_it) {
  ASSERT_NO_FATAL_FAILURE(delete_all());
  // No write before that of the snapshot fails: what comes after it, and its end, is what counts.
  const std::string path = snapshot_path() + ".new";
  ASSERT_TRUE(world.run_until([&] { return world.sim().disk().exists(path); }));
  world.sim().faults().write_error = 1;
  ASSERT_TRUE(world.run_until([&] { return world.journal().failed(); }));
  world.sim().run_for(100 * kSecond_ns);
  world.sim().faults().write_error = 0;
  EXPECT_EQ(world.metrics().segments_dropped, 0u);
  EXPECT_EQ(segments_on_disk(), 2u);
  expect_known();
}

TEST_F(SnapshotFaults, on_a_full_disk_files_go_without) {
  ASSERT_NO_FATAL_FAILURE(delete_all());
  world.sim().disk().set_size_bytes(0);  // what sealing gives back is no room either
  EXPECT_TRUE(world.run_until([&] { return segments_on_disk() == 1; }, 100 * kSecond_ns));
  EXPECT_FALSE(world.sim().disk().exists(snapshot_path()));
}

}  // namespace
}  // namespace weir::partition
