#include "engine/partition/segment_keeper.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/log/file_names.h"
#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::partition {
namespace {

using base::operator""_MiB;

// What recovery may have to walk over per partition when the ledger or the snapshot lags behind.
constexpr uint64_t kCheckpointInterval = 32_MiB;
constexpr uint64_t kFlushMax = 4_MiB;
constexpr int64_t kSnapshotAgain_ns = 1'000'000'000;

bool lacks_room(int error) { return error == ENOSPC || error == EDQUOT; }

}  // namespace

bool lacks_resource(int error) {
  return lacks_room(error) || error == EMFILE || error == ENFILE || error == ENOMEM ||
         error == EWOULDBLOCK;
}

SegmentKeeper::SegmentKeeper(Services& services, log::Log& log, ProducerState& producers,
                             Owner& owner)
    : services_(services),
      log_(log),
      producers_(producers),
      owner_(owner),
      maker_(services.io),
      sealer_(services.io) {
  space_op_.bind<&SegmentKeeper::on_space_step>(*this);
  prime_write_.bind<&SegmentKeeper::on_primed>(*this);
  flush_write_.bind<&SegmentKeeper::on_flush>(*this);
  seal_op_.bind<&SegmentKeeper::on_seal>(*this);
  checkpoint_op_.bind<&SegmentKeeper::on_checkpoint_step>(*this);
  checkpoint_write_.bind<&SegmentKeeper::on_checkpoint_write>(*this);
}

void SegmentKeeper::open_active() {
  ASSERT(space_stage_ == SpaceStage::idle && !log_.empty());
  space_stage_ = SpaceStage::opening;
  path_ = log::segment_file(log_.directory(), log_.active().base_offset, log::kLogSuffix);
  checkpointed_ = log_.active().written;
  services_.io.disk.open(space_op_, path_.c_str(),
                         {.create = true, .direct = true, .locked = true});
}

void SegmentKeeper::make_space(size_t size, int64_t offsets, uint64_t segment_size_max) {
  ASSERT(space_stage_ == SpaceStage::idle);
  if (!log_.empty() && log_.active().file == io::kNoFile) return open_active();
  space_size_ = size;
  space_offsets_ = offsets;
  space_segment_max_ = segment_size_max;
  if (!uses_reserve_ && !services_.reserve.plenty()) {
    space_stage_ = SpaceStage::refusing;
    return services_.io.loop.post(space_op_, -ENOSPC);
  }
  if (log_.empty() || !log_.fits_segment(size, offsets, segment_size_max)) {
    return make_segment(size);
  }
  space_stage_ = SpaceStage::growing;
  log::Segment& active = log_.active();
  const uint64_t needed = base::round_up(active.end + size, io::kBlockSize);
  const uint64_t ahead = active.allocated + log::allocation_step(active.allocated);
  grow_to_ = std::min(ahead, base::round_up(segment_size_max, io::kBlockSize));
  grow_to_ = barely_ ? needed : std::max(needed, base::round_up(grow_to_, io::kBlockSize));
  services_.io.disk.allocate(space_op_, active.file, active.allocated,
                             grow_to_ - active.allocated);
}

// A file from the pool should not be much larger than what the segment before came to: a log that
// rolls by age, or has just begun, needs no gigabyte.
void SegmentKeeper::make_segment(size_t size) {
  space_stage_ = SpaceStage::making;
  std::optional<log::SegmentPool::Spare> spare;
  if (!log_.empty()) {
    const uint64_t size_max = std::max<uint64_t>(2 * log_.active().end, io::kBlockSize);
    spare = services_.segment_pool.take(size, size_max);
  }
  maker_.start(services_.topics_directory, log_.directory(), directory_is_new_, log_.end_offset(),
               size, space_op_, std::move(spare));
}

// Tools that know nothing of journals may read the file then, to its end.
void SegmentKeeper::trim_for_stop() {
  if (!stopped_ || stopping_ || log_.empty() || space_stage_ != SpaceStage::idle) return;
  log::Segment& active = log_.active();
  const uint64_t padded = base::round_up(active.end, io::kBlockSize);
  if (active.file == io::kNoFile || !active.reused || active.allocated <= padded) return;
  active.reused = false;
  active.allocated = padded;
  space_stage_ = SpaceStage::trimming;
  services_.io.disk.truncate(space_op_, active.file, padded);
}

void SegmentKeeper::allocate_ahead(uint64_t segment_size_max) {
  if (space_stage_ != SpaceStage::idle || log_.empty()) return;
  const log::Segment& active = log_.active();
  const uint64_t left = active.allocated - active.end;
  if (active.allocated >= segment_size_max || left > active.allocated / 2) return;
  make_space(left + 1, 0, segment_size_max);
}

void SegmentKeeper::on_space_step(io::Op& op) {
  const SpaceStage stage = std::exchange(space_stage_, SpaceStage::idle);
  const int32_t result = op.result();
  // No room is needed any more, and a file that stayed longer does no harm.
  if (stage == SpaceStage::trimming) return tell_idle();
  if (stage == SpaceStage::asking && result >= 0) {
    return make_space(space_size_, space_offsets_, space_segment_max_);
  }
  if (result < 0) {
    if (find_room_elsewhere(stage, -result)) return;
    barely_ = false;
    // Nothing was submitted, so "no space" is a definite answer; a device that fails is not asked
    // again.
    lacks_resource(-result) ? owner_.on_space(-result) : owner_.on_keeper_failed(-result);
    return tell_idle();
  }
  barely_ = false;
  switch (stage) {
    case SpaceStage::opening:
      log_.active().file = io::FileId(result);
      break;
    case SpaceStage::making: {
      directory_is_new_ = false;
      log::Segment& made = log_.roll(maker_.file(), maker_.allocated());
      made.reused = maker_.reused();
      if (made.reused) {
        made.primed = made.allocated;
        ++services_.metrics.segments_reused;
      }
      if (model::planted(model::Bug::aborted_index_dropped_at_roll)) {
        producers_.transactions().forget_before(log_.end_offset());
      }
      checkpointed_ = 0;
      break;
    }
    case SpaceStage::growing:
      log_.active().allocated = grow_to_;
      break;
    case SpaceStage::refusing:
    case SpaceStage::asking:
    case SpaceStage::priming:
    case SpaceStage::trimming:
    case SpaceStage::idle: UNREACHABLE("no space step was asked for");
  }
  owner_.on_space(0);
  seal_next();
  trim_for_stop();
  tell_idle();
}

// A full disk may have files in the pool, room for what is needed just now, and the reserve for
// what must go on.
bool SegmentKeeper::find_room_elsewhere(SpaceStage stage, int error) {
  if (stage == SpaceStage::refusing || stage == SpaceStage::asking) return false;
  if (lacks_room(error)) {
    if (!services_.segment_pool.empty()) {
      space_stage_ = SpaceStage::asking;
      services_.segment_pool.give(space_op_);
      return true;
    }
    if (stage == SpaceStage::growing && !barely_) {
      barely_ = true;
      make_space(space_size_, space_offsets_, space_segment_max_);
      return true;
    }
    if (uses_reserve_) {
      space_stage_ = SpaceStage::asking;
      services_.reserve.give(space_op_);
      return true;
    }
    services_.reserve.on_no_room();
    return false;
  }
  base::log_error("partition", "no room for log directory={} error={}", log_.directory(), error);
  return false;
}

void SegmentKeeper::note_extent(uint64_t size, io::Instant now) {
  const Config& config = services_.primer.config();
  if (now - burst_seen_ > config.prime_quiet_ns) burst_bytes_ = 0;
  burst_seen_ = now;
  burst_bytes_ += size;
  if (burst_bytes_ >= config.prime_burst_min) services_.primer.add(*this);
}

bool SegmentKeeper::prime(std::span<const std::byte> zeros) {
  if (space_stage_ != SpaceStage::idle || stopping_ || log_.empty()) return false;
  log::Segment& active = log_.active();
  if (active.file == io::kNoFile || active.full) return false;
  const uint64_t ahead = std::min(
      burst_bytes_, static_cast<uint64_t>(services_.primer.config().prime_bytes_max));
  const uint64_t begin = std::max(active.primed, base::round_up(active.end, io::kBlockSize));
  const uint64_t stop = base::round_down(std::min(active.end + ahead, active.allocated),
                                         io::kBlockSize);
  if (begin >= stop) return false;
  const uint64_t size = std::min<uint64_t>(zeros.size(), stop - begin);
  space_stage_ = SpaceStage::priming;
  active.primed = begin + size;
  // No append may go where zeros are on their way.
  grow_to_ = std::exchange(active.allocated,
                           model::planted(model::Bug::zeros_over_appends) ? active.allocated
                                                                          : begin);
  prime_write_.pieces().assign(1, {zeros.data(), size});
  prime_write_.start(services_.io.disk, active.file, begin, io::Durability::background);
  return true;
}

void SegmentKeeper::on_primed(io::WholeWrite& write) {
  space_stage_ = SpaceStage::idle;
  log_.active().allocated = grow_to_;
  services_.primer.on_piece(*this, write.size());
  // Blocks that are allocated lack no space; a file system may see that differently.
  if (write.error() != 0 && !lacks_resource(write.error())) {
    owner_.on_keeper_failed(write.error());
    return tell_idle();
  }
  owner_.on_space(0);
  seal_next();
  trim_for_stop();
  tell_idle();
}

bool SegmentKeeper::flush() {
  if (log_.empty() || flushing()) return false;
  log::Segment& active = log_.active();
  // An extent on its way moves `written` itself.
  if (active.submitted > active.written) return false;
  const bool with_tail = stopping_ && active.committed == active.end;
  const uint64_t stop = with_tail ? active.buffer.pad_to_block()
                                  : base::round_down(active.committed, io::kBlockSize);
  if (active.file == io::kNoFile || stop <= active.written) return false;
  flush_end_ = std::min(stop, active.written + kFlushMax);
  flush_segment_ = &active;
  active.submitted = flush_end_;
  flush_write_.pieces().clear();
  active.buffer.slices(active.written, flush_end_, flush_write_.pieces());
  services_.metrics.flushed_bytes += flush_end_ - active.written;
  flush_write_.start(services_.io.disk, active.file, active.written,
                     io::Durability::on_completion);
  return true;
}

void SegmentKeeper::on_flush(io::WholeWrite& write) {
  if (write.error() != 0) {
    owner_.on_keeper_failed(write.error());
    return tell_idle();
  }
  // The segment may have been rolled meanwhile; it is not sealed before this.
  log::Segment& segment = *std::exchange(flush_segment_, nullptr);
  // A last partial block is in the file for whoever reads that; the journal answers for it.
  segment.written = std::min(flush_end_, base::round_down(segment.end, io::kBlockSize));
  segment.submitted = segment.written;
  owner_.on_flushed();
  if (stopping_) {
    stopping_ = flush_end_ < segment.end;
    flush();
    trim_for_stop();
  }
  checkpoint(false);
  seal_next();
  tell_idle();
}

void SegmentKeeper::prepare_stop() {
  stopping_ = stopped_ = true;
  flush();
  checkpoint(true);
  trim_for_stop();
}

bool SegmentKeeper::has_unsealed() const {
  const auto& segments = log_.segments();
  return segments.size() > 1 && !segments[segments.size() - 2]->sealed;
}

void SegmentKeeper::seal_next() {
  if (checkpoint_stage_ == CheckpointStage::awaiting_commit && has_unsealed()) {
    // The commits it waits for may need the journal space that only sealing gives back.
    checkpoint_stage_ = CheckpointStage::idle;
    snapshot_bytes_.clear();
  }
  if (sealing_ || flushing() || checkpoint_stage_ != CheckpointStage::idle) return;
  for (const auto& segment : log_.segments()) {
    if (segment->sealed) continue;
    if (segment.get() == &log_.active() || segment->committed != segment->end ||
        segment->file == io::kNoFile || segment->file_readers > 0) {
      return;
    }
    sealing_ = segment.get();
    ++sealing_->users;
    return sealer_.start(log_.directory(), *sealing_, seal_op_);
  }
}

void SegmentKeeper::on_seal(io::Op& op) {
  log::Segment& segment = *std::exchange(sealing_, nullptr);
  --segment.users;
  if (op.result() < 0) {
    owner_.on_keeper_failed(-op.result());
    return tell_idle();
  }
  segment.buffer.clear();
  ++services_.metrics.segments_sealed;
  owner_.on_sealed();
  checkpoint(true);
  seal_next();
  tell_idle();
}

void SegmentKeeper::checkpoint(bool force) {
  if (checkpoint_stage_ != CheckpointStage::idle || sealing_ || log_.empty() ||
      services_.journal.failed()) {
    return;
  }
  log::Segment& active = log_.active();
  if (active.file == io::kNoFile) return;
  if (!force && active.written < checkpointed_ + kCheckpointInterval) return;
  checkpointed_ = active.written;
  checkpoint_segment_ = &active;
  snapshot_failed_ = snapshot_outdated_ = false;
  snapshot_bytes_.clear();
  snapshot_offset_ = log_.end_offset();
  producers_.transactions().forget_before(log_.start_offset());
  snapshot_bytes_ = producers_.encode(snapshot_offset_, log_.epochs());
  const uint64_t durable_end = active.written;
  checkpoint_bytes_ = active.ledger.encode_unwritten(force, durable_end, checkpoint_groups_);
  if (checkpoint_bytes_.empty()) return snapshot_when_committed();
  checkpoint_stage_ = CheckpointStage::opening_ledger;
  checkpoint_path_ =
      log::segment_file(log_.directory(), active.base_offset, log::kLedgerSuffix);
  services_.io.disk.open(checkpoint_op_, checkpoint_path_.c_str(), {.create = true});
}

bool SegmentKeeper::snapshot_reaches(model::Offset offset) {
  if (snapshotted_ >= offset) return true;
  // Without room for it the window against duplicates shrinks to what a crash leaves.
  if (std::exchange(snapshot_failed_, false)) return true;
  if (services_.io.clock.now() >= no_snapshot_before_) checkpoint(true);
  return false;
}

// Room may never come, and dead files are what gives it; whatever else is short comes back.
void SegmentKeeper::note_no_snapshot(int error) {
  snapshot_failed_ = lacks_room(error);
  if (snapshot_failed_) services_.segment_pool.on_no_room();
  else no_snapshot_before_ = services_.io.clock.now() + kSnapshotAgain_ns;
}

bool SegmentKeeper::snapshot_holds(model::Offset offset) {
  if (snapshotted_ >= offset) return true;
  checkpoint(true);
  return false;
}

void SegmentKeeper::forget_snapshot() {
  snapshotted_ = model::kNoOffset;
  snapshot_outdated_ = checkpoint_stage_ != CheckpointStage::idle;
}

void SegmentKeeper::on_commit() {
  if (checkpoint_stage_ == CheckpointStage::awaiting_commit) snapshot_when_committed();
}

// A snapshot must never be ahead of the log: it waits until what it speaks of is durable.
void SegmentKeeper::snapshot_when_committed() {
  if (snapshot_bytes_.empty()) return checkpoint_over();
  if (owner_.committed_offset() < snapshot_offset_ &&
      !model::planted(model::Bug::snapshot_newer_than_log)) {
    checkpoint_stage_ = CheckpointStage::awaiting_commit;
    // Whoever waited for the ledger to be written hears of nothing else.
    seal_next();
    return tell_idle();
  }
  checkpoint_stage_ = CheckpointStage::opening_snapshot;
  checkpoint_final_path_ =
      fmt::format("{}/{}", log_.directory(), log::kProducerSnapshotName);
  checkpoint_path_ = checkpoint_final_path_ + ".new";
  services_.io.disk.open(checkpoint_op_, checkpoint_path_.c_str(), {.create = true});
}

void SegmentKeeper::on_checkpoint_step(io::Op& op) {
  const int32_t result = op.result();
  // Derived data: without it recovery reads more, nothing is lost.
  if (result < 0) {
    note_no_snapshot(-result);
    return checkpoint_over();
  }
  switch (checkpoint_stage_) {
    case CheckpointStage::opening_ledger: {
      checkpoint_file_ = io::FileId(result);
      checkpoint_stage_ = CheckpointStage::writing_ledger;
      const log::Ledger& ledger = checkpoint_segment_->ledger;
      checkpoint_write_.pieces().assign(1, {checkpoint_bytes_.data(), checkpoint_bytes_.size()});
      return checkpoint_write_.start(services_.io.disk, checkpoint_file_,
                                     ledger.written() == 0 ? 0 : ledger.file_end(),
                                     io::Durability::none);
    }
    case CheckpointStage::closing_ledger: return snapshot_when_committed();
    case CheckpointStage::opening_snapshot:
      checkpoint_file_ = io::FileId(result);
      checkpoint_stage_ = CheckpointStage::writing_snapshot;
      checkpoint_write_.pieces().assign(1, {snapshot_bytes_.data(), snapshot_bytes_.size()});
      return checkpoint_write_.start(services_.io.disk, checkpoint_file_, 0,
                                     io::Durability::on_completion);
    case CheckpointStage::closing_snapshot:
      if (snapshot_bytes_.empty()) return checkpoint_over();
      checkpoint_stage_ = CheckpointStage::renaming_snapshot;
      return services_.io.disk.rename(checkpoint_op_, checkpoint_path_.c_str(),
                                      checkpoint_final_path_.c_str());
    case CheckpointStage::renaming_snapshot:
      if (!std::exchange(snapshot_outdated_, false)) snapshotted_ = snapshot_offset_;
      return checkpoint_over();
    case CheckpointStage::writing_ledger:
    case CheckpointStage::writing_snapshot:
    case CheckpointStage::awaiting_commit:
    case CheckpointStage::idle: break;
  }
  UNREACHABLE("checkpoint stage {}", static_cast<int>(checkpoint_stage_));
}

void SegmentKeeper::on_checkpoint_write(io::WholeWrite& write) {
  if (write.error() != 0) {
    // On a full disk recovery reads more; half a snapshot must not replace a whole one.
    if (checkpoint_stage_ == CheckpointStage::writing_snapshot) {
      snapshot_bytes_.clear();
      note_no_snapshot(write.error());
    } else if (lacks_room(write.error())) {
      services_.segment_pool.on_no_room();
    }
    if (!lacks_resource(write.error())) owner_.on_keeper_failed(write.error());
  } else if (checkpoint_stage_ == CheckpointStage::writing_ledger) {
    checkpoint_segment_->ledger.mark_written(checkpoint_groups_);
  }
  checkpoint_stage_ = checkpoint_stage_ == CheckpointStage::writing_ledger
                          ? CheckpointStage::closing_ledger
                          : CheckpointStage::closing_snapshot;
  services_.io.disk.close(checkpoint_op_, std::exchange(checkpoint_file_, io::kNoFile));
}

void SegmentKeeper::checkpoint_over() {
  checkpoint_stage_ = CheckpointStage::idle;
  checkpoint_bytes_.clear();
  snapshot_bytes_.clear();
  seal_next();
  tell_idle();
}

bool SegmentKeeper::idle() const {
  return space_stage_ == SpaceStage::idle && !flushing() && !sealing_ &&
         (checkpoint_stage_ == CheckpointStage::idle ||
          checkpoint_stage_ == CheckpointStage::awaiting_commit);
}

void SegmentKeeper::tell_idle() {
  if (idle()) owner_.on_keeper_idle();
}

}  // namespace weir::partition
