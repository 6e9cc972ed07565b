#pragma once
// Counters of the handlers: plain members of one core, merged when scraped.

#include <cstdint>

namespace weir::handlers {

struct Metrics {
  uint64_t requests = 0;
  uint64_t requests_rejected = 0;
  uint64_t produce_batches = 0;
  uint64_t produce_records = 0;
  uint64_t produce_bytes = 0;
  uint64_t produce_errors = 0;
  uint64_t produce_outcomes_unknown = 0;
  uint64_t fetch_responses = 0;
  uint64_t fetch_bytes = 0;
  uint64_t fetch_waits = 0;
  uint64_t fetch_wait_timeouts = 0;
  uint64_t fetch_errors = 0;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_requests_total", "requests handed to a handler", m.requests);
    metric("weir_requests_rejected_total",
           "requests that were malformed and ended their connection", m.requests_rejected);
    metric("weir_produce_batches_total", "batches handed to partitions", m.produce_batches);
    metric("weir_produce_records_total", "records of those batches", m.produce_records);
    metric("weir_produce_bytes_total", "bytes of those batches, as sent", m.produce_bytes);
    metric("weir_produce_errors_total", "partitions of produce requests answered with an error",
           m.produce_errors);
    metric("weir_produce_outcomes_unknown_total",
           "produce requests left without an answer because a device failed",
           m.produce_outcomes_unknown);
    metric("weir_fetch_responses_total", "fetch responses", m.fetch_responses);
    metric("weir_fetch_bytes_total", "bytes of records in fetch responses", m.fetch_bytes);
    metric("weir_fetch_waits_total", "fetches that waited for records", m.fetch_waits);
    metric("weir_fetch_wait_timeouts_total", "fetches that waited until their deadline",
           m.fetch_wait_timeouts);
    metric("weir_fetch_errors_total", "partitions of fetch requests answered with an error",
           m.fetch_errors);
  }
};

}  // namespace weir::handlers
