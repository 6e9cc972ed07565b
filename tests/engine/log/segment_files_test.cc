// Proves: a made segment file survives a power cut from the moment it is reported made; a sealed
// one is exactly its batches, with a whole ledger, and survives too; failures are reported and
// leave nothing that hinders a second try.
#include "engine/log/segment_files.h"

#include <fmt/format.h>

#include <fstream>

#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {

using io::sim::CrashKind;

TEST(SegmentMaker, makes_directory_and_file) {
  LogWorld world;
  const Segment& segment = world.roll(1'000'000);
  EXPECT_EQ(segment.allocated % io::kBlockSize, 0u);
  EXPECT_GE(segment.allocated, 1'000'000u);
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)).size(), segment.allocated);
}

TEST(SegmentMaker, what_is_reported_made_survives_a_power_cut) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    LogWorld world(seed);
    world.roll(300'000);
    world.sim().crash(CrashKind::power_cut);
    world.sim().restart(1);
    ASSERT_TRUE(world.sim().disk().exists(world.path(0, kLogSuffix))) << "seed " << seed;
    EXPECT_GE(world.sim().disk().content(world.path(0, kLogSuffix)).size(), 300'000u);
  }
}

TEST(SegmentMaker, a_full_disk_is_reported_and_may_be_tried_again) {
  LogWorld world;
  world.sim().disk().set_size_bytes(100'000);
  SegmentMaker maker(world.core());
  maker.start("/data/topics", LogWorld::kDirectory, true, model::Offset(0), 500'000, world.op());
  EXPECT_EQ(world.wait(), -ENOSPC);
  EXPECT_FALSE(maker.busy());
  world.sim().disk().set_size_bytes(1 << 30);
  maker.start("/data/topics", LogWorld::kDirectory, true, model::Offset(0), 500'000, world.op());
  EXPECT_EQ(world.wait(), 0);
  EXPECT_GE(maker.allocated(), 500'000u);
  world.core().disk.close(world.op(), maker.file());
  world.wait();
}

TEST(SegmentMaker, files_grow_with_what_they_hold) {
  EXPECT_EQ(allocation_step(0), 256u << 10);
  EXPECT_EQ(allocation_step(1 << 20), 1u << 20);
  EXPECT_EQ(allocation_step((1 << 20) + 1) % io::kBlockSize, 0u);
  EXPECT_EQ(allocation_step(uint64_t{10} << 30), 64u << 20);
}

TEST(SegmentSealer, a_sealed_file_is_exactly_its_batches) {
  LogWorld world;
  Segment& segment = world.roll(1 << 20);
  for (int i = 0; i < 25; ++i) {
    world.append(make_batch(1, i, 5'000));
    if (i % 7 == 0) world.flush();
  }
  ASSERT_EQ(world.seal(segment), 0);
  EXPECT_TRUE(segment.sealed);
  EXPECT_EQ(segment.file, io::kNoFile);
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)), world.bytes());
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLedgerSuffix)).size(),
            (segment.ledger.groups().size() + 1) * kLedgerEntrySize);
  world.sim().crash(CrashKind::power_cut);
  world.sim().restart(1);
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)), world.bytes());
}

TEST(SegmentSealer, ends_at_any_place_in_a_block) {
  for (const size_t value : {1u, 3'900u, 4'000u, 4'016u, 8'111u}) {
    LogWorld world;
    Segment& segment = world.roll(1 << 20);
    for (int i = 0; i < 3; ++i) world.append(make_batch(1, i, value));
    world.flush();
    ASSERT_EQ(world.seal(segment), 0);
    ASSERT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)), world.bytes());
  }
}

TEST(SegmentSealer, a_segment_that_ends_on_a_block_needs_no_last_write) {
  LogWorld world;
  Segment& segment = world.roll(1 << 20);
  const size_t overhead = make_batch(1, 0, 4'000).size() - 4'000;
  world.append(make_batch(1, 0, 2 * io::kBlockSize - overhead));
  ASSERT_EQ(segment.end % io::kBlockSize, 0u);
  world.flush();
  ASSERT_EQ(segment.written, segment.end);
  ASSERT_EQ(world.seal(segment), 0);
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)), world.bytes());
}

TEST(SegmentSealer, a_full_disk_costs_the_ledger_only) {
  LogWorld world;
  Segment& segment = world.roll(256 << 10);
  for (int i = 0; i < 4; ++i) world.append(make_batch(1, i, 60'000));
  world.sim().disk().set_size_bytes(0);
  ASSERT_EQ(world.seal(segment), 0);
  EXPECT_TRUE(segment.sealed);
  EXPECT_EQ(world.sim().disk().content(world.path(0, kLogSuffix)), world.bytes());
}

TEST(SegmentSealer, an_error_is_reported) {
  LogWorld world;
  Segment& segment = world.roll(1 << 20);
  world.append(make_batch(1, 0, 5'000));
  world.sim().faults().sync_error = 1;
  EXPECT_EQ(world.seal(segment), -EIO);
  EXPECT_FALSE(segment.sealed);
}

TEST(SegmentGolden, sealed_segment_of_version_1) {
  LogWorld world;
  Segment& segment = world.roll(4096);
  world.append(make_batch(2, 1'700'000'000'000, 10), 3);
  world.append(make_batch(1, 1'700'000'000'100, 20,
                          {.producer_id = model::ProducerId(9),
                           .producer_epoch = model::ProducerEpoch(1),
                           .base_sequence = model::Sequence(4)}),
               3);
  ASSERT_EQ(world.seal(segment), 0);
  std::string text;
  size_t column = 0;
  for (const std::byte byte : world.sim().disk().content(world.path(0, kLogSuffix))) {
    text += fmt::format("{:02x}", std::to_integer<int>(byte));
    if (++column % 32 == 0) text += '\n';
  }
  if (column % 32 != 0) text += '\n';
  std::ifstream in(WEIR_SOURCE_DIR "/tests/golden/segment/sealed-v1.txt");
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace
}  // namespace weir::log
