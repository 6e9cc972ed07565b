#pragma once
// SimClock: virtual monotonic time, and wall time that is the monotonic one plus the jumps so far.

#include "io/clock.h"
#include "io/sim/scheduler.h"

namespace weir::io::sim {

// Is told of every jump of a wall clock: what it would have said at virtual time zero.
class WallWatcher {
 public:
  virtual ~WallWatcher() = default;
  virtual void on_wall_jump(int64_t base_ms) = 0;
};

class SimClock : public Clock {
 public:
  SimClock(const Scheduler& scheduler, int64_t wall_start_ms)
      : scheduler_(scheduler), wall_base_ms_(wall_start_ms) {}

  Instant now() override { return {scheduler_.now_ns()}; }
  int64_t wall_ms() override;
  int64_t wall_base_ms() const { return wall_base_ms_; }
  void jump_wall(int64_t by_ms);
  // One at a time, which outlives its watch; nullptr: none any more.
  void watch(WallWatcher* watcher) { watcher_ = watcher; }

 private:
  const Scheduler& scheduler_;
  int64_t wall_base_ms_;  // wall time at virtual time zero
  WallWatcher* watcher_ = nullptr;
};

}  // namespace weir::io::sim
