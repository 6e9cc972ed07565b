#pragma once
// Invariants: what must hold of a whole partition as read back through the protocol (RELIABILITY
// 3.4). Single reads are checked by the model while they happen.

#include <cstdint>
#include <map>
#include <vector>

#include "tests/sim/clock_watch.h"
#include "tests/sim/model.h"

namespace weir::simtest {

// A partition read from its start to its end.
struct Content {
  struct Entry {
    int64_t base_offset = 0;
    uint64_t batch_id = 0;
    bool operator==(const Entry&) const = default;
  };
  int64_t log_start_offset = 0;
  int64_t end_offset = 0;
  std::vector<Entry> entries;
  std::vector<std::pair<int64_t, int64_t>> gaps;  // offsets [first, second) lost to rot
  bool in_gap(int64_t offset) const;
  bool operator==(const Content&) const = default;
};
using Contents = std::map<TopicPartition, Content>;

void check_partition(const Model& model, const TopicPartition& where, const Content& content,
                     Findings& findings);

// I7: below this log start, which somebody was told, is only what somebody asked to delete or what
// retention lets go.
void check_deleted(const Model& model, const TopicPartition& where, int64_t log_start,
                   const ClockWatch& clock, Findings& findings);

// I8: what ListOffsets by time must answer, from a scan of all records; offset -1 when none is as
// late.
OffsetResult first_at_or_after(const Model& model, const Content& content, int64_t timestamp);

// I18: a second recovery of the same image changes nothing, but that retention goes on.
void check_same(const Model& model, const Contents& first, const Contents& second,
                Findings& findings);

}  // namespace weir::simtest
