#pragma once
// What the transaction coordinator of one core counts. Plain members of that core; merged when
// scraped.

#include <cstdint>

namespace weir::transaction {

struct TransactionMetrics {
  uint64_t ids = 0;
  uint64_t open = 0;
  uint64_t begun = 0;
  uint64_t committed = 0;
  uint64_t aborted = 0;
  uint64_t timed_out = 0;
  uint64_t fenced = 0;
  uint64_t markers = 0;
  uint64_t marker_retries = 0;
  uint64_t ids_expired = 0;
  uint64_t log_failures = 0;
  uint64_t refused_for_limits = 0;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_transaction_ids", "transactional ids known to their home core", m.ids);
    metric("weir_transaction_open", "transactions that are not complete", m.open);
    metric("weir_transaction_begun_total", "transactions begun", m.begun);
    metric("weir_transaction_committed_total", "transactions committed", m.committed);
    metric("weir_transaction_aborted_total", "transactions aborted", m.aborted);
    metric("weir_transaction_timed_out_total", "transactions aborted because they took too long",
           m.timed_out);
    metric("weir_transaction_fenced_total", "transactions aborted because a new producer came",
           m.fenced);
    metric("weir_transaction_markers_total", "markers asked for", m.markers);
    metric("weir_transaction_marker_retries_total", "times that markers had to be asked for again",
           m.marker_retries);
    metric("weir_transaction_ids_expired_total", "transactional ids forgotten because of their age",
           m.ids_expired);
    metric("weir_transaction_log_failures_total", "records that could not be written",
           m.log_failures);
    metric("weir_transaction_refused_for_limits_total",
           "requests refused because a limit was reached", m.refused_for_limits);
  }
};

}  // namespace weir::transaction
