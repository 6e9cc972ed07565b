#pragma once
// I20: a run depends on nothing but its seed. The trace hash of a world folds every event: I/O at
// submission and completion with the checksum of its bytes, bytes on the network both ways, timers,
// messages between cores, crashes, and the answers that clients read. Two runs of one scenario must
// have the same; what differs is something that reached them from outside.

#include <cstdint>
#include <string>
#include <vector>

#include "io/sim/sim_world.h"

namespace weir::simtest {

// The hash of a world at every kStep-th event, to tell where two runs part.
class TraceLog {
 public:
  static constexpr uint64_t kStep = 1024;

  void note(const io::sim::SimWorld& world) {
    if (world.event_count() >= (hashes_.size() + 1) * kStep) hashes_.push_back(world.trace_hash());
  }
  const std::vector<uint64_t>& hashes() const { return hashes_; }

 private:
  std::vector<uint64_t> hashes_;
};

struct Trace {
  uint64_t hash = 0;    // at the end
  uint64_t events = 0;
  std::vector<uint64_t> hashes{};  // on the way
};

// A finding when the second run of a scenario was another one; nothing otherwise.
std::string check_replay(const Trace& first, const Trace& second);

}  // namespace weir::simtest
