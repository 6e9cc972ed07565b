#pragma once
// Results: what a run measured. Each worker fills one; they are merged at the end.
//
// Throughput counts what was acknowledged or read within the measured part. A latency belongs to it
// when its intended start does, however late the answer came.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/load/histogram.h"

namespace weir::load {

struct Flow {
  uint64_t requests = 0;
  uint64_t batches = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of record batches, as they travel

  void add(uint64_t batch_records, uint64_t batch_bytes) {
    ++batches;
    records += batch_records;
    bytes += batch_bytes;
  }
  void merge(const Flow& other) {
    requests += other.requests;
    batches += other.batches;
    records += other.records;
    bytes += other.bytes;
  }
};

// What was checked of what was read.
struct Verification {
  uint64_t batches = 0;      // all: framing, CRC, offsets
  uint64_t stamps = 0;       // of this run: order within producer and partition
  uint64_t wrong_crc = 0;
  uint64_t gaps = 0;         // offsets that no batch had
  uint64_t out_of_order = 0; // stamps
  uint64_t not_read = 0;     // acknowledged batches' offsets that were never read
  std::string first_problem;

  [[nodiscard]] bool sound() const {
    return wrong_crc == 0 && gaps == 0 && out_of_order == 0 && not_read == 0;
  }
  void problem(uint64_t& kind, std::string what) {
    ++kind;
    if (first_problem.empty()) first_problem = std::move(what);
  }
};

struct Results {
  Flow acked;        // within the measured part
  Flow read;         // within the measured part
  Flow acked_total;  // from the first request on, for write amplification
  Histogram ack;           // ns from the intended start to the acknowledgement
  Histogram end_to_end;    // ns from the intended start to the fetch that brought it; per record
  Histogram start_delay;   // ns from the intended start to the first byte sent (open loop)
  // From the begin of the warm-up until the last reader that began behind the end had reached it;
  // 0: none did. With the bytes read until then.
  double catch_up_s = 0;
  uint64_t catch_up_bytes = 0;
  bool end_to_end_coarse = false;  // from timestamps in ms: no stamps in these batches
  uint64_t intended = 0;     // open loop: starts that fell into the measured part
  uint64_t unanswered = 0;   // requests without answer when the drain ended
  std::map<int16_t, uint64_t> errors;  // by Kafka's code
  uint64_t warmup_errors = 0;          // retriable ones while leaders are still being found
  Verification verification;
  std::vector<int64_t> acked_ends;  // by partition: one past the last acknowledged offset; 0: none
  double seconds = 0;           // of the measured part
  double generator_cpu_s = 0;   // of this process in it
  std::string failure;          // why the run ended early; empty: it did not

  // Everything but seconds, generator_cpu_s and acked_ends, which are the run's.
  void merge(const Results& other);
};

}  // namespace weir::load
