#pragma once
// SimClock: virtual monotonic time, and wall time that is the monotonic one plus the jumps so far.

#include "io/clock.h"
#include "io/sim/scheduler.h"

namespace weir::io::sim {

class SimClock : public Clock {
 public:
  SimClock(const Scheduler& scheduler, int64_t wall_start_ms)
      : scheduler_(scheduler), wall_base_ms_(wall_start_ms), highest_base_ms_(wall_start_ms) {}

  Instant now() override { return {scheduler_.now_ns()}; }
  int64_t wall_ms() override;
  void jump_wall(int64_t by_ms);
  // What a clock that only ever jumped ahead would say: nobody was told more.
  int64_t highest_wall_ms() const;

 private:
  const Scheduler& scheduler_;
  int64_t wall_base_ms_;  // wall time at virtual time zero
  int64_t highest_base_ms_;
};

}  // namespace weir::io::sim
