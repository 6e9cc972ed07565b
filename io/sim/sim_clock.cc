#include "io/sim/sim_clock.h"

#include <algorithm>

namespace weir::io::sim {

int64_t SimClock::wall_ms() { return wall_base_ms_ + scheduler_.now_ns() / 1'000'000; }

void SimClock::jump_wall(int64_t by_ms) {
  wall_base_ms_ += by_ms;
  highest_base_ms_ = std::max(highest_base_ms_, wall_base_ms_);
}

int64_t SimClock::highest_wall_ms() const {
  return highest_base_ms_ + scheduler_.now_ns() / 1'000'000;
}

}  // namespace weir::io::sim
