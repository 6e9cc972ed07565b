// Proves: one seed gives one sequence, names give independent ones, and bounds hold and are
// reached.
#include "io/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace weir::base {
namespace {

TEST(RandomStream, one_seed_one_sequence) {
  RandomStream a(7);
  RandomStream b(7);
  RandomStream c(8);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.next();
    ASSERT_EQ(b.next(), value);
    same += c.next() == value ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(RandomStream, the_first_values_never_change) {
  // Seeds that are kept with bugs must go on meaning what they meant.
  RandomStream random(1);
  EXPECT_EQ(random.next(), 0xB3F2AF6D0FC710C5ull);
}

TEST(RandomStream, names_make_independent_streams) {
  std::set<uint64_t> firsts;
  for (const auto name : {"disk", "network", "clock", "crash", ""}) {
    RandomStream stream(7, name);
    firsts.insert(stream.next());
  }
  EXPECT_EQ(firsts.size(), 5u);
}

TEST(RandomStream, bounds_hold_and_are_reached) {
  RandomStream random(3);
  for (const uint64_t bound : {1ull, 2ull, 3ull, 10ull, 1000ull}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < bound * 30; ++i) {
      const uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      seen.insert(value);
    }
    EXPECT_TRUE(bound > 10 || seen.size() == bound);
  }
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = random.between(5, 7);
    ASSERT_TRUE(value >= 5 && value <= 7);
    ASSERT_EQ(random.between(9, 9), 9u);
    random.between(0, UINT64_MAX);
    ASSERT_LT(random.below(UINT64_MAX), UINT64_MAX);
  }
}

TEST(RandomStream, values_are_spread_evenly) {
  RandomStream random(4);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[random.below(10)];
  for (const int count : counts) {
    EXPECT_GT(count, 9'500);
    EXPECT_LT(count, 10'500);
  }
}

TEST(RandomStream, chances) {
  RandomStream random(5);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) {
    hits += random.chance(0.25) ? 1 : 0;
    ASSERT_FALSE(random.chance(0));
    ASSERT_TRUE(random.chance(1));
  }
  EXPECT_GT(hits, 24'000);
  EXPECT_LT(hits, 26'000);
}

}  // namespace
}  // namespace weir::base
