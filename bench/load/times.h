#pragma once
// The clocks of the load generator.

#include <time.h>

#include <cstdint>

namespace weir::load {

// CLOCK_MONOTONIC: one clock for all processes of the machine.
inline int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Milliseconds since the epoch, as timestamps of records.
inline int64_t wall_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * int64_t{1'000} + now.tv_nsec / 1'000'000;
}

}  // namespace weir::load
