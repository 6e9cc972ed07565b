#pragma once
// Clock: the only source of time. Order, leases and timeouts use the monotonic clock; wall time is
// for record timestamps and retention only and may jump.

#include <compare>
#include <cstdint>

namespace weir::io {

// Nanoseconds of the monotonic clock; meaningless across restarts.
struct Instant {
  int64_t ns = 0;
  auto operator<=>(const Instant&) const = default;
  Instant operator+(int64_t duration_ns) const { return {ns + duration_ns}; }
  int64_t operator-(Instant other) const { return ns - other.ns; }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
  virtual int64_t wall_ms() = 0;  // milliseconds since 1970 UTC
};

}  // namespace weir::io
