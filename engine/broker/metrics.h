#pragma once
// The metrics of all folders as one snapshot: each core adds its own to it in turn; text exposition
// for Prometheus. Names, sentences and units come from the describe() of each folder's Metrics.

#include <cstdint>
#include <string>

#include "engine/connection/metrics.h"
#include "engine/group/metrics.h"
#include "engine/handlers/metrics.h"
#include "engine/journal/metrics.h"
#include "engine/partition/metrics.h"
#include "engine/transaction/metrics.h"

namespace weir::broker {

// Sums over the cores asked so far; where a metric is a Peak, the largest.
struct MetricsSnapshot {
  journal::Metrics journal;
  partition::Metrics partition;
  group::GroupMetrics group;
  transaction::TransactionMetrics transaction;
  handlers::Metrics handlers;
  connection::Metrics connection;
  uint64_t partitions = 0;
  uint64_t buffer_bytes = 0;
  uint64_t read_bytes_held = 0;
  uint64_t io_stuck = 0;
  uint64_t io_stuck_episodes = 0;
  uint16_t cores = 0;

  void add(const MetricsSnapshot& core);
  std::string text() const;
};

}  // namespace weir::broker
