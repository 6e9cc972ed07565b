#pragma once
// RetentionClock: wall time for deciding what is too old. It follows the wall clock, but forward at
// most twice as fast as the monotonic clock: a jump of the wall clock by years deletes nothing at
// once, and an operator has time to put it right (RELIABILITY P14).

#include <algorithm>
#include <cstdint>

#include "io/clock.h"

namespace weir::group {

class RetentionClock {
 public:
  void start(io::Clock& clock) {
    time_ms_ = clock.wall_ms();
    seen_ = clock.now();
  }
  int64_t now_ms(io::Clock& clock) {
    const io::Instant now = clock.now();
    const int64_t passed_ms = (now - seen_) / 1'000'000;
    seen_ = now;
    time_ms_ = std::min(clock.wall_ms(), time_ms_ + 2 * passed_ms);
    return time_ms_;
  }

 private:
  int64_t time_ms_ = 0;
  io::Instant seen_{};
};

}  // namespace weir::group
