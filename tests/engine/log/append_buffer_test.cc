// Proves: what is appended is what slices, leases and copies give, whatever the sizes; memory is
// dropped in whole chunks from the front only; leased memory outlives the buffer; padding is zeros.
//
// How: random appends and drops beside a plain vector.
#include "engine/log/append_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "io/base/random.h"

namespace weir::log {
namespace {

std::vector<std::byte> joined(const std::vector<io::Slice>& pieces) {
  std::vector<std::byte> bytes;
  for (const io::Slice& piece : pieces) {
    bytes.insert(bytes.end(), piece.data, piece.data + piece.size);
  }
  return bytes;
}

std::vector<std::byte> draw(base::RandomStream& random, size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

TEST(AppendBuffer, random_appends_and_drops_beside_a_vector) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    base::RandomStream random(seed);
    BufferPool pool(1 << 20);
    AppendBuffer buffer(pool);
    const uint64_t start = random.below(3) * io::kBlockSize;
    buffer.start_at(start);
    std::vector<std::byte> all(start);
    for (int step = 0; step < 60; ++step) {
      const auto bytes = draw(random, random.below(random.chance(0.1) ? 300'000 : 9'000));
      buffer.append(bytes);
      all.insert(all.end(), bytes.begin(), bytes.end());
      ASSERT_EQ(buffer.end(), all.size());
      if (random.chance(0.3)) {
        const uint64_t position = random.between(buffer.begin(), all.size());
        buffer.drop_before(position);
        ASSERT_TRUE(buffer.begin() <= position || buffer.begin() == buffer.end());
      }
      ASSERT_EQ(buffer.memory_bytes(), pool.used_bytes());
      const uint64_t from = random.between(buffer.begin(), buffer.end());
      const uint64_t to = random.between(from, buffer.end());
      std::vector<io::Slice> pieces;
      buffer.slices(from, to, pieces);
      const auto expected = std::span(all).subspan(from, to - from);
      ASSERT_TRUE(std::ranges::equal(joined(pieces), expected));
      if (from == to) continue;
      std::vector<std::byte> copy(to - from);
      buffer.copy(from, copy);
      ASSERT_TRUE(std::ranges::equal(copy, expected));
    }
  }
}

TEST(AppendBuffer, chunks_begin_on_blocks_so_that_whole_blocks_can_be_written_from_them) {
  BufferPool pool(0);
  AppendBuffer buffer(pool);
  buffer.start_at(2 * io::kBlockSize);
  base::RandomStream random(4);
  for (int i = 0; i < 30; ++i) buffer.append(draw(random, 3'333));
  const uint64_t stop = buffer.end() / io::kBlockSize * io::kBlockSize;
  std::vector<io::Slice> pieces;
  buffer.slices(2 * io::kBlockSize, stop, pieces);
  for (const io::Slice& piece : pieces) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.data) % io::kBlockSize, 0u);
    EXPECT_EQ(piece.size % io::kBlockSize, 0u);
  }
}

TEST(AppendBuffer, leased_memory_stays_until_the_last_pin_goes) {
  BufferPool pool(0);
  AppendBuffer buffer(pool);
  buffer.start_at(0);
  base::RandomStream random(5);
  const auto bytes = draw(random, 50'000);
  buffer.append(bytes);
  std::vector<io::Slice> pieces;
  std::vector<Chunk*> pinned;
  buffer.lease(10'000, 40'000, pieces, pinned);
  buffer.clear();
  EXPECT_EQ(buffer.memory_bytes(), 0u);
  EXPECT_GT(pool.used_bytes(), 0u);
  EXPECT_TRUE(std::ranges::equal(joined(pieces), std::span(bytes).subspan(10'000, 30'000)));
  EXPECT_GT(pool.leased_bytes(), 0u);
  for (Chunk* chunk : pinned) return_chunk(*chunk);
  EXPECT_EQ(pool.leased_bytes(), 0u);
  EXPECT_EQ(pool.used_bytes(), 0u);
}

TEST(AppendBuffer, the_chunk_that_is_appended_to_is_never_dropped) {
  BufferPool pool(0);
  AppendBuffer buffer(pool);
  buffer.start_at(0);
  base::RandomStream random(6);
  buffer.append(draw(random, 1'000));
  buffer.drop_before(1'000);
  EXPECT_EQ(buffer.begin(), 0u);
  const auto more = draw(random, 500);
  buffer.append(more);
  std::vector<std::byte> copy(500);
  buffer.copy(1'000, copy);
  EXPECT_EQ(copy, more);
}

TEST(AppendBuffer, goes_on_after_everything_was_dropped) {
  BufferPool pool(0);
  AppendBuffer buffer(pool);
  buffer.start_at(0);
  base::RandomStream random(7);
  buffer.append(draw(random, io::kBlockSize));
  buffer.drop_before(io::kBlockSize);
  EXPECT_EQ(buffer.begin(), io::kBlockSize);
  EXPECT_EQ(buffer.memory_bytes(), 0u);
  const auto more = draw(random, 700);
  buffer.append(more);
  std::vector<io::Slice> pieces;
  buffer.slices(io::kBlockSize, io::kBlockSize + 700, pieces);
  EXPECT_EQ(joined(pieces), more);
}

TEST(AppendBuffer, the_last_block_is_padded_with_zeros) {
  BufferPool pool(1 << 20);
  // Memory that was used before.
  BufferPool::Buffer dirty = pool.allocate(4096);
  std::memset(dirty.memory, 0xEE, dirty.size);
  pool.release(dirty);
  AppendBuffer buffer(pool);
  buffer.start_at(0);
  base::RandomStream random(8);
  const auto bytes = draw(random, 1'000);
  buffer.append(bytes);
  EXPECT_EQ(buffer.pad_to_block(), io::kBlockSize);
  EXPECT_EQ(buffer.end(), 1'000u);
  std::vector<io::Slice> pieces;
  buffer.slices(0, io::kBlockSize, pieces);
  auto padded = bytes;
  padded.resize(io::kBlockSize);
  EXPECT_EQ(joined(pieces), padded);
}

TEST(AppendBuffer, nothing_to_pad_at_the_end_of_a_block) {
  BufferPool pool(0);
  AppendBuffer buffer(pool);
  buffer.start_at(io::kBlockSize);
  EXPECT_EQ(buffer.pad_to_block(), io::kBlockSize);
}

}  // namespace
}  // namespace weir::log
