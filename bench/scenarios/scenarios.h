#pragma once
// The named workloads W1 to W12 and S1: what `weir bench W4` runs, step by step. Parameters only;
// who runs them is elsewhere. Options of the command override single parameters of every step.
//
// A rate may be a share of what the first step of the scenario, which then is a closed loop,
// reached.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/load/plan.h"

namespace weir::scenarios {

struct Step {
  std::string label;
  int32_t partitions = 1;
  std::vector<std::pair<std::string, std::string>> topic_configs{};
  load::ProducerPlan producer{};
  load::ConsumerPlan consumer{};
  double share_of_first = 0;   // open loop at this share of the first step's bytes a second
  bool backlog = false;        // before the step, produce as many bytes as the run's backlog
  bool clean_stop = false;     // crash_recovery: SIGTERM instead of SIGKILL
  bool same_topic = false;     // goes on with the topic of the step before
};

// How the steps of a scenario are run.
//   load            the broker is up, the step is a plan
//   crash_recovery  a broker of our own is filled with the backlog, killed (or stopped) under the
//                   plan's load and started again
//   footprint       a broker of our own is started over and over, and watched while it idles; the
//                   step says how many readers wait
enum class Procedure : uint8_t { load, crash_recovery, footprint };

struct Scenario {
  std::string_view name;    // "W1"
  std::string_view title;   // "big-producers"
  std::string_view about;   // one line, for --list
  std::vector<Step> steps;
  Procedure procedure = Procedure::load;
};

// All, in the order of their names.
const std::vector<Scenario>& all_scenarios();
// By name or title, whatever their case; nullptr: there is none.
const Scenario* find_scenario(std::string_view name);

// The step of `weir bench` without a name: four producers, 16 partitions, records of 1 KiB in
// batches of 64 KiB, a closed loop.
Step default_step();

}  // namespace weir::scenarios
