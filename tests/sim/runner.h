#pragma once
// Runner: many seeds, in worker processes, so that an assertion of the engine is a finding like any
// other.

#include <cstdint>
#include <string>

#include "tests/sim/scenario.h"

namespace weir::simtest {

struct Command {
  uint64_t first = 0;
  uint64_t last = 199;      // inclusive
  uint64_t seconds = 0;     // 0: no limit of time
  unsigned jobs = 1;
  Mode mode = Mode::lite;
  bool single = false;
  bool verbose = false;
  bool print_options = false;
  bool all_planted = false;
  bool keep_going = false;  // a finding does not end the run
  std::string planted;      // name of a bug
  std::string regressions;  // path
  unsigned exhaustive = 0;  // operations at most; 0: random seeds
  std::string workload;     // one state of the exhaustive mode
  std::string with;         // options turned down, of a single seed (knobs.h)
  bool shrink = false;
};

int run_command(const Command& command);  // the exit code

}  // namespace weir::simtest
