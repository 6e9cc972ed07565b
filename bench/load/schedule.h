#pragma once
// Schedule: when requests are meant to start. Open loop: the times are fixed before the run and do
// not wait for the broker; what is measured begins at the intended time, however late it was sent
// (BENCHMARKS 1 rule 1). Evenly spaced, or a Poisson process of the same rate.
//
// The n-th time of an even schedule is start + n / rate, computed from n: no drift adds up.

#include <cstdint>

#include "io/base/random.h"

namespace weir::load {

class Schedule {
 public:
  enum class Arrivals : uint8_t { even, poisson };

  // per_second > 0: starts a second. Times count from start_ns on, on the clock of the caller.
  Schedule(double per_second, int64_t start_ns, Arrivals arrivals = Arrivals::even,
           uint64_t seed = 1);

  // The next intended start; pop() goes to the one after it.
  [[nodiscard]] int64_t next_ns() const { return next_ns_; }
  void pop();

 private:
  double gap_ns_;
  int64_t start_ns_;
  Arrivals arrivals_;
  base::RandomStream random_;
  double elapsed_ns_ = 0;  // of a Poisson process
  uint64_t count_ = 0;
  int64_t next_ns_;
};

}  // namespace weir::load
