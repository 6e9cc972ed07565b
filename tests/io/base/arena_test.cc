// The arena aligns, never hands out the same byte twice, never takes more than its limit, and after
// reset() reuses its first block without a heap call.
#include "io/base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace weir::base {
namespace {

TEST(Arena, AlignsAndKeepsObjectsApart) {
  Arena arena(1 << 20, 256);
  std::vector<std::pair<std::byte*, size_t>> taken;
  for (size_t i = 0; i < 500; ++i) {
    const size_t alignment = size_t{1} << (i % 5);
    const size_t size = 1 + i % 37;
    auto* const bytes = static_cast<std::byte*>(arena.allocate(size, alignment));
    ASSERT_NE(bytes, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % alignment, 0u);
    std::memset(bytes, static_cast<int>(i % 256), size);
    taken.emplace_back(bytes, size);
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    for (size_t j = 0; j < taken[i].second; ++j) {
      ASSERT_EQ(taken[i].first[j], static_cast<std::byte>(i % 256));
    }
  }
}

TEST(Arena, NeverTakesMoreThanItsLimit) {
  Arena arena(10'000, 512);
  size_t count = 0;
  while (arena.allocate(100, 8) != nullptr) ++count;
  EXPECT_GT(count, 80u);
  EXPECT_LE(count, 100u);
  EXPECT_LE(arena.size_reserved(), 10'000u);
  EXPECT_EQ(arena.size_used(), count * 100);
  EXPECT_EQ(arena.allocate(1'000'000, 1), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX, 1), nullptr);
  EXPECT_EQ(arena.size_used(), count * 100);
}

TEST(Arena, WithoutBudgetGivesNothing) {
  Arena arena(0);
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
  EXPECT_EQ(arena.make_array<int>(1), nullptr);
  EXPECT_EQ(arena.size_reserved(), 0u);
}

TEST(Arena, CountTimesSizeCannotOverflow) {
  Arena arena(1 << 20);
  EXPECT_EQ(arena.make_array<int64_t>(SIZE_MAX / 4), nullptr);
  EXPECT_EQ(arena.allocate_array<int64_t>(SIZE_MAX / 8 + 1), nullptr);
}

TEST(Arena, LargeObjectsGetTheirOwnBlock) {
  Arena arena(1 << 20, 256);
  int* const many = arena.make_array<int>(10'000);
  ASSERT_NE(many, nullptr);
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(many[i], 0);
}

TEST(Arena, ResetKeepsTheFirstBlock) {
  Arena arena(1 << 20, 1024);
  void* const first = arena.allocate(10, 8);
  const size_t reserved = arena.size_reserved();
  for (int i = 0; i < 100; ++i) ASSERT_NE(arena.allocate(1000, 8), nullptr);
  EXPECT_GT(arena.size_reserved(), reserved);
  arena.reset();
  EXPECT_EQ(arena.size_reserved(), reserved);
  EXPECT_EQ(arena.size_used(), 0u);
  EXPECT_EQ(arena.allocate(10, 8), first);
  arena.reset();
  arena.reset();
  EXPECT_EQ(arena.allocate(10, 8), first);
}

TEST(Arena, ResetOfAnUnusedArenaIsHarmless) {
  Arena arena(1 << 20);
  arena.reset();
  EXPECT_NE(arena.allocate(1, 1), nullptr);
}

TEST(Arena, ArraysAreValueInitialised) {
  struct Element {
    int value = 7;
  };
  Arena arena(1 << 20);
  const Element* const elements = arena.make_array<Element>(3);
  ASSERT_NE(elements, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(elements[i].value, 7);
}

}  // namespace
}  // namespace weir::base
