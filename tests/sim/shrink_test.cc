// Shrinking against made-up failures: it ends at the smallest options that fail in the same way,
// takes no other failure for it, and its settings lead from the seed to the same scenario.
#include "tests/sim/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/knobs.h"

namespace weir::simtest {
namespace {

// Everything is there to be turned down.
Scenario large_scenario() {
  Scenario s = draw_scenario(1, Mode::swarm);
  s.topics.resize(3);
  for (TopicPlan& topic : s.topics) topic = {"t", 5, 100, 100};
  s.crashes.resize(6);
  s.plain_producers = s.idempotent_producers = s.consumers = s.committers = 3;
  s.hostile_clients = s.trimmers = s.transactors = s.keyed_writers = s.group_members = 2;
  s.batches_per_producer = 100;
  s.records_max = s.value_size_max = s.pipeline_max = s.parts_max = 9;
  s.cores_min = s.cores_max = s.world.core_count = 3;
  s.cleaner_backoff_ms = 10;
  s.duplicate_chance = s.odd_time_chance = 0.5;
  s.recover_twice = s.stop_cleanly = s.rot = s.disk_fills = s.disk_errors = true;
  io::sim::Faults& f = s.world.faults;
  f.read_error = f.write_error = f.sync_error = f.short_read = f.short_write = f.interrupted = 0.1;
  f.stuck_io = f.torn_sector = f.reset = f.accept_error = f.short_transfer = 0.1;
  f.network_stall = f.core_stall = f.wall_jump = 0.1;
  return s;
}

TEST(Knobs, EachGoesDownToItsLeastAndMovesNoOther) {
  const Scenario large = large_scenario();
  for (const Knob& knob : knobs()) {
    EXPECT_GT(knob.get(large), knob.least) << knob.name;
    Scenario scenario = large;
    knob.set(scenario, knob.least);
    EXPECT_EQ(knob.get(scenario), knob.least) << knob.name;
    for (const Knob& other : knobs()) {
      if (other.name == knob.name) continue;
      EXPECT_EQ(other.get(scenario), other.get(large)) << knob.name << " moves " << other.name;
    }
    scenario = large;
    knob.set(scenario, knob.get(large));
    EXPECT_EQ(to_string(scenario), to_string(large)) << knob.name;
  }
}

TEST(Knobs, WrongSettingsAreNamed) {
  Scenario s = large_scenario();
  EXPECT_EQ(turn_down(s, ""), "");
  EXPECT_EQ(turn_down(s, "plain=3,batches=1,reset=0"), "");
  EXPECT_EQ(s.batches_per_producer, 1u);
  EXPECT_EQ(s.world.faults.reset, 0);
  EXPECT_THAT(turn_down(s, "plain=2,nothing=1"), testing::HasSubstr("'nothing=1' names no option"));
  EXPECT_THAT(turn_down(s, "plain=3"), testing::HasSubstr("plain is 2 here, and goes down to 0"));
  for (const char* wrong : {"topics=0", "plain", "plain=", "plain=x", "plain=1x", "batches=-1"}) {
    EXPECT_NE(turn_down(s, wrong), "") << wrong;
  }
}

TEST(Shrink, FindingsAreTheSameWhenTheirInvariantIs) {
  EXPECT_EQ(signature_of(""), "");
  EXPECT_EQ(signature_of("I7: t-0: high watermark 1"), "I7");
  EXPECT_EQ(signature_of("auditor-3: I13: batch 3: I4: no"), "I13");
  EXPECT_EQ(signature_of("consumer-0: fetch of t-0: error 56"), "consumer-0");
  EXPECT_EQ(signature_of("assertion (status 4)"), "assertion");
}

TEST(Shrink, EndsAtTheSmallestThatFailsInTheSameWay) {
  const auto run = [](const Scenario& s) -> std::string {
    if (s.crashes.size() < 2) return "I9: another failure";
    const bool fails = s.idempotent_producers >= 1 && s.batches_per_producer >= 37 &&
                       s.world.faults.torn_sector > 0;
    return fails ? "I1: gone" : "";
  };
  const Scenario large = large_scenario();
  const Shrunk shrunk = shrink(large, run, 5'000);
  EXPECT_EQ(shrunk.finding, "I1: gone");
  Scenario again = large;
  EXPECT_EQ(turn_down(again, shrunk.settings), "");
  EXPECT_EQ(to_string(again), to_string(shrunk.scenario));
  for (const Knob& knob : knobs()) {
    const uint64_t expected = knob.name == "crashes"       ? 2
                              : knob.name == "idempotent"  ? 1
                              : knob.name == "batches"     ? 37
                              : knob.name == "torn_sector" ? 1
                                                           : knob.least;
    EXPECT_EQ(knob.get(shrunk.scenario), expected) << knob.name;
  }
}

TEST(Shrink, AnAttemptHasOtherSchedulesToFailIn) {
  const Scenario large = large_scenario();
  const auto run = [&](const Scenario& s) -> std::string {
    const bool fails = s.plain_producers == large.plain_producers || s.seed != large.seed;
    return fails ? "I1: gone" : "";
  };
  const Shrunk shrunk = shrink(large, run, 5'000);
  EXPECT_EQ(shrunk.scenario.plain_producers, 0u);
  EXPECT_THAT(shrunk.settings, testing::EndsWith(",schedule=1"));
  Scenario again = large;
  EXPECT_EQ(turn_down(again, shrunk.settings), "");
  EXPECT_EQ(again.seed, shrunk.scenario.seed);
}

TEST(Shrink, StopsAtItsBoundAndLeavesWhatPasses) {
  const Scenario large = large_scenario();
  const auto fails = [](const Scenario&) -> std::string { return "I1: always"; };
  EXPECT_EQ(shrink(large, fails, 5).runs, 5u);
  const Shrunk none = shrink(large, [](const Scenario&) { return std::string(); }, 100);
  EXPECT_EQ(none.runs, 1u);
  EXPECT_EQ(none.finding + none.settings, "");
}

}  // namespace
}  // namespace weir::simtest
