#pragma once
// Rot: damage to bytes that were acknowledged and flushed, done to the disk between two lives of
// the engine. Unlike a crash it may cost data, but only what lay in the damaged record (P7, I14):
// the rest stays readable, before and behind it, and what is gone is answered with an error.

#include <string>
#include <vector>

#include "io/sim/sim_world.h"
#include "tests/sim/kafka_requests.h"

namespace weir::simtest {

// Offsets [from, to) that a read may refuse.
struct RotRange {
  TopicPartition where;
  int64_t from = 0;
  int64_t to = 0;
};

// Flips one bit of one journal record that provably was acknowledged. Nothing when there is none
// that can be harmed; `what` says what was done.
std::vector<RotRange> inject_rot(io::sim::SimWorld& world, base::RandomStream& random,
                                 std::string& what);

}  // namespace weir::simtest
