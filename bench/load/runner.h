#pragma once
// Runner: one run of a plan over its worker threads: starts them together, tells a listener how it
// goes, merges what they measured.

#include <memory>
#include <thread>
#include <vector>

#include "bench/load/plan.h"
#include "bench/load/results.h"
#include "bench/load/worker.h"

namespace weir::load {

// Hears of a run, on the thread that called run_load().
class RunListener {
 public:
  virtual ~RunListener() = default;
  // At the begin and at the end of the measured part.
  virtual void on_measure_begin() {}
  virtual void on_measure_end() {}
  // About every kProgressInterval_ms. elapsed_ms counts from the start of the warm-up; `live` is
  // what happened since the last call. False: end the run now.
  virtual bool on_progress(int64_t elapsed_ms, const Live& live) = 0;
};

inline constexpr int64_t kProgressInterval_ms = 250;

// Blocking. An error: the run could not begin (connections, batches). What went wrong later is in
// Results::failure.
base::Result<Results> run_load(const Plan& plan, RunListener& listener);

}  // namespace weir::load
