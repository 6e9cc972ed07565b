#pragma once
// AlarmWatch: what the simulated disk knows against what the engine says of it: a call that hangs
// raises the alarm, the alarm falls when none does, and there is none for anything else (F22).

#include <cstdint>

#include "tests/sim/actor.h"
#include "tests/sim/engine.h"

namespace weir::simtest {

// Of one start of the engine. Reports to the findings of the run.
class AlarmWatch {
 public:
  AlarmWatch(const Context& context, const Engine& engine);

  void look();  // after every event

 private:
  const Context& context_;
  const Engine& engine_;
  const int64_t stuck_ns_;   // 0: no alarm
  const int64_t patience_ns_;
  int64_t looked_ns_ = 0;
  int64_t calm_since_ns_ = 0;  // no call took half as long since, as far as was looked
};

}  // namespace weir::simtest
