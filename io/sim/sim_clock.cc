#include "io/sim/sim_clock.h"

namespace weir::io::sim {

int64_t SimClock::wall_ms() { return wall_base_ms_ + scheduler_.now_ns() / 1'000'000; }

void SimClock::jump_wall(int64_t by_ms) {
  wall_base_ms_ += by_ms;
  if (watcher_ != nullptr) watcher_->on_wall_jump(wall_base_ms_);
}

}  // namespace weir::io::sim
