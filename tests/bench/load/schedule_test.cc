// Intended starts: an even schedule does not drift, a Poisson one has the rate and the spread of
// one, and neither depends on when it is asked.

#include "bench/load/schedule.h"

#include <gtest/gtest.h>

namespace weir::load {
namespace {

TEST(Schedule, EvenStartsDoNotDrift) {
  // A gap that is no whole number of nanoseconds.
  Schedule schedule(3'000'000.0 / 7, 1000);
  EXPECT_EQ(schedule.next_ns(), 1000);
  for (int i = 0; i < 3'000'000; ++i) schedule.pop();
  EXPECT_NEAR(static_cast<double>(schedule.next_ns()), 1000 + 7e9, 1);
}

TEST(Schedule, PoissonHasTheRateAndItsSpread) {
  constexpr int kCount = 200'000;
  Schedule schedule(10'000, 0, Schedule::Arrivals::poisson, 7);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const int64_t before = schedule.next_ns();
    schedule.pop();
    const auto gap = static_cast<double>(schedule.next_ns() - before);
    ASSERT_GE(gap, 0);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / kCount;
  const double variance = squares / kCount - mean * mean;
  EXPECT_NEAR(mean, 100'000, 1'000);
  // Of exponential gaps, the deviation is the mean.
  EXPECT_NEAR(variance / (mean * mean), 1, 0.03);
}

TEST(Schedule, TheSeedDecides) {
  Schedule a(1000, 0, Schedule::Arrivals::poisson, 1);
  Schedule b(1000, 0, Schedule::Arrivals::poisson, 1);
  Schedule c(1000, 0, Schedule::Arrivals::poisson, 2);
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    a.pop();
    b.pop();
    c.pop();
    ASSERT_EQ(a.next_ns(), b.next_ns());
    differences += a.next_ns() != c.next_ns() ? 1 : 0;
  }
  EXPECT_EQ(differences, 100);
}

}  // namespace
}  // namespace weir::load
