// The part of Partition that compaction asks: what may be cleaned, and the swap of what was.

#include <algorithm>
#include <utility>

#include "engine/partition/partition.h"
#include "io/base/assert.h"

namespace weir::partition {

Cleanable Partition::find_cleanable(const log::RetentionTime& now) const {
  Cleanable found{.end = log_.start_offset()};
  if (removed_ || log_.empty() || !settings_.compact || services_.journal.failed()) return found;
  const model::Offset stable = last_stable_offset();
  const model::Offset clean_end = log_.clean_end();
  const auto& segments = log_.segments();
  const log::Segment* oldest_dirty = nullptr;
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    const log::Segment& segment = *segments[i];
    const model::Offset next = segments[i + 1]->base_offset;
    if (!segment.sealed || next > stable) break;
    if (segment.damaged || found.unreachable_bytes > 0) {
      found.unreachable_bytes += segment.end;
      continue;
    }
    found.end = next;
    found.total_bytes += segment.end;
    if (next <= clean_end) continue;
    found.dirty_bytes += segment.end;
    if (!oldest_dirty) oldest_dirty = &segment;
  }
  if (oldest_dirty && settings_.max_compaction_lag_ms != PartitionSettings::kForever) {
    found.age_unknown = oldest_dirty->first_timestamp < 0;
    const int64_t age_ms = now.wall_ms - oldest_dirty->first_timestamp;
    if (!found.age_unknown) {
      found.overdue_ms = std::max<int64_t>(0, age_ms - settings_.max_compaction_lag_ms);
    }
  }
  return found;
}

bool Partition::ready_to_clean(model::Offset end) {
  if (removed_ || services_.journal.failed()) return false;
  start_.retire();
  return !start_.retired_are_read() && keeper_.snapshot_holds(end);
}

log::CompactionInput Partition::compaction_input(const log::RetentionTime& now) const {
  log::CompactionInput input;
  input.rules = {.now_ms = now.wall_ms, .delete_retention_ms = settings_.delete_retention_ms};
  input.map_from = log_.clean_end();
  for (const TransactionIndex::Aborted& aborted : producers_.transactions().aborted()) {
    input.aborted.push_back({aborted.producer_id, aborted.first_offset, aborted.last_offset});
  }
  for (const auto& [id, entry] : producers_.entries()) {
    if (entry.is_known()) input.producers[id] = {entry.last_data_offset, entry.epoch};
  }
  return input;
}

bool Partition::replace_segments(std::unique_ptr<log::Segment> cleaned,
                                 std::span<const model::Offset> void_markers) {
  if (!void_markers.empty()) {
    // Their markers go in a later pass, and a start must not find them in a snapshot then.
    producers_.transactions().forget_markers(void_markers);
    keeper_.forget_snapshot();
  }
  for (const auto& segment : log_.segments()) {
    if (!cleaned->name.supersedes(segment->name)) continue;
    cleaned->appended = std::max(cleaned->appended, segment->appended);
    cleaned->created = std::max(cleaned->created, segment->created);
  }
  auto replaced = log_.replace(cleaned);
  const bool taken = cleaned == nullptr;
  // The log starts behind it: it is as dead as what it was made of.
  if (!taken) replaced.push_back(std::move(cleaned));
  start_.retire(std::move(replaced));
  return taken;
}

}  // namespace weir::partition
