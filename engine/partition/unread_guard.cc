#include "engine/partition/unread_guard.h"

#include <algorithm>
#include <utility>

#include "engine/partition/partition.h"

namespace weir::partition {
namespace {

// Where the segment begins that holds `offset`; the log start where that is further on.
model::Offset segment_begin(log::Log& log, model::Offset offset) {
  const log::Segment* segment = log.find_segment(offset);
  if (segment == nullptr) return offset >= log.end_offset() ? log.end_offset() : log.start_offset();
  return std::max(segment->base_offset, log.start_offset());
}

uint64_t unread(const ReadPosition& position, model::Offset start, model::Offset wanted) {
  const model::Offset from = std::max(position.offset, start);
  return from < wanted ? static_cast<uint64_t>(wanted - from) : 0;
}

}  // namespace

void UnreadGuard::begin_round() {
  ++round_;
  at_risk_ = 0;
}

void UnreadGuard::end_round() {
  metrics_.unread_at_risk = at_risk_;
  std::erase_if(warned_, [&](const auto& item) { return item.second.round != round_; });
}

model::Offset UnreadGuard::hold(Partition& partition, model::Offset wanted,
                                std::span<const ReadPosition> positions,
                                const log::RetentionTime& now) const {
  model::Offset held = wanted;
  for (const ReadPosition& position : positions) {
    if (position.holds) held = std::min(held, segment_begin(partition.log(), position.offset));
  }
  if (held >= wanted) return wanted;
  // What is too much even for them.
  const log::RetentionRules room{.size_bytes_max = config_.hold_bytes_max};
  const model::Offset forced = log::find_expired(partition.log(), room, now).start;
  return std::min(wanted, std::max(held, forced));
}

model::Offset UnreadGuard::allow(Partition& partition, model::Offset wanted,
                                 std::span<const ReadPosition> positions,
                                 const log::RetentionTime& now) {
  const model::Offset start = partition.log_start_offset();
  if (wanted > start) wanted = hold(partition, wanted, positions, now);
  const auto known = warned_.find(partition.key());
  const model::Offset warned =
      known == warned_.end() ? start : std::max(start, known->second.until);
  model::Offset allowed = wanted;
  for (const ReadPosition& position : positions) {
    if (unread(position, start, wanted) == 0) continue;
    const model::Offset read = segment_begin(partition.log(), position.offset);
    allowed = std::min(allowed, std::max(warned, read));
    if (const uint64_t records = unread(position, std::max(start, warned), wanted); records > 0) {
      warn(partition, position, records, now);
    }
  }
  for (const ReadPosition& position : positions) {
    metrics_.unread_dropped += unread(position, start, allowed);
  }
  if (allowed < wanted) warned_[partition.key()] = {wanted, round_};
  return allowed;
}

void UnreadGuard::warn(Partition& partition, const ReadPosition& position, uint64_t records,
                       const log::RetentionTime& now) {
  at_risk_ += records;
  if (!limiter_.allow(now.instant.ns)) return;
  base::log_warning("partition",
                    "retention will delete what a group has not read group={} directory={} "
                    "records={} position={} in_s={}",
                    position.group, partition.log().directory(), records, position.offset.value(),
                    config_.retention_check_ms / 1000);
}

}  // namespace weir::partition
