#pragma once
// What the group coordinator of one core counts. Plain members of that core; merged when scraped.

#include <cstdint>

namespace weir::group {

struct GroupMetrics {
  uint64_t groups = 0;
  uint64_t members = 0;
  uint64_t offsets = 0;
  uint64_t rebalances = 0;
  uint64_t members_expired = 0;
  uint64_t offset_commits = 0;
  uint64_t offset_fetches = 0;
  uint64_t offsets_expired = 0;
  uint64_t log_batches = 0;
  uint64_t log_records = 0;
  uint64_t log_failures = 0;
  uint64_t refused_for_limits = 0;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_group_groups", "groups known to their home core", m.groups);
    metric("weir_group_members", "members of all groups", m.members);
    metric("weir_group_offsets", "committed offsets kept", m.offsets);
    metric("weir_group_rebalances_total",
           "generations of classic groups completed, assignments of consumer groups made",
           m.rebalances);
    metric("weir_group_members_expired_total", "members removed by session or rebalance timeout",
           m.members_expired);
    metric("weir_group_offset_commits_total", "offsets made durable", m.offset_commits);
    metric("weir_group_offset_fetches_total", "offsets looked up", m.offset_fetches);
    metric("weir_group_offsets_expired_total", "offsets forgotten because of their age",
           m.offsets_expired);
    metric("weir_group_log_batches_total", "batches written to __consumer_offsets", m.log_batches);
    metric("weir_group_log_records_total", "records of those batches", m.log_records);
    metric("weir_group_log_failures_total", "batches that could not be written", m.log_failures);
    metric("weir_group_refused_for_limits_total", "requests refused because a limit was reached",
           m.refused_for_limits);
  }
};

}  // namespace weir::group
