// I20 can fail: two runs that differ in one byte written, read or sent, or in one timer, have
// another trace hash, and the finding says where they part; the same run twice has the same.
#include "tests/sim/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/base/logging.h"
#include "tests/io/sim_support.h"
#include "tests/sim/run.h"

namespace weir::simtest {
namespace {

using io::sim::SimWorld;

Trace trace_of(const Scenario& scenario) {
  base::set_log_level(base::LogLevel::off);
  const Outcome outcome = Run(scenario, false).execute();
  EXPECT_EQ(outcome.finding, "");
  return {outcome.trace_hash, outcome.events, outcome.trace};
}

TEST(Trace, TheSameRunTwiceHasTheSameHash) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Scenario scenario = draw_scenario(seed, Mode::lite);
    const Trace first = trace_of(scenario);
    EXPECT_EQ(first.hashes.size(), first.events / TraceLog::kStep);
    EXPECT_EQ(check_replay(first, trace_of(scenario)), "");
  }
}

TEST(Trace, WhatReachesARunFromOutsideIsFound) {
  Scenario scenario = draw_scenario(1, Mode::lite);
  const Trace first = trace_of(scenario);
  ++scenario.think_ns;
  const std::string finding = check_replay(first, trace_of(scenario));
  EXPECT_THAT(finding, testing::StartsWith("I20: trace hash "));
  EXPECT_THAT(finding, testing::HasSubstr("they part between events "));
  EXPECT_THAT(finding, testing::Not(testing::HasSubstr(" between events 0 and 0")));

  scenario = draw_scenario(1, Mode::lite);
  scenario.produce_version = scenario.produce_version == 7 ? 8 : 7;  // of equal size when sent
  EXPECT_NE(check_replay(first, trace_of(scenario)), "");
}

TEST(Trace, ThePlaceIsWhereTheHashesOnTheWayPart) {
  const Trace first{7, 5'000, {1, 2, 3, 4}};
  const Trace second{8, 5'100, {1, 2, 9, 9}};
  EXPECT_THAT(check_replay(first, second), testing::EndsWith("between events 2048 and 3072"));
  const Trace longer{8, 5'130, {1, 2, 3, 4, 5}};
  EXPECT_THAT(check_replay(first, longer), testing::EndsWith("between events 4096 and 5130"));
  const Trace later{7, 5'001, {1, 2, 3, 4}};
  EXPECT_NE(check_replay(first, later), "") << "equal hashes of unequal runs";
}

struct Variant {
  std::string written = "written";
  bool rotten = false;
  int64_t timer_ns = 2'000'000;
};

struct Alarm {
  Alarm() { timer.bind<&Alarm::on_timer>(*this); }
  void on_timer() {}
  io::Timer timer;
};

uint64_t hash_of(const Variant& variant) {
  SimWorld world(5);
  Alarm alarm;
  const io::FileId file = io::sim::open_file(world, "/data/a");
  io::sim::write_file(world, file, variant.written, 0);
  if (variant.rotten) world.disk().corrupt("/data/a", 0, std::byte{1});
  io::sim::read_file(world, file, 0, 7);
  world.core(0).loop.timers().arm_after(alarm.timer, variant.timer_ns);
  world.run_for(10'000'000);
  world.core(0).loop.timers().cancel(alarm.timer);
  return world.trace_hash();
}

TEST(Trace, OneByteOrOneTimerMakesAnotherHash) {
  const uint64_t hash = hash_of({});
  EXPECT_EQ(hash, hash_of({}));
  EXPECT_NE(hash, hash_of({.written = "writteN"}));
  EXPECT_NE(hash, hash_of({.rotten = true}));
  EXPECT_NE(hash, hash_of({.timer_ns = 3'000'000}));
}

}  // namespace
}  // namespace weir::simtest
