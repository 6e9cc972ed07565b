#pragma once
// A run of a plan by librdkafka instead of our own connections: a cross-check with the client that
// most applications use, and the way to measure groups. plan.threads threads share the producers;
// every member of a group has a thread.
//
// A record is a request here: throughput counts keys and values, not batches and their headers.
// Batches, linger and requests in flight are the library's.

#include "bench/load/plan.h"
#include "bench/load/rdkafka_client.h"
#include "bench/load/results.h"
#include "bench/load/run_watch.h"

namespace weir::load {

// Blocking. Readers have joined, and have all their partitions, before the first record starts. An
// error: the run could not begin.
base::Result<Results> run_rdkafka(const Plan& plan, const RdkafkaOptions& options,
                                  RunListener& listener);

inline constexpr int64_t kJoinTimeout_ms = 60'000;

}  // namespace weir::load
