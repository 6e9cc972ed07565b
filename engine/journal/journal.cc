#include "engine/journal/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/model/planted.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::journal {
namespace {

// Growth writes this block of zeros again and again: no large buffer for it.
constexpr size_t kZeroBlock = 64 * 1024;
// What records without a choice of size, those that publish the tail, always find free.
constexpr uint64_t kSpaceForTail = 4 * io::kBlockSize;
// With less than this beside the reserve the ring stalls: nothing new goes in.
constexpr uint64_t kRoomMin = 4 * io::kBlockSize;
constexpr int64_t kGrowAgain_ns = 10'000'000'000;

}  // namespace

Journal::Journal(io::CoreIo& core, const Config& config)
    : core_(core), config_(config), size_(config.size_initial), grown_to_(config.size_initial) {
  ASSERT(config_.size_initial >= kRecordsBegin + 3 * config_.record_size_max,
         "journal of {} bytes cannot hold three records", config_.size_initial);
  ASSERT(config_.size_max >= config_.size_initial && config_.commits_in_flight_max > 0);
  for (uint32_t i = 0; i < config_.commits_in_flight_max; ++i) {
    free_.push_back(std::make_unique<Commit>(*this, config_.record_size_max));
  }
  turn_end_op_.bind<&Journal::on_turn_end>(*this);
  open_op_.bind<&Journal::on_open>(*this);
  frontier_timer_.bind<&Journal::on_frontier_timer>(*this);
  growth_write_.bind<&Journal::on_growth>(*this);
}

Journal::~Journal() { std::free(zeros_); }

void Journal::open(const std::string& path, const LogId& log_id, uint64_t generation,
                   io::Op& done) {
  path_ = path;
  log_id_ = log_id;
  generation_ = generation;
  open_done_ = &done;
  core_.disk.open(open_op_, path_.c_str(), {.direct = true, .locked = true});
}

void Journal::on_open(io::Op& op) {
  if (op.result() >= 0) file_ = io::FileId(op.result());
  core_.loop.post(*open_done_, op.result() < 0 ? op.result() : 0);
}

void Journal::mark_dirty(Source& source, uint64_t bytes) {
  ASSERT(!failed_);
  if (source.waiting_bytes_ == 0 && bytes > 0) ++waiting_sources_;
  source.waiting_bytes_ += bytes;
  waiting_bytes_ += bytes;
  if (!source.Source::DirtyHook::linked()) dirty_.push_back(source);
  schedule();
}

void Journal::set_needed(Source& source, uint64_t sequence) {
  ASSERT(sequence == 0 || sequence >= source.oldest_needed_);
  // Ascending order holds because a source only ever moves to the newest record of all.
  if (sequence == source.oldest_needed_) return;
  source.Source::NeedHook::unlink();
  source.oldest_needed_ = sequence;
  if (sequence != 0) needed_.push_back(source);
}

void Journal::release(Source& source) {
  if (source.oldest_needed_ == 0) return;
  set_needed(source, 0);
  note_carry(source, 0);
  if (!failed_) advance_tail();
}

void Journal::forget(Source& source) {
  forget_waiting(source);
  source.Source::DirtyHook::unlink();
  source.Source::NeedHook::unlink();
  source.oldest_needed_ = 0;
  note_carry(source, 0);
  advance_tail();
}

void Journal::schedule() {
  if (!turn_end_op_.armed()) core_.loop.at_turn_end(turn_end_op_);
}

void Journal::forget_waiting(Source& source) {
  if (source.waiting_bytes_ > 0) --waiting_sources_;
  waiting_bytes_ -= source.waiting_bytes_;
  source.waiting_bytes_ = 0;
}

// `bytes`, at most a block, is what a carry of the source would bring.
void Journal::note_carry(Source& source, uint64_t bytes) {
  carry_sources_ += bytes > 0 ? 1 : 0;
  carry_sources_ -= source.carry_bytes_ > 0 ? 1 : 0;
  carry_bytes_ += bytes - source.carry_bytes_;
  source.carry_bytes_ = static_cast<uint32_t>(bytes);
}

// Beside others a commit starts when much waits. A file pays for every durable write, however
// small: bytes spread thinly over many sources wait a little longer, and as a commit takes the
// oldest sources with all they have, a few of them fill it next time.
bool Journal::may_start() const {
  if (failed_ || free_.empty() || dirty_.empty()) return false;
  if (in_flight_.empty()) return true;
  if (waiting_bytes_ < config_.early_commit_bytes) return false;
  return waiting_bytes_ >= waiting_sources_ * 4 * config_.extent_threshold ||
         waiting_bytes_ >= 2 * config_.early_commit_bytes;
}

void Journal::on_turn_end(io::Op&) {
  while (may_start() && start_commit(false)) {
  }
  // A stalled journal goes on once a record has told recovery that old ones are not needed.
  if (frontier_wanted_ && !failed_ && in_flight_.empty() && !free_.empty()) {
    if (!start_commit(true)) frontier_wanted_ = false;
  }
  finish_drain();
}

// Space that is short goes to those who hold the oldest records: only they give any back.
void Journal::oldest_first() {
  base::IntrusiveList<Source, Source::DirtyHook> others;
  others.splice_back(dirty_);
  for (Source* source = needed_.empty() ? nullptr : &needed_.front(); source != nullptr;
       source = needed_.next(*source)) {
    if (!source->Source::DirtyHook::linked()) continue;
    source->Source::DirtyHook::unlink();
    dirty_.push_back(*source);
  }
  dirty_.splice_back(others);
}

void Journal::gather(Commit& commit) {
  if (commit.carry_only()) oldest_first();
  // A source that has more than fits goes to the back, so that the others get their turn.
  base::IntrusiveList<Source, Source::DirtyHook> full;
  while (Source* source = dirty_.pop_front()) {
    const bool all = source->contribute(commit);
    if (all) {
      forget_waiting(*source);
    } else {
      full.push_back(*source);
      if (!commit.carry_only() && !commit.room_inline(config_.extent_threshold)) break;
    }
  }
  dirty_.splice_back(full);
}

void Journal::go_on(Commit& commit, uint64_t room) {
  stalled_ = false;
  commit.set_carry_only(false);
  commit.set_size_limit(std::min(config_.record_size_max, room));
}

void Journal::stall(Commit& commit, uint64_t free) {
  if (!stalled_) ++metrics_.stalls;
  stalled_ = true;
  commit.set_carry_only(true);
  commit.set_size_limit(std::min(config_.record_size_max, free - std::min(free, kSpaceForTail)));
}

bool Journal::start_commit(bool frontier) {
  ASSERT(file_ != io::kNoFile);
  const uint64_t free = free_space();
  const bool publishes = !live_.empty() && live_.front().sequence < tail_sequence_;
  if (free < kSpaceForTail && !publishes) return false;
  Commit& commit = *free_.back();
  commit.reset();
  commit.set_echo(previous_entries_);
  commit.set_beside_others(!in_flight_.empty());
  const uint64_t room = free - std::min(free, reserve());
  room < kRoomMin ? stall(commit, free) : go_on(commit, room);
  if (room < config_.record_size_max) ask_for_room();
  if (!frontier) gather(commit);
  if (commit.empty() && !frontier && !commit.carry_only() && room < config_.record_size_max) {
    // There is room, but not for what waits.
    stall(commit, free);
    gather(commit);
  }
  if (commit.empty() && !frontier) {
    // Nothing to carry: only a record that publishes the tail can free what is not needed any more.
    publish_tail_if_stalled();
    return false;
  }

  for (const Part& part : commit.parts_) {
    const uint64_t older = part.kind == EntryKind::inline_data ? part.source->carry_bytes_ : 0;
    note_carry(*part.source, std::min<uint64_t>(older + part.end - part.inline_begin,
                                                io::kBlockSize));
  }
  const auto size = static_cast<uint32_t>(commit.pack());
  RecordHeader header{.log_id = log_id_, .generation = generation_, .sequence = next_sequence_};
  if (!place(size, header.position)) {
    UNREACHABLE("journal is full: {} of {} bytes live, record of {}", live_bytes_, size_, size);
  }
  header.size = size;
  header.previous_checksum = previous_checksum_;
  header.previous_position = previous_position_;
  header.previous_size = previous_size_;
  header.durable_sequence = durable_sequence_;
  header.tail_sequence = tail_sequence_;
  commit.seal(header);
  previous_checksum_ = commit.header_.checksum;
  previous_position_ = header.position;
  previous_size_ = size;
  previous_entries_ = commit.entries_;
  ++next_sequence_;
  head_ = header.position + size;
  live_.push_back({header.sequence, header.position, size});
  live_bytes_ += size;
  metrics_.record_bytes += size;
  metrics_.extents += commit.targets_.size();
  metrics_.extent_bytes += commit.extent_bytes_;
  if (frontier) ++metrics_.frontier_records;
  frontier_wanted_ = false;
  core_.loop.timers().cancel(frontier_timer_);

  commit.submitted_ns_ = core_.clock.now().ns;
  in_flight_.push_back(std::move(free_.back()));
  free_.pop_back();
  commit.submit(core_.disk, file_);
  if (model::planted(model::Bug::ack_before_flush)) {
    for (const Part& part : commit.parts_) part.source->committed(part);
    commit.parts_.clear();
  }
  grow_if_needed();
  return true;
}

// Enough for every source to carry what it has, entries, echoes and padding included: a ring that
// stalls can then free all the rest, in whatever order sources come.
uint64_t Journal::reserve() const {
  const uint64_t capacity = size_ - kRecordsBegin;
  // Sources that wait for a sealing come one by one: each rounds up a record of its own.
  const uint64_t each = kHeaderSize + 2 * kEntrySize + io::kBlockSize;
  const uint64_t carries = carry_bytes_ + (carry_sources_ + 1) * each + kSpaceForTail;
  return std::clamp(carries, capacity / 8, capacity / 2);
}

uint64_t Journal::free_space() const {
  const uint64_t capacity = size_ - kRecordsBegin;
  if (live_.empty()) return capacity;
  const uint64_t tail = live_.front().position;
  // What lies between the last record and the end is lost to a record that must wrap.
  const uint64_t behind = head_ > tail ? grown_to_ - head_ : 0;
  const uint64_t front = head_ > tail ? tail - kRecordsBegin : tail - head_;
  return std::max(behind, front);
}

bool Journal::place(uint32_t size, uint64_t& position) {
  const bool wrapped = !live_.empty() && head_ <= live_.front().position;
  if (wrapped) {
    position = head_;
    return head_ + size < live_.front().position;
  }
  if (head_ + size > size_) size_ = grown_to_;  // growth takes effect where the ring would wrap
  if (head_ + size <= size_) {
    position = head_;
    return true;
  }
  position = kRecordsBegin;
  return live_.empty() || kRecordsBegin + size < live_.front().position;
}

void Journal::commit_finished(Commit& commit) {
  if (commit.error_ != 0 && !model::planted(model::Bug::ignored_write_result)) fail(commit.error_);
  commit.finished_ = true;
  // Acks follow journal order: an earlier commit may still be on its way.
  while (!in_flight_.empty() && in_flight_.front()->finished_) {
    auto oldest = std::move(in_flight_.front());
    in_flight_.pop_front();
    if (!failed_) complete(*oldest);
    oldest->reset();
    free_.push_back(std::move(oldest));
  }
  if (failed_) return finish_drain();
  if (in_flight_.empty() && dirty_.empty() && durable_sequence_ > 0 && !frontier_wanted_ &&
      !live_.empty() && last_had_entries_) {
    core_.loop.timers().arm_after(frontier_timer_, config_.frontier_delay_ns);
  }
  schedule();
}

void Journal::complete(Commit& commit) {
  durable_sequence_ = commit.header_.sequence;
  last_had_entries_ = !commit.entries_.empty();
  ++metrics_.commits;
  const int64_t took_ns = core_.clock.now().ns - commit.submitted_ns_;
  metrics_.commit_latency_us.add(static_cast<uint64_t>(took_ns / 1000));
  while (!live_.empty() && live_.front().sequence < commit.header_.tail_sequence) {
    live_bytes_ -= live_.front().size;
    live_.pop_front();
  }
  // A source that goes away or lets go in between must not move the tail past what the others are
  // about to say they need.
  telling_ = true;
  for (const Part& part : commit.parts_) part.source->committed(part);
  telling_ = false;
  advance_tail();
}

void Journal::advance_tail() {
  if (telling_) return;
  // Records in flight are needed whatever they hold.
  uint64_t oldest = durable_sequence_ + 1;
  if (!needed_.empty()) oldest = std::min(oldest, needed_.front().oldest_needed_);
  tail_sequence_ = std::max(tail_sequence_, oldest);
  publish_tail_if_stalled();
  if (live_bytes_ > (size_ - kRecordsBegin) / 2) ask_for_room();
}

void Journal::publish_tail_if_stalled() {
  if (!stalled_ || live_.empty() || live_.front().sequence >= tail_sequence_) return;
  frontier_wanted_ = true;
  schedule();
}

void Journal::ask_for_room() {
  // Growing is cheaper than moving bytes early; the oldest quarter goes once the ring is
  // full-grown.
  grow_if_needed();
  if (live_.empty() || (grown_to_ > size_ && !stalled_)) return;
  const uint64_t last = live_[live_.size() / 4].sequence;
  auto* hook = needed_.empty() ? nullptr : &needed_.front();
  std::vector<Source*> asked;
  while (hook != nullptr && hook->oldest_needed_ <= last) {
    asked.push_back(hook);
    hook = needed_.next(*hook);
  }
  for (Source* source : asked) source->make_room();
}

void Journal::fail(int error) {
  if (failed_) return;
  failed_ = true;
  base::log_error("journal",
                  "write failed core={} file={} error=\"{}\": nothing more is acknowledged",
                  core_.index.value(), path_, std::strerror(error));
  core_.loop.timers().cancel(frontier_timer_);
  for (auto& commit : in_flight_) {
    for (const Part& part : commit->parts_) part.source->commit_failed();
  }
  while (Source* source = dirty_.pop_front()) source->commit_failed();
  waiting_bytes_ = 0;
  waiting_sources_ = 0;
  if (failure_op_ && !failure_op_->armed()) core_.loop.post(*failure_op_, -error);
}

void Journal::on_frontier_timer() {
  frontier_wanted_ = true;
  schedule();
}

void Journal::grow_if_needed() {
  const uint64_t capacity = size_ - kRecordsBegin;
  if (failed_ || growth_write_.armed() || grown_to_ >= config_.size_max) return;
  if (core_.clock.now() < no_growth_before_) return;
  if (live_bytes_ * 4 < capacity || grown_to_ > size_ + 2 * config_.growth_step) return;
  if (!zeros_) {
    zeros_ = base::allocate_aligned(io::kBlockSize, kZeroBlock);
    std::memset(zeros_, 0, kZeroBlock);
  }
  const uint64_t size = std::min(config_.growth_step, config_.size_max - grown_to_);
  growth_write_.pieces().clear();
  for (uint64_t done = 0; done < size; done += kZeroBlock) {
    growth_write_.pieces().push_back({zeros_, std::min<uint64_t>(kZeroBlock, size - done)});
  }
  growth_write_.start(core_.disk, file_, grown_to_, io::Durability::on_completion);
}

void Journal::on_growth(io::WholeWrite& write) {
  const int error = write.error();
  if (error != 0 && error != ENOSPC && error != EDQUOT && error != EFBIG) {
    fail(error);
    return finish_drain();
  }
  if (error != 0) {
    // A full disk leaves the ring as it is for now: smaller, but whole.
    base::log_warning("journal", "cannot grow core={} error=\"{}\"", core_.index.value(),
                      std::strerror(write.error()));
    no_growth_before_ = core_.clock.now() + kGrowAgain_ns;
    return finish_drain();
  }
  grown_to_ += write.size();
  ++metrics_.growths;
  grow_if_needed();
  schedule();
}

void Journal::drain(io::Op& done) {
  ASSERT(drain_done_ == nullptr);
  drain_done_ = &done;
  schedule();
}

void Journal::finish_drain() {
  if (!drain_done_ || !in_flight_.empty() || growth_write_.armed()) return;
  if (!failed_ && !dirty_.empty()) return;
  // What was acknowledged last is proved by one more record (L5).
  if (!failed_ && last_had_entries_ && start_commit(true)) return;
  core_.loop.timers().cancel(frontier_timer_);
  core_.loop.post(*std::exchange(drain_done_, nullptr), failed_ ? -EIO : 0);
}

void Journal::close(io::Op& done) {
  ASSERT(in_flight_.empty());
  core_.loop.timers().cancel(frontier_timer_);
  if (file_ == io::kNoFile) return core_.loop.post(done);
  core_.disk.close(done, std::exchange(file_, io::kNoFile));
}

}  // namespace weir::journal
