// Proves: a read gives whole batches from the one that contains the offset on, from memory or from
// the file alike, within its limits but for a first batch that may be larger; nothing above what is
// committed; and a damaged group is refused while its neighbours are served.
//
// How: a log of a few segments on the simulated disk; what is read is compared with what was
// appended.
#include "engine/log/segment_reader.h"

#include "io/base/random.h"
#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {

using model::ErrorCode;

struct Place {
  int64_t base_offset;
  int64_t next_offset;
  size_t begin;
  size_t end;
};

class SegmentReaderTest : public testing::Test {
 protected:
  void fill(int count, size_t value_size, int32_t records = 2) {
    for (int i = 0; i < count; ++i) {
      const size_t begin = world.bytes().size();
      const Placed placed = world.append(make_batch(records, 1000 + i, value_size));
      places.push_back({placed.base_offset.value(), placed.next_offset.value(), begin,
                        world.bytes().size()});
    }
  }
  // What a read from `offset` should give when segments do not matter.
  std::vector<std::byte> expected(int64_t offset, uint64_t size_max, bool first_whole,
                                  size_t end_of_segment) {
    std::vector<std::byte> bytes;
    for (const Place& place : places) {
      if (place.next_offset <= offset || place.end > end_of_segment) continue;
      const size_t size = place.end - place.begin;
      const bool fits = bytes.size() + size <= size_max;
      if (!fits && !(bytes.empty() && first_whole)) break;
      bytes.insert(bytes.end(), world.bytes().begin() + static_cast<std::ptrdiff_t>(place.begin),
                   world.bytes().begin() + static_cast<std::ptrdiff_t>(place.end));
      if (!fits) break;
    }
    return bytes;
  }

  LogWorld world;
  std::vector<Place> places;
};

TEST_F(SegmentReaderTest, memory_and_file_give_the_same) {
  Segment& segment = world.roll(1 << 20);
  fill(40, 3'000);
  base::RandomStream random(1);
  const auto check = [&](bool at_once) {
    for (int i = 0; i < 150; ++i) {
      const auto offset = static_cast<int64_t>(random.below(80));
      const uint64_t size_max = random.chance(0.3) ? random.below(7'000) : random.below(300'000);
      const bool first_whole = random.chance(0.5);
      const auto got = world.read(offset, size_max, first_whole);
      ASSERT_EQ(got.error, ErrorCode::none);
      ASSERT_EQ(got.at_once, at_once);
      const auto all = expected(offset, size_max, first_whole, world.bytes().size());
      // A file is read by whole groups, so it may give less; but never nothing for something.
      ASSERT_TRUE(at_once ? got.bytes.size() == all.size() : got.bytes.size() <= all.size());
      ASSERT_EQ(got.bytes.empty(), all.empty());
      ASSERT_TRUE(std::equal(got.bytes.begin(), got.bytes.end(), all.begin()))
          << offset << " " << size_max << " " << first_whole;
    }
  };
  ASSERT_NO_FATAL_FAILURE(check(true));
  ASSERT_EQ(world.seal(segment), 0);
  ASSERT_NO_FATAL_FAILURE(check(false));
  segment.ledger = Ledger(segment.base_offset);
  segment.ledger_loaded = false;
  segment.gathered_offset = world.log().end_offset();
  ASSERT_NO_FATAL_FAILURE(check(false));
}

TEST_F(SegmentReaderTest, the_older_part_of_the_active_segment_comes_from_its_file) {
  Segment& segment = world.roll(4 << 20);
  fill(100, 10'000);
  world.flush();
  world.drop_memory();
  ASSERT_GT(segment.buffer.begin(), 0u);
  ASSERT_LT(segment.buffer.begin(), segment.end);
  for (const Place& place : places) {
    const auto got = world.read(place.base_offset, 100'000);
    ASSERT_EQ(got.error, ErrorCode::none);
    const auto& groups = segment.ledger.groups();
    const size_t group = segment.ledger.find(model::Offset(place.base_offset));
    ASSERT_EQ(got.at_once, groups[group].position >= segment.buffer.begin());
    ASSERT_FALSE(got.bytes.empty());
    ASSERT_LE(got.bytes.size(), 100'000u);
    ASSERT_TRUE(std::ranges::equal(
        got.bytes, std::span(world.bytes()).subspan(place.begin, got.bytes.size())));
  }
}

TEST_F(SegmentReaderTest, a_read_stays_in_its_segment) {
  world.roll(1 << 20);
  fill(5, 1'000);
  const size_t first_end = world.bytes().size();
  Segment& first = world.log().active();
  world.roll(1 << 20);
  fill(5, 1'000);
  EXPECT_EQ(world.read(3, 1 << 20).bytes, expected(3, 1 << 20, false, first_end));
  ASSERT_EQ(world.seal(first), 0);
  EXPECT_EQ(world.read(3, 1 << 20).bytes, expected(3, 1 << 20, false, first_end));
  EXPECT_EQ(BatchView(world.read(10, 1 << 20).bytes).base_offset().value(), 10);
}

TEST_F(SegmentReaderTest, nothing_above_what_is_committed) {
  Segment& segment = world.roll(1 << 20);
  fill(6, 3'000);
  for (size_t visible = 0; visible < places.size(); ++visible) {
    segment.committed = places[visible].begin;
    for (size_t from = 0; from < visible; ++from) {
      const auto got = world.read(places[from].base_offset, 1 << 20, true);
      ASSERT_EQ(got.bytes.size(), places[visible].begin - places[from].begin);
    }
    // A batch that is there, but not yet durable, is not given even as the first.
    EXPECT_TRUE(world.read(places[visible].base_offset, 1 << 20, true).bytes.empty());
  }
}

TEST_F(SegmentReaderTest, a_damaged_group_is_refused_and_its_neighbours_are_served) {
  Segment& segment = world.roll(1 << 20);
  fill(60, 3'000);
  ASSERT_EQ(world.seal(segment), 0);
  const auto& groups = segment.ledger.groups();
  ASSERT_GE(groups.size(), 4u);
  const Group& damaged = groups[1];
  for (const uint64_t where : {uint64_t{0}, uint64_t{5}, uint64_t{13}, uint64_t{18},
                               uint64_t{30'000}, uint64_t{damaged.size - 1}}) {
    world.sim().disk().corrupt(world.path(0, kLogSuffix), damaged.position + where, std::byte{4});
    for (const Place& place : places) {
      const auto got = world.read(place.base_offset, 1 << 20, true);
      const bool inside = place.begin >= damaged.position && place.begin < damaged.end();
      ASSERT_EQ(got.error, inside ? ErrorCode::kafka_storage_error : ErrorCode::none)
          << "byte " << where << " offset " << place.base_offset;
      ASSERT_EQ(got.bytes.empty(), inside);
      ASSERT_TRUE(std::ranges::equal(
          got.bytes, std::span(world.bytes()).subspan(place.begin, got.bytes.size())));
      if (place.begin < damaged.position) {
        ASSERT_LE(place.begin + got.bytes.size(), damaged.position);
      }
    }
    world.sim().disk().corrupt(world.path(0, kLogSuffix), damaged.position + where, std::byte{4});
  }
}

TEST_F(SegmentReaderTest, a_quarantined_group_is_refused) {
  Segment& segment = world.roll(1 << 20);
  fill(3, 1'000);
  segment.ledger.append_quarantined(model::Offset(10), 4'000, 1);
  segment.end = segment.ledger.end();
  world.log().set_offsets(model::Offset(0), model::Offset(10));
  EXPECT_EQ(world.read(7, 1000).error, ErrorCode::kafka_storage_error);
  EXPECT_EQ(world.read(0, 1 << 20).bytes, world.bytes());
}

TEST_F(SegmentReaderTest, a_file_that_is_missing_or_too_short_is_refused) {
  Segment& segment = world.roll(1 << 20);
  fill(3, 1'000);
  ASSERT_EQ(world.seal(segment), 0);
  io::Disk& disk = world.core().disk;
  disk.open(world.op(), world.path(0, kLogSuffix).c_str(), {});
  const io::FileId file(world.wait());
  disk.truncate(world.op(), file, 1'000);
  world.wait();
  disk.close(world.op(), file);
  world.wait();
  EXPECT_EQ(world.read(0, 1000).error, ErrorCode::kafka_storage_error);
  disk.remove(world.op(), world.path(0, kLogSuffix).c_str());
  world.wait();
  EXPECT_EQ(world.read(0, 1000).error, ErrorCode::kafka_storage_error);
}

TEST_F(SegmentReaderTest, an_unreadable_block_costs_its_group_only) {
  Segment& segment = world.roll(1 << 20);
  fill(100, 3'000);
  ASSERT_EQ(world.seal(segment), 0);
  const auto& groups = segment.ledger.groups();
  ASSERT_GE(groups.size(), 5u);
  const Group& bad = groups[2];
  const uint64_t block = base::round_up(bad.position, io::kBlockSize);
  ASSERT_LE(block + io::kBlockSize, bad.end());
  world.sim().disk().make_unreadable(world.path(0, kLogSuffix), block);
  for (const Place& place : places) {
    const auto got = world.read(place.base_offset, 1 << 20, true);
    const bool inside = place.begin >= bad.position && place.begin < bad.end();
    ASSERT_EQ(got.error, inside ? ErrorCode::kafka_storage_error : ErrorCode::none)
        << "offset " << place.base_offset;
    ASSERT_EQ(got.bytes.empty(), inside);
    ASSERT_TRUE(std::ranges::equal(
        got.bytes, std::span(world.bytes()).subspan(place.begin, got.bytes.size())));
  }
}

TEST_F(SegmentReaderTest, an_error_that_passes_costs_nothing) {
  Segment& segment = world.roll(1 << 20);
  fill(60, 3'000);
  ASSERT_EQ(world.seal(segment), 0);
  world.sim().faults().read_error = 1;
  EXPECT_EQ(world.read(0, 1000).error, ErrorCode::kafka_storage_error);
  world.sim().faults().read_error = 0.3;
  int served = 0;
  for (int i = 0; i < 100; ++i) {
    if (world.read(0, 1000, true).error == ErrorCode::none) ++served;
  }
  EXPECT_GE(served, 80);  // tried twice: 91 of 100 on average
  world.sim().faults().read_error = 0;
  EXPECT_EQ(world.read(0, 1000, true).error, ErrorCode::none);
}

TEST_F(SegmentReaderTest, memory_given_to_a_reader_outlives_its_segment) {
  Segment& segment = world.roll(1 << 20);
  fill(10, 3'000);
  SegmentReader reader(world.core());
  Lease lease;
  ASSERT_TRUE(reader.start(world.log(), {.offset = model::Offset(0), .size_max = 1 << 20}, lease,
                           world.op()));
  ASSERT_EQ(world.seal(segment), 0);
  std::vector<std::byte> bytes;
  for (const io::Slice& piece : lease.pieces) {
    bytes.insert(bytes.end(), piece.data, piece.data + piece.size);
  }
  EXPECT_EQ(bytes, world.bytes());
  lease.release();
  EXPECT_EQ(world.pool().used_bytes(), 0u);
}

TEST_F(SegmentReaderTest, short_transfers_make_no_difference) {
  io::sim::SimOptions options;
  options.faults.short_read = 0.5;
  options.faults.interrupted = 0.3;
  LogWorld other(5, options);
  Segment& segment = other.roll(1 << 20);
  for (int i = 0; i < 40; ++i) other.append(make_batch(2, i, 5'000));
  ASSERT_EQ(other.seal(segment), 0);
  for (int i = 0; i < 40; ++i) {
    const auto got = other.read(i, 1 << 20);
    ASSERT_EQ(got.error, ErrorCode::none);
    ASSERT_GT(got.bytes.size(), 10'000u);
  }
}

}  // namespace
}  // namespace weir::log
