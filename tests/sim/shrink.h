#pragma once
// Shrinking: from a seed that fails to the smallest options that still make the same invariant
// fail. Every knob (knobs.h) is turned down as far as it goes, by bisection where not all the way,
// again and again until a round over all of them changes nothing. What is left out changes the luck
// of all the rest, so each attempt has a few schedules to fail in.
//
//   sim --shrink N                 prints what is left and how to run it
//   sim --shrink N --planted B     from the first seed at or behind N that finds the bug

#include <functional>
#include <string>
#include <string_view>

#include "tests/sim/runner.h"

namespace weir::simtest {

// What two findings must share to be the same: the name of the invariant ("I7"), or the whole first
// word where there is none. Empty for no finding.
std::string signature_of(std::string_view finding);

struct Shrunk {
  Scenario scenario;
  std::string settings;  // for --with
  std::string finding;   // of the last run that failed; empty: the first one did not
  uint32_t runs = 0;
};

// `run` gives the finding of a scenario. At most `runs_max` of them.
Shrunk shrink(const Scenario& scenario, const std::function<std::string(const Scenario&)>& run,
              uint32_t runs_max);

int run_shrink(const Command& command);  // exit codes as of `sim`

}  // namespace weir::simtest
