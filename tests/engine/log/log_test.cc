// Proves: batches get offsets without a gap over segments, with checksums over what is stored;
// every offset is found in the segment and group that holds it; leader epochs end where KIP-101
// says.
#include "engine/log/log.h"

#include "io/base/crc32c.h"
#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {

TEST(Log, places_batches_one_behind_the_other) {
  LogWorld world;
  world.roll(1 << 20);
  int64_t next = 0;
  for (int32_t i = 1; i < 20; ++i) {
    const Placed placed = world.append(make_batch(i, 1000, 100), 5);
    EXPECT_EQ(placed.base_offset.value(), next);
    next += i;
    EXPECT_EQ(placed.next_offset.value(), next);
  }
  const Segment& segment = world.log().active();
  EXPECT_EQ(segment.end, world.bytes().size());
  std::vector<std::byte> copy(segment.end);
  segment.buffer.copy(0, copy);
  EXPECT_EQ(copy, world.bytes());
  for (const Group& group : segment.ledger.groups()) {
    EXPECT_EQ(group.checksum,
              base::crc32c(std::span(copy).subspan(group.position, group.size)));
  }
}

TEST(Log, sums_what_was_not_yet_given_to_a_commit) {
  LogWorld world;
  Segment& segment = world.roll(1 << 20);
  for (int i = 0; i < 10; ++i) {
    const uint64_t gathered = segment.end;
    segment.gathered = gathered;
    for (int n = 0; n <= i % 3; ++n) world.log().append(make_batch(1, i, 700), 1);
    std::vector<std::byte> copy(segment.end - gathered);
    segment.buffer.copy(gathered, copy);
    ASSERT_EQ(segment.gather_checksum, base::crc32c(copy));
  }
}

TEST(Log, finds_every_offset) {
  LogWorld world;
  for (int s = 0; s < 4; ++s) {
    world.roll(1 << 20);
    for (int i = 0; i < 30; ++i) world.append(make_batch(i % 3 + 1, 1000, 4'000));
  }
  Log& log = world.log();
  for (int64_t offset = 0; offset < log.end_offset().value(); ++offset) {
    const auto place = log.find(model::Offset(offset));
    ASSERT_TRUE(place);
    const Group& group = place->segment->ledger.groups()[place->group];
    ASSERT_TRUE(group.base_offset.value() <= offset && offset < group.next_offset.value());
    ASSERT_TRUE(place->in_memory);
    ASSERT_EQ(place->limit, place->segment->committed);
  }
  EXPECT_FALSE(log.find(log.end_offset()));
  EXPECT_FALSE(log.find(model::Offset(-1)));
  EXPECT_EQ(log.find_segment(model::Offset(0)), log.segments().front().get());
}

TEST(Log, knows_what_fits) {
  LogWorld world;
  Segment& segment = world.roll(256 << 10);
  Log& log = world.log();
  EXPECT_TRUE(log.fits_segment(10 << 20, 1, 1000)) << "an empty segment takes any batch";
  EXPECT_FALSE(log.fits_allocated(segment.allocated + 1));
  EXPECT_TRUE(log.fits_allocated(segment.allocated));
  const Buffer batch = make_batch(1, 0, 500);
  world.append(batch);
  EXPECT_TRUE(log.fits_segment(1000 - batch.size(), 1, 1000));
  EXPECT_FALSE(log.fits_segment(1001 - batch.size(), 1, 1000));
  EXPECT_FALSE(log.fits_allocated(segment.allocated - batch.size() + 1));
}

// CASES C37.
TEST(Log, no_offset_lies_further_behind_its_segment_than_32_bits_say) {
  LogWorld world;
  world.roll(1 << 20);
  Log& log = world.log();
  Buffer batch = make_batch(1);
  set_field(batch, batch_position::kLastOffsetDelta, std::numeric_limits<int32_t>::max() - 2);
  world.append(batch);
  ASSERT_EQ(log.end_offset().value(), kSegmentSpanMax - 1);
  EXPECT_TRUE(log.fits_segment(100, 1, 1 << 20)) << "the last delta would be 2^31 - 2";
  EXPECT_TRUE(log.fits_segment(100, 2, 1 << 20)) << "2^31 - 1";
  EXPECT_FALSE(log.fits_segment(100, 3, 1 << 20)) << "2^31";
}

TEST(Log, leader_epochs_end_where_the_next_one_starts) {
  BufferPool pool(0);
  Log log(pool, "/d");
  EXPECT_EQ(log.epoch_end(3).first, -1);
  EXPECT_EQ(log.epoch_at(model::Offset(5)), -1);
  log.set_offsets(model::Offset(0), model::Offset(100));
  log.note_epoch(2, model::Offset(0));
  log.note_epoch(5, model::Offset(40));
  log.note_epoch(5, model::Offset(50));
  log.note_epoch(7, model::Offset(90));
  ASSERT_EQ(log.epochs().size(), 3u);
  const auto end = [&](int32_t epoch) {
    const auto [found, offset] = log.epoch_end(epoch);
    return std::pair(found, offset.value());
  };
  using Pair = std::pair<int32_t, int64_t>;
  EXPECT_EQ(end(0), Pair(0, 0)) << "before the first known";
  EXPECT_EQ(end(2), Pair(2, 40));
  EXPECT_EQ(end(4), Pair(2, 40)) << "the largest known below";
  EXPECT_EQ(end(5), Pair(5, 90));
  EXPECT_EQ(end(7), Pair(7, 100));
  EXPECT_EQ(end(8), Pair(-1, -1));
  EXPECT_EQ(end(-1), Pair(-1, -1));
  EXPECT_EQ(log.epoch_at(model::Offset(39)), 2);
  EXPECT_EQ(log.epoch_at(model::Offset(40)), 5);
  EXPECT_EQ(log.epoch_at(model::Offset(1000)), 7);
}

TEST(Log, counts_the_bytes_between_offsets) {
  LogWorld world;
  world.roll(1 << 20);
  for (int i = 0; i < 10; ++i) world.append(make_batch(1, i, 70'000));
  Log& log = world.log();
  const size_t batch = world.bytes().size() / 10;
  EXPECT_EQ(log.bytes_between(model::Offset(7), log.end_offset()), 3 * batch);
  EXPECT_EQ(log.bytes_between(model::Offset(0), log.end_offset()), 10 * batch);
  EXPECT_EQ(log.bytes_between(log.end_offset(), log.end_offset()), 0u);
}

}  // namespace
}  // namespace weir::log
