// Proves: batch after batch comes out, whole and sound, wherever the file ends and the bytes of the
// journal begin, be it in the middle of a batch or of its header; what is no sound batch does not.
#include "engine/log/segment_walker.h"

#include <algorithm>

#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {

class SegmentWalkerTest : public testing::Test {
 protected:
  // The segment with file bytes below `split`; the rest is given as the journal's.
  void prepare(std::span<const std::byte> bytes) {
    all.assign(bytes.begin(), bytes.end());
    std::vector<std::byte> padded = all;
    padded.resize((all.size() + io::kBlockSize - 1) / io::kBlockSize * io::kBlockSize);
    io::Disk& disk = world.core().disk;
    disk.open(world.op(), "/data/walk.log", {.create = true});
    const io::FileId plain(world.wait());
    const io::Slice slice{padded.data(), padded.size()};
    disk.write(world.op(), plain, std::span(&slice, 1), 0, io::Durability::none);
    world.wait();
    disk.close(world.op(), plain);
    world.wait();
    disk.open(world.op(), "/data/walk.log", {.direct = true, .writable = false});
    file = io::FileId(world.wait());
  }

  LogWorld world;
  std::vector<std::byte> all;
  io::FileId file = io::kNoFile;
};

TEST_F(SegmentWalkerTest, any_split_between_file_and_journal) {
  world.roll(1 << 20);
  std::vector<uint64_t> ends;
  for (int i = 0; i < 12; ++i) {
    world.append(make_batch(1, i, static_cast<size_t>(i) * 900 + 1));
    ends.push_back(world.bytes().size());
  }
  prepare(world.bytes());
  const uint64_t blocks = all.size() / io::kBlockSize;
  for (uint64_t split = 0; split <= blocks; ++split) {
    const uint64_t tail_begin = split * io::kBlockSize;
    SegmentWalker walker(world.core().loop, world.core().disk, file, tail_begin,
                         std::span(all).subspan(tail_begin));
    for (const uint64_t end : ends) {
      const uint64_t begin = walker.position();
      const auto batch = walker.next();
      ASSERT_TRUE(batch) << "split at " << tail_begin;
      ASSERT_EQ(walker.position(), end);
      ASSERT_TRUE(std::ranges::equal(*batch, std::span(all).subspan(begin, end - begin)));
    }
    EXPECT_FALSE(walker.next());
    EXPECT_EQ(walker.position(), walker.end());
    std::vector<std::byte> copy(all.size());
    ASSERT_TRUE(walker.copy(0, copy));
    ASSERT_EQ(copy, all);
  }
}

TEST_F(SegmentWalkerTest, batches_larger_than_the_window) {
  world.roll(8 << 20);
  for (const size_t size : {3u << 20, 10u, 2u << 20, 10u}) world.append(make_batch(1, 0, size));
  prepare(world.bytes());
  SegmentWalker walker(world.core().loop, world.core().disk, file, all.size(), {});
  int count = 0;
  while (walker.next()) ++count;
  EXPECT_EQ(count, 4);
  EXPECT_EQ(walker.position(), all.size());
}

TEST_F(SegmentWalkerTest, stops_at_every_damage_and_goes_on_where_told) {
  world.roll(1 << 20);
  world.append(make_batch(1, 0, 500));
  const uint64_t begin = world.bytes().size();
  world.append(make_batch(1, 1, 500));
  const uint64_t end = world.bytes().size();
  world.append(make_batch(1, 2, 500));
  const auto whole = world.bytes();
  for (uint64_t at = begin + 8; at < end; at += 3) {
    if (at >= begin + 12 && at < begin + 16) continue;  // the leader epoch, under no checksum
    auto damaged = whole;
    damaged[at] ^= std::byte{0x44};
    SegmentWalker walker(world.core().loop, world.core().disk, io::kNoFile, 0, damaged);
    ASSERT_TRUE(walker.next());
    ASSERT_FALSE(walker.next()) << "byte " << at - begin;
    ASSERT_EQ(walker.position(), begin);
    walker.seek(end);
    ASSERT_TRUE(walker.next());
  }
}

TEST_F(SegmentWalkerTest, nonsense_lengths_lead_nowhere) {
  std::vector<std::byte> bytes(10'000, std::byte{0});
  SegmentWalker zeros(world.core().loop, world.core().disk, io::kNoFile, 0, bytes);
  EXPECT_FALSE(zeros.next());
  Buffer batch = make_batch(1);
  for (const int32_t length : {-1, 0, 48, 1 << 30, std::numeric_limits<int32_t>::max()}) {
    std::ranges::copy(batch, bytes.begin());
    base::store_be(bytes.data() + batch_position::kLength, length);
    SegmentWalker walker(world.core().loop, world.core().disk, io::kNoFile, 0, bytes);
    EXPECT_FALSE(walker.next()) << length;
    EXPECT_EQ(walker.position(), 0u);
  }
}

TEST_F(SegmentWalkerTest, a_short_end_is_no_batch) {
  const Buffer batch = make_batch(1);
  for (size_t size = 0; size < batch.size(); ++size) {
    SegmentWalker walker(world.core().loop, world.core().disk, io::kNoFile, 0,
                         std::span(batch).first(size));
    ASSERT_FALSE(walker.next()) << size;
  }
}

}  // namespace
}  // namespace weir::log
