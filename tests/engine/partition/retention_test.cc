// Proves that a running node lets old segments go, and when: by size, by age, after a second look
// at the clock only, the active segment too, also after a restart that knows the files only; that
// segments roll by age; and that none of it stands in the way of appends or of the journal.
//
// How: PartitionWorld with retention rounds every ten seconds of virtual time.
#include "engine/partition/retention.h"

#include <gtest/gtest.h>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

constexpr int64_t kCheckMs = 10'000;
constexpr int64_t kHour = 3'600'000;

WorldOptions rounds() {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.partition.tail_cache_bytes = 0;
  options.partition.retention_check_ms = kCheckMs;
  return options;
}

// Appends records stamped `ago_ms` before the wall clock of the moment.
void fill(PartitionWorld& world, int count, int64_t ago_ms = 0, size_t size = 7'000) {
  for (int i = 0; i < count; ++i) {
    const int64_t timestamp = world.sim().clock().wall_ms() - ago_ms;
    ASSERT_GE(world.append(log::make_batch(1, timestamp, size)), 0);
  }
  world.sim().run_for(kSecond_ns / 10);
}

int64_t start_of(PartitionWorld& world) { return world.partition().log_start_offset().value(); }
int64_t end_of(PartitionWorld& world) { return world.partition().high_watermark().value(); }
void wait_rounds(PartitionWorld& world, int64_t count) {
  world.sim().run_for(count * kCheckMs * 1'000'000 + kSecond_ns);
}

TEST(Retention, by_size_in_the_first_round) {
  WorldOptions options = rounds();
  options.settings.retention.size_bytes_max = 200'000;
  PartitionWorld world(1, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  fill(world, 100);
  ASSERT_EQ(start_of(world), 0);
  wait_rounds(world, 1);
  EXPECT_GT(start_of(world), 0);
  const uint64_t size = world.partition().log().size_bytes();
  EXPECT_GE(size, 200'000u) << "what goes leaves at least so much";
  EXPECT_LT(size, 200'000u + 64_KiB);
  EXPECT_EQ(start_of(world), world.partition().log().segments().front()->base_offset.value());
}

TEST(Retention, by_age_once_two_looks_at_the_clock_agree) {
  WorldOptions options = rounds();
  options.settings.retention.age_ms_max = 60'000;
  PartitionWorld world(2, options);
  ASSERT_TRUE(world.start());
  fill(world, 30, 120'000);
  fill(world, 10);
  world.table().start_retention(nullptr);
  wait_rounds(world, 1);
  EXPECT_EQ(start_of(world), 0) << "the first look";
  wait_rounds(world, 1);
  EXPECT_GT(start_of(world), 20);
  EXPECT_LE(start_of(world), 30) << "nothing that is younger";
  wait_rounds(world, 6);
  EXPECT_EQ(start_of(world), 40) << "the active segment expires too";
  EXPECT_EQ(end_of(world), 40);
  EXPECT_EQ(world.partition().log().segments().size(), 1u);
  EXPECT_EQ(world.partition().log().active().end, 0u);
  fill(world, 3);
  EXPECT_EQ(end_of(world), 43);
  for (int round = 0; round < 2; ++round) {
    ErrorCode error{};
    EXPECT_FALSE(world.read_all(0, error).empty());
    EXPECT_EQ(error, ErrorCode::none);
    EXPECT_EQ(start_of(world), 40);
    world.crash(CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
  }
}

TEST(Retention, an_expired_log_stays_empty_through_restarts) {
  WorldOptions options = rounds();
  options.settings.retention.age_ms_max = 1'000;
  PartitionWorld world(3, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  fill(world, 20);
  wait_rounds(world, 4);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(start_of(world), 20);
    EXPECT_EQ(end_of(world), 20);
    world.crash(round % 2 == 0 ? CrashKind::power_cut : CrashKind::process_kill);
    ASSERT_TRUE(world.start()) << world.failure();
  }
  fill(world, 1);
  EXPECT_EQ(end_of(world), 21);
}

// The ledgers of sealed segments are not in memory after a start.
TEST(Retention, knows_sealed_segments_by_their_files_alone) {
  WorldOptions options = rounds();
  options.settings.retention.age_ms_max = 60'000;
  PartitionWorld world(4, options);
  ASSERT_TRUE(world.start());
  fill(world, 40, 120'000);
  fill(world, 20);
  world.crash();
  ASSERT_TRUE(world.start());
  ASSERT_FALSE(world.partition().log().segments().front()->ledger_loaded);
  world.table().start_retention(nullptr);
  wait_rounds(world, 2);
  EXPECT_GT(start_of(world), 30);
  EXPECT_LE(start_of(world), 40);
  EXPECT_FALSE(world.partition().log().segments().front()->ledger_loaded) << "nor afterwards";
}

TEST(Retention, a_step_of_the_wall_clock_deletes_nothing_at_once) {
  WorldOptions options = rounds();
  options.settings.retention.age_ms_max = 24 * kHour;
  PartitionWorld world(5, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  fill(world, 40);
  wait_rounds(world, 3);
  world.sim().clock().jump_wall(365 * 24 * kHour);
  wait_rounds(world, 100);
  EXPECT_EQ(start_of(world), 0);
  world.sim().clock().jump_wall(-2 * 365 * 24 * kHour);
  fill(world, 1, -365 * 24 * kHour);  // of a client whose clock is right
  wait_rounds(world, 1'000);
  EXPECT_EQ(start_of(world), 0) << "a broker that is behind deletes nothing either";
}

TEST(Retention, a_record_of_the_year_2100_does_not_stay_for_ever) {
  WorldOptions options = rounds();
  options.settings.retention.age_ms_max = 60'000;
  PartitionWorld world(6, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  fill(world, 1, -100 * 365 * 24 * kHour);
  fill(world, 20);
  world.sim().run_for((kHour + 50'000) * 1'000'000);
  EXPECT_EQ(start_of(world), 0);
  wait_rounds(world, 3);
  EXPECT_EQ(start_of(world), 21);
}

TEST(Retention, segments_roll_by_age) {
  WorldOptions options = rounds();
  options.settings.segment_ms = 60'000;
  PartitionWorld world(7, options);
  ASSERT_TRUE(world.start());
  fill(world, 3, 0, 100);
  EXPECT_EQ(world.partition().log().segments().size(), 1u);
  world.sim().run_for(61 * kSecond_ns);
  fill(world, 3, 0, 100);
  ASSERT_EQ(world.partition().log().segments().size(), 2u);
  EXPECT_EQ(world.partition().log().active().base_offset.value(), 3);
  world.crash();
  ASSERT_TRUE(world.start());
  fill(world, 1, 0, 100);
  EXPECT_EQ(world.partition().log().segments().size(), 2u);
  world.sim().run_for(61 * kSecond_ns);
  fill(world, 1, 0, 100);
  EXPECT_EQ(world.partition().log().segments().size(), 3u) << "its age outlives a crash";
}

TEST(Retention, an_old_segment_goes_on_when_there_is_no_room_for_another) {
  WorldOptions options = rounds();
  options.settings.segment_ms = 60'000;
  PartitionWorld world(8, options);
  ASSERT_TRUE(world.start());
  fill(world, 3, 0, 100);
  world.sim().disk().set_size_bytes(world.sim().disk().used_bytes());
  world.sim().run_for(61 * kSecond_ns);
  fill(world, 3, 0, 100);
  EXPECT_EQ(world.partition().log().segments().size(), 1u);
  EXPECT_EQ(end_of(world), 6);
  world.sim().disk().set_size_bytes(1 << 30);
  world.sim().run_for(61 * kSecond_ns);
  fill(world, 1, 0, 100);
  EXPECT_EQ(world.partition().log().segments().size(), 2u);
}

// A partition whose active segment is empty must not hold the journal back.
TEST(Retention, an_expired_partition_leaves_the_journal_to_the_others) {
  WorldOptions options = rounds();
  options.partition_count = 2;
  options.settings.retention.age_ms_max = 1'000;
  PartitionWorld world(9, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  ASSERT_GE(world.append(log::make_batch(1, 1'000, 500), 1), 0);
  wait_rounds(world, 3);
  ASSERT_EQ(world.partition(1).log().active().end, 0u);
  EXPECT_EQ(world.partition(1).oldest_needed(), 0u);
  for (int i = 0; i < 300; ++i) ASSERT_GE(world.append(log::make_batch(1, 1'000, 9'000)), 0);
}

TEST(Retention, a_stop_waits_for_a_round_under_way) {
  WorldOptions options = rounds();
  options.settings.retention.size_bytes_max = 0;
  options.sim.faults.disk_latency_ns = 5'000'000;
  PartitionWorld world(10, options);
  ASSERT_TRUE(world.start());
  fill(world, 40);
  world.table().start_retention(nullptr);
  ASSERT_TRUE(world.run_until([&] { return world.partition().log().active().full; }));
  world.table().prepare_stop();
  EXPECT_TRUE(world.run_until([&] { return world.table().quiet(); }));
}

TEST(Retention, producers_that_append_nothing_any_more_are_forgotten) {
  WorldOptions options;
  options.partition.retention_check_ms = 100;
  options.partition.producer_expiration_ms = 10'000;
  PartitionWorld world(1, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  const auto wait = [&](int64_t duration_ms) {
    const io::Instant until = world.sim().core(0).clock.now() + duration_ms * 1'000'000;
    ASSERT_TRUE(world.run_until([&] { return world.sim().core(0).clock.now() >= until; }));
  };
  const auto append = [&](int64_t producer, int32_t sequence) {
    const log::BatchOptions batch{.producer_id = model::ProducerId(producer),
                                  .producer_epoch = model::ProducerEpoch(0),
                                  .base_sequence = model::Sequence(sequence)};
    return world.append(log::make_batch(1, 1'700'000'000'000, 10, batch));
  };
  ASSERT_EQ(append(1, 0), 0);
  ASSERT_EQ(append(2, 0), 1);
  wait(40'000);  // the first round comes 30 s after the start, and does not trust the clock yet
  ASSERT_EQ(append(2, 1), 2);
  wait(2'000);
  EXPECT_EQ(world.partition().producers().size(), 1u);
  EXPECT_EQ(append(2, 1), 2) << "still known";
  EXPECT_EQ(append(1, 7), 3) << "taken for a new one";
}

}  // namespace
}  // namespace weir::partition
