#pragma once
// The scenarios of `weir bench` that are about the broker's process rather than about a load on
// it: W10 crash-recovery and W11 footprint. Both run brokers of this program in directories of
// their own.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/load/histogram.h"
#include "bench/load/process_stats.h"
#include "bench/load/results.h"
#include "tools/weir/bench_options.h"

namespace weir::tools {

// Times count from the start of the new process.
struct RecoveryReport {
  std::string step;
  uint64_t stored_bytes = 0;   // acknowledged before the end, backlog included
  double ready_ms = 0;         // its port is open
  double first_ack_ms = 0;     // a record of one partition is acknowledged
  double readable_ms = 0;      // every partition has answered with its end
  uint64_t lost = 0;           // acknowledged records that are behind the ends
  load::Results read_back{};   // of everything from the first record on
  [[nodiscard]] bool sound() const;
};

// Fills, ends the broker under load, starts it again, looks. Page caches are not dropped.
RecoveryReport run_recovery(const BenchOptions& options, const scenarios::Step& step);

struct FootprintReport {
  std::string step;
  load::Histogram first_ack{};   // ns from the fork of a fresh broker to its first ack
  load::ProcessStats idle{};     // after the idle time
  double idle_cpu_share = 0;     // of one processor, while idle
  double idle_s = 0;
};

inline constexpr int kFootprintStarts = 50;

FootprintReport run_footprint(const BenchOptions& options, const scenarios::Step& step);

// All steps of a scenario that is such a procedure; prints tables or JSON lines; the exit code.
int run_procedure(const BenchOptions& options, const scenarios::Scenario& scenario);

}  // namespace weir::tools
