#pragma once
// The bounded-exhaustive mode (RELIABILITY 3.6): every workload of at most N operations, a power
// cut at every I/O event of it, and every state of the disk that the cut can leave, started,
// checked as after any other crash; and in each such start second cuts, at one in sixteen of its
// I/O events, other ones in every state.
//
//   sim --exhaustive N              all of it; --jobs J spreads first operations over processes
//   sim --exhaustive N --planted B  the bug must be found
//   sim --workload TEXT             one state again, as a finding names it: the operations by their
//                                   names and the cuts, "roll,append@1234:1011@1300:1" (event of
//                                   the world, and what became of each loose end)
//
// A state is the bytes of the disk and what clients were told. One that was seen before is not
// looked at again, within one first operation: workloads share their beginnings. A process is
// forked for every state, so that all starts from the very same memory and an assertion of the
// engine is a finding like any other.
//
// Where the loose ends of a cut can fall in more than kOutcomesMax ways, all lost, all kept, each
// one alone lost, each one alone kept and seeded random picks stand for them; fewer in the second
// cut.

#include <cstdint>
#include <string>

#include "tests/sim/runner.h"

namespace weir::simtest {

// Exit codes as of `sim`.
int run_exhaustive(const Command& command);
int run_workload(const Command& command);

}  // namespace weir::simtest
