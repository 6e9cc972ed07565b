#include "bench/load/schedule.h"

#include <cmath>

#include "io/base/assert.h"

namespace weir::load {

Schedule::Schedule(double per_second, int64_t start_ns, Arrivals arrivals, uint64_t seed)
    : gap_ns_(1e9 / per_second),
      start_ns_(start_ns),
      arrivals_(arrivals),
      random_(seed, "schedule"),
      next_ns_(start_ns) {
  ASSERT(per_second > 0);
}

void Schedule::pop() {
  ++count_;
  if (arrivals_ == Arrivals::even) {
    next_ns_ = start_ns_ + static_cast<int64_t>(static_cast<double>(count_) * gap_ns_);
    return;
  }
  // Exponential gaps; the draw is in (0, 1], whose logarithm exists.
  const double draw = static_cast<double>((random_.next() >> 11) + 1) * 0x1p-53;
  elapsed_ns_ += -std::log(draw) * gap_ns_;
  next_ns_ = start_ns_ + static_cast<int64_t>(elapsed_ns_);
}

}  // namespace weir::load
