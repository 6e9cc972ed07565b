#include "engine/partition/partition.h"

#include <algorithm>
#include <utility>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/units.h"

namespace weir::partition {

using model::ErrorCode;

namespace {

constexpr int64_t kRollAgain_ns = 60'000'000'000;

}  // namespace

Partition::Partition(Services& services, const Config& config, model::PartitionKey key,
                     const std::string& directory, const PartitionSettings& settings)
    : services_(services),
      config_(config),
      key_(key),
      settings_(settings),
      log_(services.pool, directory),
      keeper_(services, log_, producers_, *this),
      start_(services, log_, *this) {
  keeper_.set_new(true);
  start_.set_delete_delay(settings.file_delete_delay_ms);
  keeper_.set_uses_reserve(settings.uses_reserve);
}

Partition::~Partition() { base::TaggedHook<2>::unlink(); }

void Partition::set_settings(const PartitionSettings& settings) {
  settings_ = settings;
  start_.set_delete_delay(settings.file_delete_delay_ms);
}

void Partition::restore(Recovered recovered) {
  ASSERT(log_.empty());
  keeper_.set_new(false);
  const io::Instant now = services_.io.clock.now();
  for (size_t i = 0; i < recovered.segments.size(); ++i) {
    RecoveredSegment& found = recovered.segments[i];
    auto segment = std::make_unique<log::Segment>(found.name, services_.pool);
    segment->end = segment->gathered = segment->committed = found.end;
    segment->written = segment->submitted = found.end;
    segment->allocated = found.allocated;
    segment->sealed = found.sealed;
    segment->damaged = found.sealed && found.end == 0;  // a file that is missing
    segment->ledger_loaded = found.ledger_loaded;
    segment->ledger = std::move(found.ledger);
    segment->created = now;
    segment->appended = now + -found.unwritten_ms * 1'000'000;
    segment->first_timestamp = found.first_timestamp;
    segment->gathered_offset = i + 1 < recovered.segments.size()
                                   ? recovered.segments[i + 1].name.base_offset
                                   : recovered.log_end;
    log_.add_segment(std::move(segment));
  }
  log_.set_offsets(recovered.log_start, recovered.log_end);
  for (const auto& start : recovered.epochs) log_.note_epoch(start.epoch, start.start_offset);
  log_.advance_start(recovered.log_start);
  start_.restore(std::move(recovered.start_markers), recovered.dead);
  last_pass_ = recovered.last_pass;
  producers_ = std::move(recovered.producers);
  high_watermark_ = recovered.log_end;
  producers_.transactions().on_durable(high_watermark_);
  if (log_.empty()) return;
  log::Segment& active = log_.active();
  active.buffer.start_at(recovered.tail_begin);
  active.buffer.append(recovered.tail);
  ASSERT(active.buffer.end() == active.end && recovered.written <= active.end);
  active.written = active.submitted = recovered.written;
  active.gathered_offset = recovered.log_end;
  // Nobody remembers whether its file had a life before.
  active.reused = true;
  keeper_.open_active();
  if (active.end > 0) want_carry();
}

void Partition::append(AppendRequest& request) {
  if (removed_) return answer(request, ErrorCode::unknown_topic_or_partition);
  if (services_.journal.failed()) return answer(request, ErrorCode::kafka_storage_error);
  if (queue_.empty() && try_append(request)) return;
  queue_.push_back(&request);
  make_space();
}

// Room for the first request of the queue. The next segment's file is made only when all of this
// one is durable: recovery may then take every file before the newest for complete.
void Partition::make_space() {
  if (removed_ || keeper_.making_space()) return;
  const bool aged = !log_.empty() && log_.active().full;
  if (queue_.empty() && !aged) return;
  size_t size = 0;
  int64_t offsets = 0;
  if (!queue_.empty()) {
    const log::BatchView batch(queue_.front()->batch);
    size = batch.size();
    offsets = batch.offset_count();
  }
  const bool rolls = !log_.empty() && !log_.fits_segment(size, offsets, settings_.segment_bytes);
  if (rolls && log_.active().committed < log_.active().end) return;
  keeper_.make_space(size, offsets, settings_.segment_bytes);
}

// Places or answers the request; false when it must wait for room in a file.
bool Partition::try_append(AppendRequest& request) {
  const log::BatchView batch(request.batch);
  if (batch.has_producer_id()) {
    const auto verdict = producers_.check(batch, request.origin);
    if (verdict.error != ErrorCode::none) {
      request.log_start_offset = log_.start_offset();
      answer(request, verdict.error);
      return true;
    }
    if (verdict.duplicate) {
      answer_duplicate(request, *verdict.duplicate);
      return true;
    }
    if (verdict.nothing_to_end) {
      producers_.note_ended(batch.producer_id(), request.origin.transaction,
                            services_.io.clock.wall_ms());
      producers_.limit(config_.producers_max);
      // What ended it before may not be durable yet.
      answer_when_durable(request, log_.end_offset());
      return true;
    }
  }
  roll_if_old(batch);
  if (log_.empty() || log_.active().file == io::kNoFile ||
      !log_.fits_segment(batch.size(), batch.offset_count(), settings_.segment_bytes) ||
      !log_.fits_allocated(batch.size())) {
    return false;
  }
  place(request, batch);
  return true;
}

void Partition::answer_duplicate(AppendRequest& request, const ProducerBatch& original) {
  ++services_.metrics.duplicate_batches;
  request.base_offset = original.base_offset;
  request.log_append_time_ms = original.timestamp;
  request.log_start_offset = log_.start_offset();
  // The original may not be durable yet; an answer now would promise too much.
  answer_when_durable(request, original.last_offset + 1);
}

void Partition::answer_when_durable(AppendRequest& request, model::Offset next_offset) {
  if (next_offset <= high_watermark_) return answer(request, ErrorCode::none);
  duplicates_.push_back({&request, next_offset});
}

void Partition::place(AppendRequest& request, const log::BatchView& batch) {
  if (log_.active().end == 0) begin_segment(log_.active(), batch);
  const log::Placed placed = log_.append(request.batch, services_.leader_epoch);
  if (batch.has_producer_id()) {
    producers_.append(batch, placed.base_offset, services_.io.clock.wall_ms(), request.origin);
    producers_.limit(config_.producers_max);
  }
  request.base_offset = placed.base_offset;
  request.log_append_time_ms = batch.is_append_time() ? batch.max_timestamp() : -1;
  waiting_.push_back({&request, placed.next_offset});
  if (model::planted(model::Bug::high_watermark_before_flush)) {
    high_watermark_ = placed.next_offset;
    log_.active().committed = log_.active().end;
  }
  services_.journal.mark_dirty(*this, request.batch.size());
  keeper_.allocate_ahead(settings_.segment_bytes);
}

void Partition::append_queued() {
  while (!queue_.empty()) {
    AppendRequest& request = *queue_.front();
    if (services_.journal.failed()) return fail_queued(ErrorCode::kafka_storage_error);
    if (!try_append(request)) return make_space();
    queue_.pop_front();
  }
}

void Partition::answer(AppendRequest& request, ErrorCode error) {
  request.error = error;
  if (error != ErrorCode::none) {
    request.base_offset = model::kNoOffset;
    request.log_append_time_ms = -1;
    ++services_.metrics.append_errors;
  }
  services_.io.mailboxes.reply(request);
}

void Partition::fail_queued(ErrorCode error) {
  while (!queue_.empty()) {
    AppendRequest& request = *queue_.front();
    queue_.pop_front();
    const log::BatchView batch(request.batch);
    // What has no sequence is not expected again either.
    const bool sequenced = batch.has_producer_id() && batch.base_sequence().value() >= 0;
    if (sequenced) producers_.refuse(batch, services_.io.clock.wall_ms());
    answer(request, error);
  }
  producers_.limit(config_.producers_max);
}

bool Partition::contribute(journal::Commit& commit) {
  if (removed_) return true;
  if (!commit.carry_only()) {
    for (const auto& segment : log_.segments()) {
      if (segment->sealed || segment->gathered == segment->end) continue;
      if (!contribute_segment(commit, *segment)) return false;
    }
  }
  if (log_.empty()) return true;
  const bool carried = contribute_carry(commit);
  return carried && log_.active().gathered == log_.active().end;
}

bool Partition::contribute_segment(journal::Commit& commit, log::Segment& segment) {
  const uint64_t size = segment.end - segment.gathered;
  const uint64_t stop = base::round_down(segment.end, io::kBlockSize);
  const uint64_t threshold = services_.journal.config().extent_threshold;
  const bool large = size >= (commit.beside_others() ? threshold / 2 : threshold) ||
                     size > commit.inline_capacity();
  const bool direct = large && segment.file != io::kNoFile && !keeper_.flushing();
  journal::Entry entry;
  entry.key = key_;
  entry.leader_epoch = model::LeaderEpoch(services_.leader_epoch);
  entry.segment_base_offset = segment.base_offset;
  entry.base_offset = segment.gathered_offset;
  entry.next_offset = segment.ledger.next_offset();
  entry.begin = segment.gathered;
  entry.end = segment.end;
  entry.data_checksum = segment.gather_checksum;
  if (direct) {
    if (!commit.room_extent(stop - segment.submitted) || !commit.room_inline(segment.end - stop)) {
      return false;
    }
    entry.kind = journal::EntryKind::extent;
    entry.inline_begin = stop;
    pieces_.clear();
    segment.buffer.slices(segment.submitted, stop, pieces_);
    commit.add_extent(segment.file, segment.submitted, pieces_);
    segment.submitted = stop;
  } else {
    if (!commit.room_inline(size)) return false;
    entry.kind = journal::EntryKind::inline_data;
    entry.inline_begin = segment.gathered;
  }
  pieces_.clear();
  segment.buffer.slices(entry.inline_begin, segment.end, pieces_);
  commit.add(*this, entry, pieces_);
  segment.gathered = segment.end;
  segment.gathered_offset = entry.next_offset;
  ++parts_in_flight_;
  return true;
}

// The last bytes that only the journal has, copied forward so that older records can go.
bool Partition::contribute_carry(journal::Commit& commit) {
  if (!carry_wanted_ || log_.empty()) return true;
  log::Segment& active = log_.active();
  if (keeper_.flushing() || keeper_.has_unsealed())
    return true;  // asked for again when they are over
  if (active.submitted > active.written || active.end == 0) {
    carry_wanted_ = false;  // the extent in flight does the same
    making_room_ = false;
    return true;
  }
  const uint64_t size = active.gathered - active.written;
  // A ring that is short has room for a block of everybody, not for more.
  const uint64_t carry_max = commit.carry_only() ? io::kBlockSize : config_.carry_bytes_max;
  if (size > carry_max && keeper_.flush()) return true;
  if (!commit.room_inline(size)) {
    keeper_.flush();  // less is left to carry then
    return false;
  }
  journal::Entry entry;
  entry.key = key_;
  entry.kind = journal::EntryKind::carry;
  entry.leader_epoch = model::LeaderEpoch(services_.leader_epoch);
  entry.segment_base_offset = active.base_offset;
  entry.base_offset = entry.next_offset = active.gathered_offset;
  entry.begin = entry.end = active.gathered;
  entry.inline_begin = active.written;
  pieces_.clear();
  active.buffer.slices(active.written, active.gathered, pieces_);
  commit.add(*this, entry, pieces_);
  carry_wanted_ = false;
  ++parts_in_flight_;
  return true;
}

void Partition::committed(const journal::Part& part) {
  if (!model::planted(model::Bug::ack_before_flush)) ASSERT(parts_in_flight_ > 0);
  if (parts_in_flight_ > 0) --parts_in_flight_;
  if (removed_) return tell_if_quiet();
  const auto found = std::ranges::find_if(
      log_.segments().rbegin(), log_.segments().rend(),
      [&](const auto& s) { return s->name == log::SegmentName(part.segment_base_offset); });
  if (found == log_.segments().rend()) {
    // A carry of a segment that was sealed, and fell below the start or was compacted while it was
    // on its way.
    ASSERT(part.kind == journal::EntryKind::carry &&
           part.segment_base_offset < log_.active().base_offset);
    return after_commit(log_.active());
  }
  log::Segment& segment = **found;
  const uint64_t newly = part.end - std::min(part.end, segment.committed);
  segment.committed = std::max(segment.committed, part.end);
  if (part.kind == journal::EntryKind::extent) {
    segment.written = std::max(segment.written, part.inline_begin);
  }
  const model::Offset high_before = high_watermark_;
  const model::Offset stable_before = last_stable_offset();
  high_watermark_ = std::max(high_watermark_, part.next_offset);
  producers_.transactions().on_durable(high_watermark_);
  ASSERT(log_.start_offset() <= high_watermark_ && high_watermark_ <= log_.end_offset());

  const bool holds_all = part.kind != journal::EntryKind::inline_data &&
                         &segment == &log_.active() && !keeper_.has_unsealed();
  if (holds_all || oldest_needed() == 0) {
    services_.journal.set_needed(*this, part.sequence);
  }
  if (part.kind != journal::EntryKind::inline_data) making_room_ = false;
  answer_waiting();
  if (newly > 0) {
    segment.appended = services_.io.clock.now();
    if (part.kind == journal::EntryKind::extent) keeper_.note_extent(newly, segment.appended);
  }
  tell_waiters(newly, high_before, stable_before);
  after_commit(segment);
}

model::Offset Partition::last_stable_offset() const {
  const model::Offset unstable = producers_.transactions().first_unstable_offset();
  const bool ignored = model::planted(model::Bug::open_transactions_visible);
  if (unstable == model::kNoOffset || ignored) return high_watermark_;
  const int64_t over = model::planted(model::Bug::stable_offset_one_too_high) ? 1 : 0;
  return std::clamp(unstable + over, log_.start_offset(), high_watermark_);
}

// A marker may make much readable at once that was committed long before.
void Partition::tell_waiters(uint64_t newly, model::Offset high_before,
                             model::Offset stable_before) {
  if (waiters_.empty() || newly == 0) return;
  const model::Offset stable = last_stable_offset();
  uint64_t stable_bytes = newly;
  if (stable_before != high_before || stable != high_watermark_) {
    stable_bytes = readable_bytes(stable_before, stable);
  }
  waiters_.on_bytes({.readable = newly, .stable = stable_bytes});
}

uint64_t Partition::readable_bytes(model::Offset from, model::Offset to) {
  if (from >= to) return 0;
  const uint64_t all = log_.bytes_between(from, high_watermark_);
  const uint64_t behind =
      to < high_watermark_ ? log_.bytes_between(to, high_watermark_) : 0;
  return all > behind ? all - behind : 1;
}

void Partition::after_commit(log::Segment& segment) {
  keeper_.on_commit();
  if (&segment == &log_.active() && segment.committed - segment.written >= config_.flush_bytes) {
    keeper_.flush();
  }
  keeper_.checkpoint(false);
  keeper_.seal_next();
  make_space();
  release_journal();
  touch_cache();
}

void Partition::answer_waiting() {
  while (!waiting_.empty() && waiting_.front().next_offset <= high_watermark_) {
    AppendRequest& request = *waiting_.front().request;
    waiting_.pop_front();
    const log::BatchView batch(request.batch);
    ++services_.metrics.appended_batches;
    services_.metrics.appended_records += static_cast<uint64_t>(batch.record_count());
    services_.metrics.appended_bytes += request.batch.size();
    request.log_start_offset = log_.start_offset();
    answer(request, ErrorCode::none);
  }
  if (duplicates_.empty()) return;
  std::erase_if(duplicates_, [&](const Waiting& waiting) {
    if (waiting.next_offset > high_watermark_) return false;
    answer(*waiting.request, ErrorCode::none);
    return true;
  });
}

void Partition::commit_failed() {
  parts_in_flight_ = 0;
  // What was submitted may or may not be on the disk: no answer can be right (RELIABILITY 2.5).
  for (auto* list : {&duplicates_}) {
    for (const Waiting& waiting : std::exchange(*list, {})) {
      waiting.request->outcome_unknown = true;
      answer(*waiting.request, ErrorCode::kafka_storage_error);
    }
  }
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    waiting.request->outcome_unknown = true;
    answer(*waiting.request, ErrorCode::kafka_storage_error);
  }
  fail_queued(ErrorCode::kafka_storage_error);
}

void Partition::make_room() {
  if (making_room_ || removed_ || log_.empty() || keeper_.has_unsealed()) return;
  making_room_ = true;
  if (keeper_.flushing() || keeper_.flush()) return;
  want_carry();
}

void Partition::want_carry() {
  carry_wanted_ = true;
  if (!services_.journal.failed()) services_.journal.mark_dirty(*this, 0);
}

void Partition::on_space(int error) {
  if (error != 0 && !log_.empty() && log_.active().full) {
    // A segment that is only old may well go on for a while.
    log_.active().full = false;
    no_roll_before_ = services_.io.clock.now() + kRollAgain_ns;
    if (!removed_) append_queued();
    return;
  }
  if (error != 0) return fail_queued(ErrorCode::kafka_storage_error);
  if (removed_) return;
  append_queued();
  make_space();
}

void Partition::on_flushed() {
  if (removed_ || services_.journal.failed()) return;
  const log::Segment& active = log_.active();
  if (making_room_ || carry_wanted_) {
    if (active.committed - active.written > config_.carry_bytes_max && keeper_.flush()) return;
    return want_carry();
  }
  // Bytes that were too many for the record waited for the flush to be over.
  if (active.gathered < active.end) services_.journal.mark_dirty(*this, 0);
}

void Partition::on_sealed() {
  // The old segment's bytes are in its file: its journal records can go once the rest is carried.
  making_room_ = false;
  if (removed_) return;
  if (log_.active().end > 0) want_carry();
  release_journal();
  start_.retire();
}

// A segment that rolled because of its age may have nothing behind it: then all there is lies in
// sealed files, and the journal need not keep anything for it.
void Partition::release_journal() {
  if (log_.active().end == 0 && !keeper_.has_unsealed()) services_.journal.release(*this);
}

void Partition::on_keeper_idle() {
  if (!removed_) start_.retire();
  tell_if_quiet();
}

void Partition::on_keeper_failed(int error) {
  if (removed_) return;
  services_.journal.fail(error);
  // What waits here for a file is known to nobody else.
  commit_failed();
}

void Partition::end_read() {
  ASSERT(readers_ > 0);
  --readers_;
  if (!removed_) {
    keeper_.seal_next();
    start_.retire();
  }
  tell_if_quiet();
}

void Partition::remove(QuietListener& listener) {
  ASSERT(!removed_);
  removed_ = true;
  quiet_listener_ = &listener;
  waiters_.on_change();
  keeper_.PrimerHook::unlink();
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    answer(*waiting.request, ErrorCode::unknown_topic_or_partition);
  }
  for (const Waiting& waiting : std::exchange(duplicates_, {})) {
    answer(*waiting.request, ErrorCode::unknown_topic_or_partition);
  }
  fail_queued(ErrorCode::unknown_topic_or_partition);
  start_.fail_waiting(ErrorCode::unknown_topic_or_partition);
  tell_if_quiet();
}

bool Partition::quiet() const {
  return parts_in_flight_ == 0 && readers_ == 0 && keeper_.idle() && start_.idle() &&
         queue_.empty() && waiting_.empty() && duplicates_.empty();
}

void Partition::tell_if_quiet() {
  // After a failure writes may still be on their way from this partition's memory.
  if (!removed_ || !quiet_listener_ || !quiet() || services_.journal.failed()) return;
  services_.journal.forget(*this);
  std::exchange(quiet_listener_, nullptr)->on_partition_quiet(*this);
}

void Partition::prepare_stop() {
  if (removed_ || log_.empty() || services_.journal.failed()) return;
  keeper_.prepare_stop();
}

void Partition::touch_cache() {
  auto& by_age = services_.tail_cache.by_age;
  base::TaggedHook<2>::unlink();
  by_age.push_back(*this);
  // Quiet partitions give back first; this one, the youngest, only when it is alone.
  while (services_.pool.used_bytes() > services_.tail_cache.budget_bytes && !by_age.empty()) {
    Partition& oldest = *by_age.pop_front();
    oldest.drop_cache();
    if (&oldest == this) break;
  }
}

void Partition::drop_cache() {
  if (log_.empty()) return;
  log::Segment& active = log_.active();
  active.buffer.drop_before(active.ledger.boundary_at_or_before(active.written));
}

}  // namespace weir::partition
