#pragma once
// Runner: one run of a plan over its worker threads: starts them together, tells a listener how it
// goes, merges what they measured.

#include "bench/load/plan.h"
#include "bench/load/results.h"
#include "bench/load/run_watch.h"
#include "io/base/result.h"

namespace weir::load {

// Blocking. An error: the run could not begin (connections, batches). What went wrong later is in
// Results::failure.
base::Result<Results> run_load(const Plan& plan, RunListener& listener);

}  // namespace weir::load
