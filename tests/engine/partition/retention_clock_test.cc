// Proves that retention believes small steps of the wall clock at once, large ones forward only
// after the clock has kept them up, and that a frozen, trembling or backward clock ages nothing
// (RELIABILITY P14, F31).
#include "engine/partition/retention_clock.h"

#include <gtest/gtest.h>

#include "io/base/logging.h"

namespace weir::partition {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;
constexpr int64_t kYear = 31'536'000'000;

class HandClock : public io::Clock {
 public:
  io::Instant now() override { return {monotonic_ms * 1'000'000}; }
  int64_t wall_ms() override { return wall; }
  void pass(int64_t ms) {
    monotonic_ms += ms;
    wall += ms;
  }
  int64_t monotonic_ms = 5'000;
  int64_t wall = kStart;
};

class RetentionClockTest : public testing::Test {
 protected:
  RetentionClockTest() { base::set_log_level(base::LogLevel::off); }
  int64_t told() { return clock.now().wall_ms; }
  HandClock hands;
  RetentionClock clock{hands};
};

TEST_F(RetentionClockTest, follows_a_clock_that_runs) {
  for (int i = 0; i < 100; ++i) {
    hands.pass(300'000);
    ASSERT_EQ(told(), hands.wall);
  }
  EXPECT_EQ(clock.now().instant.ns, hands.monotonic_ms * 1'000'000);
}

TEST_F(RetentionClockTest, small_steps_are_followed_on_both_sides_of_the_bound) {
  hands.wall += RetentionClock::kStepMsMax;
  EXPECT_EQ(told(), hands.wall);
  EXPECT_FALSE(clock.doubts());
  hands.wall += RetentionClock::kStepMsMax + 1;
  EXPECT_EQ(told(), hands.wall - RetentionClock::kStepMsMax - 1);
  EXPECT_TRUE(clock.doubts());
}

TEST_F(RetentionClockTest, a_year_ahead_is_believed_when_it_stays) {
  hands.wall += kYear;
  const int64_t opinion_ms = RetentionClock::kSecondOpinionNs / 1'000'000;
  EXPECT_EQ(told(), kStart);
  hands.pass(opinion_ms - 1);
  EXPECT_EQ(told(), kStart + opinion_ms - 1) << "time goes on meanwhile";
  hands.pass(1);
  EXPECT_EQ(told(), hands.wall);
  EXPECT_FALSE(clock.doubts());
}

TEST_F(RetentionClockTest, a_year_ahead_and_back_was_nothing) {
  hands.wall += kYear;
  EXPECT_EQ(told(), kStart);
  hands.pass(1'000'000);
  EXPECT_EQ(told(), kStart + 1'000'000);
  hands.wall -= kYear;
  EXPECT_EQ(told(), kStart + 1'000'000);
  EXPECT_FALSE(clock.doubts());
}

TEST_F(RetentionClockTest, every_new_step_starts_the_doubt_anew) {
  const int64_t most_ms = RetentionClock::kSecondOpinionNs / 1'000'000 - 1;
  for (int i = 1; i <= 5; ++i) {
    hands.wall += kYear;
    EXPECT_EQ(told(), kStart + (i - 1) * most_ms);
    hands.pass(most_ms);
    EXPECT_EQ(told(), kStart + i * most_ms);
  }
}

TEST_F(RetentionClockTest, a_step_back_is_followed_and_the_way_up_again_is_doubted) {
  hands.wall -= kYear;
  EXPECT_EQ(told(), kStart - kYear);
  hands.wall += kYear;
  EXPECT_EQ(told(), kStart - kYear);
  EXPECT_TRUE(clock.doubts());
}

TEST_F(RetentionClockTest, a_trembling_clock_and_a_frozen_one) {
  for (int i = 0; i < 1'000; ++i) {
    hands.monotonic_ms += 100;
    hands.wall = kStart + (i + 1) * 100 + (i % 2 == 0 ? 500 : -500);
    ASSERT_EQ(told(), hands.wall);
  }
  const int64_t frozen = hands.wall;
  for (int i = 0; i < 100; ++i) {
    hands.monotonic_ms += 60'000;
    ASSERT_EQ(told(), frozen);
  }
}

}  // namespace
}  // namespace weir::partition
