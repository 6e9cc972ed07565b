#pragma once
// Plan: what one run of the load generator does. Filled in by `weir bench` (tools/weir/bench*.cc)
// from a scenario and options; fixed while the run lasts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/batch_factory.h"
#include "bench/load/schedule.h"
#include "io/network.h"

namespace weir::load {

// Where the partitions of the topic are, and what the broker speaks.
struct Target {
  std::string topic;
  std::vector<io::Address> brokers;     // each leads one partition at least
  std::vector<uint16_t> leaders;        // by partition: place in `brokers`
  std::vector<int64_t> start_offsets;   // by partition: the first to read
  std::vector<int64_t> end_offsets;     // by partition: before the run
  int16_t produce_version = 0;          // kProduceVersionMax at most
  int16_t fetch_version = 0;            // kFetchVersionMax at most

  [[nodiscard]] int32_t partition_count() const { return static_cast<int32_t>(leaders.size()); }
};

// The last version whose lengths have a fixed width: a frame is patched, not encoded anew.
inline constexpr int16_t kProduceVersionMax = 8;
// Later ones name topics by id only.
inline constexpr int16_t kFetchVersionMax = 12;

struct ProducerPlan {
  int32_t connections = 0;  // 0: nothing is produced
  int32_t window = 1;       // requests in flight on a connection
  int16_t acks = -1;
  double bytes_per_second = 0;    // record batches; this or records_per_second: open loop
  double records_per_second = 0;  // both 0: closed loop
  Schedule::Arrivals arrivals = Schedule::Arrivals::even;
  BatchSpec batches{};

  [[nodiscard]] bool open_loop() const { return bytes_per_second > 0 || records_per_second > 0; }
};

struct ConsumerPlan {
  int32_t readers = 0;              // each reads every partition; 0: nothing is consumed
  int32_t connections = 1;          // of one reader, which share its partitions
  bool from_start = false;          // from start_offsets on; else from end_offsets
  bool again_at_end = false;        // start over when a partition has nothing more: reading at most
  bool gaps_allowed = false;        // compacted topics
  int32_t fetch_bytes_max = 1 << 20;
  int32_t fetch_bytes_min = 1;
  int32_t fetch_wait_ms = 500;
};

struct Plan {
  Target target;
  ProducerPlan producer;
  ConsumerPlan consumer;
  int32_t threads = 1;
  bool spin = false;  // poll instead of sleeping until the next start
  int64_t warmup_ms = 2'000;
  int64_t duration_ms = 10'000;  // of the part that is measured
  // After it, for answers and records that are on their way.
  int64_t drain_ms_max = 10'000;
  uint16_t run_id = 0;  // in the stamps: what another run wrote is told apart
};

inline constexpr int32_t kConnectionsMax = 20'000;
inline constexpr int32_t kWindowMax = 10'000;
inline constexpr int32_t kThreadsMax = 64;
inline constexpr int64_t kDurationMax_ms = int64_t{7} * 24 * 3'600'000;

}  // namespace weir::load
