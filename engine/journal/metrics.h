#pragma once
// What one core's journal counts. Plain members of the owning core; merged when scraped.

#include <cstdint>

#include "io/base/histogram.h"

namespace weir::journal {

struct Metrics {
  uint64_t commits = 0;
  uint64_t frontier_records = 0;
  uint64_t record_bytes = 0;
  uint64_t extents = 0;
  uint64_t extent_bytes = 0;
  uint64_t growths = 0;
  uint64_t stalls = 0;  // a commit waited for journal space
  base::Histogram commit_latency_us;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_journal_commits_total", "group commits made durable", m.commits);
    metric("weir_journal_frontier_records_total", "empty records written when idle",
           m.frontier_records);
    metric("weir_journal_record_bytes_total", "bytes of journal records written", m.record_bytes);
    metric("weir_journal_extents_total", "segment writes of commits", m.extents);
    metric("weir_journal_extent_bytes_total", "bytes written straight to segments by commits",
           m.extent_bytes);
    metric("weir_journal_growths_total", "steps in which a journal grew", m.growths);
    metric("weir_journal_stalls_total", "times a commit waited for journal space", m.stalls);
    metric("weir_journal_commit_latency_us", "from submission to durable, microseconds",
           m.commit_latency_us);
  }
};

}  // namespace weir::journal
