#pragma once
// Planted bugs: tests of the tests. In a build with WEIR_PLANTED_BUGS the engine can be made wrong
// in ways that the simulator must notice (RELIABILITY 3.7).

#include <string_view>

#include "tests/sim/runner.h"

namespace weir::simtest {

// Switches the bug on for the rest of this process. False, with a message, when there is no such
// bug or this build has none.
bool plant(std::string_view name);

// Runs seeds until the planted bug of the command is found; 0 when it was, 1 when no seed did.
int find_planted(const Command& command);
int find_all_planted(const Command& command);

}  // namespace weir::simtest
