#pragma once
// KeyedLog: one partition of a compacted topic as its only writer knows it, and what a reader may
// therefore find there. The writer is idempotent and sends a batch until it is acknowledged before
// it makes the next one: every record has its offset from the moment it is made, and what is not
// acknowledged is either the end of the log or not there.
//   K1  what is read at an offset is the record that was written there
//   K2  what is gone has a newer record of its key below the high watermark, or is a tombstone
//       older than delete.retention.ms
//   K3  what was gone stays gone: nobody sees a cleaned segment before it is durable
//   K4  high watermark and log start never fall; a log that is not deleted from starts at 0; what
//       lies below a start is older than retention.ms, or gone by K2
//   K5  batches follow one another without a gap of offsets; a retry gets the first offset

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/clock_watch.h"
#include "tests/sim/kafka_bytes.h"

namespace weir::simtest {

struct KeyedRules {
  int64_t delete_retention_ms = 0;
  int64_t retention_ms = -1;  // -1: nothing is deleted
};

// One read, and what its time was.
struct ReadMoment {
  int64_t sent_ns = 0;          // the request
  int64_t now_ns = 0;           // its answer
  const ClockWatch& clock;      // as it is at that time
};

// What goes wrong is said in words; empty: nothing.
class KeyedLog {
 public:
  explicit KeyedLog(KeyedRules rules) : rules_(rules) {}

  // A batch is sent for the first time. At its offset:
  int64_t append(std::vector<Record> records, int64_t now_ns);
  [[nodiscard]] std::string acked(int64_t expected, int64_t offset, size_t count);
  int64_t durable() const { return durable_; }
  int64_t log_start() const { return log_start_; }

  // The answer to a request that was sent when the log was known to reach from log_start() to
  // durable().
  [[nodiscard]] std::string saw_bounds(const ReadMoment& moment, int64_t start_at_send,
                                       int64_t durable_at_send, int64_t log_start,
                                       int64_t high_watermark);
  // The batch that a fetch at `position` brought; all between there and its end is seen or gone.
  [[nodiscard]] std::string saw_batch(const ReadMoment& moment, int64_t position,
                                      const BatchView& batch, int64_t high_watermark);
  uint64_t gone() const { return gone_at_.size(); }

 private:
  struct Entry {
    Record record;
    int64_t made_ns;             // in virtual time
    int64_t newer = INT64_MAX;   // offset of the next record of its key
  };

  bool may_be_gone(const ReadMoment& moment, int64_t offset, int64_t high_watermark) const;
  const Entry& at(int64_t offset) const { return entries_[static_cast<size_t>(offset)]; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }

  const KeyedRules rules_;
  std::vector<Entry> entries_;             // by offset
  std::map<std::string, int64_t> newest_;  // offset of each key
  std::map<int64_t, int64_t> gone_at_;     // offset -> when it was known
  int64_t durable_ = 0;
  int64_t log_start_ = 0;
};

}  // namespace weir::simtest
