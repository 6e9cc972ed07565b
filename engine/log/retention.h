#pragma once
// Retention: which of the oldest segments of a log may go, by size and age (SCOPE 19,
// UnifiedLog.deleteOldSegments). Functions of the log, the rules and the time; whoever asks moves
// the log start and only then lets files go.

#include <cstdint>

#include "engine/log/log.h"
#include "io/clock.h"

namespace weir::log {

// A timestamp may lie so far ahead of the broker's clock and still count for what it says: Kafka's
// default of message.timestamp.after.max.ms.
inline constexpr int64_t kFutureMsMax = 3'600'000;

struct RetentionRules {
  int64_t age_ms_max = -1;      // of a segment's newest record; -1: no limit
  int64_t size_bytes_max = -1;  // of the log; negative: no limit
  bool operator==(const RetentionRules&) const = default;
};

// One moment by both clocks.
struct RetentionTime {
  int64_t wall_ms = 0;  // as far as it is trusted
  io::Instant instant{};
};

struct Expired {
  model::Offset start;         // the log may start here; its start_offset() when nothing expired
  Segment* unknown = nullptr;  // what is behind depends on this one's max_timestamp, not known yet
};

// Oldest first; the first segment that stays ends it. Nothing that is not committed whole ever
// expires, and the active segment only when all others do.
Expired find_expired(const Log& log, const RetentionRules& rules, const RetentionTime& now);

// Whether newest_ms() can tell.
bool newest_known(const Segment& segment);
// The time of a segment for retention: that of its newest record. Where no record has one, or one
// lies further in the future than kFutureMsMax, which can only be a mistake, the time of the last
// append counts: such a record neither keeps the segment for ever nor makes it go early.
int64_t newest_ms(const Segment& segment, const RetentionTime& now);

// Whether a batch with this largest timestamp must go to a new segment because of the age of the
// active one (segment.ms; LogSegment.shouldRoll).
bool rolls_by_age(const Segment& active, int64_t max_timestamp, int64_t age_ms_max,
                  const RetentionTime& now);

}  // namespace weir::log
