#include "engine/log/retention.h"

#include <algorithm>

#include "io/base/assert.h"

namespace weir::log {
namespace {

int64_t ms_between(io::Instant from, io::Instant to) { return (to - from) / 1'000'000; }

}  // namespace

bool newest_known(const Segment& segment) {
  return segment.ledger_loaded || segment.max_timestamp.has_value();
}

int64_t newest_ms(const Segment& segment, const RetentionTime& now) {
  ASSERT(newest_known(segment));
  const int64_t largest =
      segment.ledger_loaded ? segment.ledger.max_timestamp() : *segment.max_timestamp;
  const int64_t appended = now.wall_ms - ms_between(segment.appended, now.instant);
  if (largest < 0) return appended;
  if (largest - kFutureMsMax <= now.wall_ms) return largest;
  return appended + kFutureMsMax;
}

Expired find_expired(const Log& log, const RetentionRules& rules, const RetentionTime& now) {
  Expired expired{.start = log.start_offset()};
  const auto& segments = log.segments();
  // What is not durable yet may never be: it must not push out what is.
  uint64_t size = 0;
  for (const auto& segment : segments) size += segment->committed;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = *segments[i];
    const bool active = i + 1 == segments.size();
    // Sealed and empty: it stands for a file that is missing.
    if ((segment.end == 0 && !segment.sealed) || segment.committed < segment.end) break;
    const model::Offset next = active ? log.end_offset() : segments[i + 1]->base_offset;
    bool goes = next <= log.start_offset();
    if (!goes && rules.size_bytes_max >= 0) {
      goes = size >= static_cast<uint64_t>(rules.size_bytes_max) + segment.end;
    }
    if (!goes && rules.age_ms_max >= 0) {
      if (!newest_known(segment)) {
        expired.unknown = segments[i].get();
        break;
      }
      goes = now.wall_ms - newest_ms(segment, now) > rules.age_ms_max;
    }
    if (!goes) break;
    expired.start = std::max(expired.start, next);
    size -= segment.end;
  }
  return expired;
}

bool rolls_by_age(const Segment& active, int64_t max_timestamp, int64_t age_ms_max,
                  const RetentionTime& now) {
  if (active.end == 0) return false;
  if (active.first_timestamp < 0 || max_timestamp < 0) {
    return ms_between(active.created, now.instant) > age_ms_max;
  }
  return std::min(max_timestamp, now.wall_ms) - active.first_timestamp > age_ms_max;
}

}  // namespace weir::log
