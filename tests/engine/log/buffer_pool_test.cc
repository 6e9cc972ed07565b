// Proves: buffers are block-aligned, of the smallest class that holds what is wanted, counted while
// used, and kept for reuse up to the limit; larger ones share huge pages without overlapping.
#include "engine/log/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "io/base/random.h"
#include "io/disk.h"

namespace weir::log {
namespace {

TEST(BufferPool, gives_the_smallest_class_that_holds_it) {
  BufferPool pool(0);
  struct Case {
    size_t wanted;
    size_t size;
  };
  for (const Case& c : {Case{1, 4096}, Case{4096, 4096}, Case{4097, 16384}, Case{70'000, 262144},
                        Case{1 << 20, 1 << 20}, Case{5 << 20, 1 << 20}}) {
    const auto buffer = pool.allocate(c.wanted);
    EXPECT_EQ(buffer.size, c.size) << c.wanted;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.memory) % io::kBlockSize, 0u);
    EXPECT_EQ(pool.used_bytes(), c.size);
    pool.release(buffer);
    EXPECT_EQ(pool.used_bytes(), 0u);
  }
}

TEST(BufferPool, gives_any_size_in_one_piece_on_request) {
  BufferPool pool(64 << 20);
  const auto buffer = pool.allocate_whole((3 << 20) + 1);
  EXPECT_EQ(buffer.size, (3u << 20) + 4096);
  buffer.memory[buffer.size - 1] = std::byte{1};
  pool.release(buffer);
  EXPECT_EQ(pool.kept_bytes(), 0u) << "too large to be kept";
  const auto small = pool.allocate_whole(5'000);
  EXPECT_EQ(small.size, 16384u);
  pool.release(small);
}

TEST(BufferPool, keeps_free_buffers_up_to_its_limit) {
  BufferPool pool(10'000);
  const auto a = pool.allocate(4096);
  const auto b = pool.allocate(4096);
  const auto c = pool.allocate(4096);
  EXPECT_EQ(pool.used_bytes(), 3u * 4096);
  pool.release(a);
  pool.release(b);
  pool.release(c);
  EXPECT_EQ(pool.kept_bytes(), 2u * 4096);
  EXPECT_EQ(pool.used_bytes(), 0u);
  const auto again = pool.allocate(100);
  EXPECT_EQ(again.memory, b.memory) << "the one freed last is warm";
  EXPECT_EQ(pool.kept_bytes(), 4096u);
  pool.release(again);
}

TEST(BufferPool, cuts_large_buffers_from_huge_pages) {
  BufferPool pool(0);
  const auto a = pool.allocate(1 << 20);
  const auto b = pool.allocate(1 << 20);
  EXPECT_EQ(b.memory, a.memory + (1 << 20));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.memory) % BufferPool::kSlabSize, 0u);
  EXPECT_EQ(pool.kept_bytes(), 0u);
  pool.release(b);
  EXPECT_EQ(pool.kept_bytes(), 1u << 20) << "its other half is in use";
  EXPECT_EQ(pool.allocate(1 << 20).memory, b.memory);
  pool.release(b);
  pool.release(a);
  EXPECT_EQ(pool.kept_bytes(), 0u) << "nothing is kept beyond the limit";
}

TEST(BufferPool, keeps_free_slabs_up_to_its_limit) {
  BufferPool pool(2 * BufferPool::kSlabSize);
  std::vector<BufferPool::Buffer> buffers;
  for (int i = 0; i < 3 * 8; ++i) buffers.push_back(pool.allocate(200'000));
  for (const auto& buffer : buffers) pool.release(buffer);
  EXPECT_EQ(pool.kept_bytes(), 2 * BufferPool::kSlabSize);
}

TEST(BufferPool, never_gives_the_same_memory_twice) {
  BufferPool pool(1 << 20);
  base::RandomStream random(7, "buffers");
  std::map<std::byte*, BufferPool::Buffer> held;
  for (int i = 0; i < 20'000; ++i) {
    if (held.size() > 60 || (!held.empty() && random.below(2) == 0)) {
      auto chosen = held.lower_bound(held.begin()->first + random.below(64 << 20));
      if (chosen == held.end()) chosen = held.begin();
      pool.release(chosen->second);
      held.erase(chosen);
      continue;
    }
    const auto buffer = pool.allocate(1 + random.below(1 << 20));
    const auto next = held.lower_bound(buffer.memory);
    if (next != held.end()) {
      ASSERT_LE(buffer.memory + buffer.size, next->first);
    }
    if (next != held.begin()) {
      const auto& before = std::prev(next)->second;
      ASSERT_LE(before.memory + before.size, buffer.memory);
    }
    buffer.memory[0] = buffer.memory[buffer.size - 1] = std::byte{1};
    held[buffer.memory] = buffer;
  }
  for (const auto& [memory, buffer] : held) pool.release(buffer);
  EXPECT_EQ(pool.used_bytes(), 0u);
}

}  // namespace
}  // namespace weir::log
