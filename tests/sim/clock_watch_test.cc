// How old a record may be to the engine, on both sides of each rule.

#include "tests/sim/clock_watch.h"

#include <gtest/gtest.h>

#include "io/sim/sim_world.h"

namespace weir::simtest {
namespace {

constexpr int64_t kDay_ms = 86'400'000;
constexpr int64_t kRounding_ms = 2;

class ClockWatchTest : public testing::Test {
 protected:
  void start() {
    watch.engine_starts();
    watch.engine_ready();
  }
  // Of a record that was made at the very beginning, by the clock as it was then.
  int64_t age() const { return age_with_time(0); }
  // The same, but its time was so much later.
  int64_t age_with_time(int64_t later_ms) const {
    return watch.age_most_ms(began_ns, began_ms + later_ms) - kRounding_ms;
  }
  void pass(int64_t ms) { world.run_for(ms * 1'000'000); }

  io::sim::SimWorld world{1};
  ClockWatch watch{world.clock()};
  const int64_t began_ns = world.now_ns();
  const int64_t began_ms = world.clock().wall_ms();
};

TEST_F(ClockWatchTest, without_jumps_it_is_the_age) {
  start();
  EXPECT_EQ(age(), 0);
  pass(1'000);
  EXPECT_EQ(age(), 1'000);
  start();
  EXPECT_EQ(age(), 1'000) << "after a restart too";
}

TEST_F(ClockWatchTest, a_step_of_a_minute_counts_and_a_longer_one_only_after_an_hour) {
  start();
  world.clock().jump_wall(60'100);
  EXPECT_EQ(age(), 0);
  world.clock().jump_wall(-100);
  EXPECT_EQ(age(), 60'000);
  world.clock().jump_wall(kDay_ms);
  EXPECT_EQ(age(), 60'000);
  pass(3'599'000);
  EXPECT_EQ(age(), 60'000 + 3'599'000);
  pass(2'000);
  EXPECT_EQ(age(), 60'000 + kDay_ms + 3'601'000);
}

TEST_F(ClockWatchTest, steps_back_make_nothing_older_and_steps_ahead_of_them_may) {
  start();
  world.clock().jump_wall(-kDay_ms);
  EXPECT_EQ(age(), 0);
  world.clock().jump_wall(kDay_ms);
  EXPECT_EQ(age(), 0);
}

TEST_F(ClockWatchTest, a_start_believes_what_it_is_told) {
  watch.engine_starts();
  world.clock().jump_wall(kDay_ms);
  watch.engine_ready();
  EXPECT_EQ(age(), kDay_ms);
  world.clock().jump_wall(kDay_ms);
  EXPECT_EQ(age(), kDay_ms);
  start();
  EXPECT_EQ(age(), 2 * kDay_ms);
}

TEST_F(ClockWatchTest, a_time_to_come_is_that_of_the_append) {
  start();
  pass(5'000);
  EXPECT_EQ(age_with_time(400 * kDay_ms), 5'000);
  world.clock().jump_wall(-3 * kDay_ms);
  start();
  EXPECT_EQ(age_with_time(400 * kDay_ms), 3 * kDay_ms + 5'000)
      << "of which only the file speaks after a restart, and it may be of that time";
}

}  // namespace
}  // namespace weir::simtest
