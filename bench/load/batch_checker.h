#pragma once
// BatchChecker: looks at the batches of one partition in the order in which they are read: CRC,
// offsets without a gap, the stamps of each producer in order; and takes the time they needed.
// Apart from sockets, so that it can be tested with bytes. Owned by a consumer.

#include <cstdint>
#include <span>
#include <unordered_map>

#include "bench/load/recorder.h"
#include "engine/log/record_batch.h"

namespace weir::load {

class BatchChecker {
 public:
  struct Rules {
    int32_t partition = 0;
    int64_t position = 0;       // offset of the next record to read
    bool gaps_allowed = false;
    uint16_t run_id = 0;
    int64_t wall_from_ms = 0;   // timestamps from here on are of this run (batches without stamp)
  };

  explicit BatchChecker(const Rules& rules) : rules_(rules) {}

  // All whole batches of what one fetch brought for the partition. Adds to `flow`, reports arrivals
  // and findings to the recorder.
  void check(std::span<const std::byte> records, int64_t now_ns, Flow& flow, Recorder& recorder);

  [[nodiscard]] int64_t position() const { return rules_.position; }
  // Reads again from there; what was learnt of the order is forgotten.
  void start_over(int64_t position);

 private:
  void check_batch(const log::BatchView& batch, int64_t now_ns, Flow& flow, Recorder& recorder);
  void check_time(const log::BatchView& batch, int64_t now_ns, Recorder& recorder);

  Rules rules_;
  std::unordered_map<uint32_t, uint64_t> last_sequence_;  // by producer of this run
};

}  // namespace weir::load
