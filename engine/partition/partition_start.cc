// The part of Partition that lets go of what is old: rolls by age, retention, DeleteRecords.

#include <algorithm>
#include <utility>

#include "engine/partition/partition.h"
#include "io/base/assert.h"
#include "io/base/units.h"

namespace weir::partition {

using model::ErrorCode;

// Each segment gets its own share of the jitter, so that segments do not all roll at once.
int64_t Partition::roll_age_ms() const {
  const int64_t jitter = std::min(settings_.segment_jitter_ms, settings_.segment_ms);
  if (jitter <= 0) return settings_.segment_ms;
  return settings_.segment_ms - static_cast<int64_t>(roll_random_ % static_cast<uint64_t>(jitter));
}

void Partition::begin_segment(log::Segment& segment, const log::BatchView& batch) {
  const log::RetentionTime now = services_.retention_clock.now();
  segment.created = now.instant;
  segment.first_timestamp = std::min(batch.max_timestamp(), now.wall_ms);
  if (settings_.segment_jitter_ms > 0) roll_random_ = services_.io.random.next();
}

// The clocks are asked only where the timestamps alone do not say that it is young.
void Partition::roll_if_old(const log::BatchView& batch) {
  if (settings_.segment_ms == PartitionSettings::kForever || log_.empty()) return;
  log::Segment& active = log_.active();
  if (active.full || active.end == 0) return;
  const int64_t age_ms_max = roll_age_ms();
  const int64_t timestamp = batch.max_timestamp();
  const bool dated = active.first_timestamp >= 0 && timestamp >= 0;
  if (dated && timestamp - active.first_timestamp <= age_ms_max) return;
  const log::RetentionTime now = services_.retention_clock.now();
  if (now.instant < no_roll_before_) return;
  active.full = log::rolls_by_age(active, timestamp, age_ms_max, now);
}

log::Expired Partition::find_expired(const log::RetentionRules& rules,
                                     const log::RetentionTime& now) const {
  if (removed_ || log_.empty() || services_.journal.failed()) {
    return {.start = log_.start_offset()};
  }
  return log::find_expired(log_, rules, now);
}

void Partition::expire_producers(io::Instant now) {
  if (!removed_) producers_.expire(now, base::ms_to_ns(config_.producer_expiration_ms));
}

void Partition::drop_until(model::Offset start) {
  if (removed_ || log_.empty() || services_.journal.failed()) return;
  ASSERT(start <= high_watermark_);
  start_.move(start);
  log::Segment& active = log_.active();
  // Nothing of it is left: in a segment of its own what comes next lets its file go.
  if (start == log_.end_offset() && active.end > 0 && active.committed == active.end) {
    active.full = true;
    make_space();
  }
  start_.retire();
}

void Partition::delete_records(DeleteRecordsRequest& request) {
  const auto refuse = [&](ErrorCode error) {
    request.error = error;
    request.low_watermark = model::kNoOffset;
    services_.io.mailboxes.reply(request);
  };
  if (removed_) return refuse(ErrorCode::unknown_topic_or_partition);
  if (services_.journal.failed()) return refuse(ErrorCode::kafka_storage_error);
  const model::Offset offset =
      request.offset == model::kNoOffset ? high_watermark_ : request.offset;
  if (offset < model::Offset(0) || offset > high_watermark_) {
    return refuse(ErrorCode::offset_out_of_range);
  }
  start_.move(offset, request);
}

void Partition::on_start_moved() {
  if (!removed_) waiters_.on_start_moved(log_.start_offset());
  tell_if_quiet();
}

}  // namespace weir::partition
