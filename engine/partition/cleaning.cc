#include "engine/partition/cleaning.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "engine/partition/partition.h"
#include "io/base/assert.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::partition {
namespace {

using base::operator""_ms;

// Longest rest for the sake of others; a limit on bytes may ask for more.
constexpr int64_t kRestMax_ns = 50_ms;
constexpr double kSecond_ns = 1e9;

}  // namespace

Cleaning::Cleaning(Services& services, const CleanerConfig& config)
    : services_(services),
      config_(config),
      scanner_(services.io, services.pool),
      file_(services.io, services.pool) {
  op_.bind<&Cleaning::on_step>(*this);
  timer_.bind<&Cleaning::on_timer>(*this);
}

void Cleaning::start(Partition& partition, const log::RetentionTime& now, bool age_only,
                     io::Op& done) {
  ASSERT(stage_ == Stage::idle);
  partition_ = &partition;
  partition.begin_read();
  done_ = &done;
  now_ = now;
  age_only_ = age_only;
  ending_ = false;
  outcome_ = Outcome::nothing;
  phase_ = Phase::mapping;
  mapped_all_ = false;
  runs_.clear();
  clean_end_ = partition.log().clean_end();
  collect_inputs(now);
  if (!secret_) secret_ = {services_.io.random.next(), services_.io.random.next()};
  const auto end = inputs_.empty() ? clean_end_ : inputs_.back().next_offset;
  const auto memory =
      static_cast<size_t>(config_.memory_bytes) / services_.io.core_count;
  compaction_.begin(partition.compaction_input(now), *secret_,
                    static_cast<uint64_t>(std::max<int64_t>(0, end - clean_end_)), memory);
  input_ = 0;
  while (input_ < inputs_.size() && inputs_[input_].next_offset <= clean_end_) ++input_;
  rest(0);
}

void Cleaning::stop() {
  stopped_ = true;
  end_rest();
}

void Cleaning::end_rest() {
  if (!timer_.armed()) return;
  services_.io.loop.timers().cancel(timer_);
  services_.io.loop.post(op_);
}

void Cleaning::collect_inputs(const log::RetentionTime& now) {
  inputs_.clear();
  const model::Offset end = partition_->find_cleanable(now).end;
  const auto& segments = partition_->log().segments();
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    const model::Offset next = segments[i + 1]->base_offset;
    if (next > end) break;
    ++segments[i]->users;
    inputs_.push_back({segments[i].get(), next});
  }
}

void Cleaning::drop_inputs(size_t kept) {
  for (size_t i = kept; i < inputs_.size(); ++i) --inputs_[i].segment->users;
  inputs_.resize(std::min(kept, inputs_.size()));
}

bool Cleaning::must_end() const {
  return stopped_ || partition_->removed() || services_.journal.failed() ||
         !partition_->settings().compact;
}

// Gives the core and the disk to others before the next turn.
void Cleaning::rest(uint64_t bytes) {
  stage_ = Stage::resting;
  const io::Instant now = services_.io.clock.now();
  const int64_t worked = now - turn_began_;
  const uint64_t commits = services_.journal.metrics().commits;
  const bool busy = commits != std::exchange(commits_seen_, commits);
  int64_t wait = bytes > 0 && busy ? std::min(worked, kRestMax_ns) : 0;
  const double rate = config_.bytes_per_second / services_.io.core_count;
  const double due = static_cast<double>(bytes) / rate * kSecond_ns - static_cast<double>(worked);
  constexpr double kHour_ns = 3600 * kSecond_ns;
  if (bytes > 0 && due > 0) wait = std::max(wait, static_cast<int64_t>(std::min(due, kHour_ns)));
  if (wait > 0) return services_.io.loop.timers().arm_after(timer_, wait);
  services_.io.loop.post(op_);
}

void Cleaning::go_on() {
  ASSERT(stage_ == Stage::resting);
  turn_began_ = services_.io.clock.now();
  if (must_end()) return end(Outcome::nothing);
  if (file_.is_open() && file_.wants_write()) {
    stage_ = Stage::writing;
    return file_.write(op_);
  }
  if (!scanner_.is_open()) return next_input();
  stage_ = Stage::reading;
  scanner_.read(op_);
}

void Cleaning::next_input() {
  const bool mapping = phase_ == Phase::mapping;
  if (mapping && (mapped_all_ || input_ == inputs_.size())) return end_mapping();
  if (!mapping && !file_.is_open()) return begin_run();
  if (!mapping && input_ == runs_[run_].last) {
    stage_ = Stage::committing;
    return file_.commit(op_);
  }
  stage_ = Stage::opening;
  scanner_.open(partition_->log().directory(), *inputs_[input_].segment, op_);
}

void Cleaning::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::resting: return go_on();
    case Stage::opening:
      if (result < 0) return fail(result, true);
      return on_opened();
    case Stage::reading:
      if (result < 0) return fail(result, true);
      return on_window();
    case Stage::closing:
      ++input_;
      return rest(0);
    case Stage::starting_file:
      if (result < 0) return fail(result, false);
      return rest(0);
    case Stage::writing:
      if (result < 0) return fail(result, false);
      return rest(log::CleanedFile::kBufferSize);
    case Stage::committing:
      if (result < 0) return fail(result, false);
      return on_committed();
    case Stage::ending_scan:
    case Stage::abandoning: return wind_up();
    case Stage::idle: break;
  }
  UNREACHABLE("cleaning stage {}", static_cast<int>(stage_));
}

void Cleaning::on_opened() {
  if (phase_ == Phase::mapping && !begin_mapping_input()) {
    mapped_all_ = true;
    stage_ = Stage::closing;
    return scanner_.close(op_);
  }
  rest(0);
}

// False: this segment is too young.
bool Cleaning::begin_mapping_input() {
  log::Segment& segment = *inputs_[input_].segment;
  const auto& groups = scanner_.ledger().groups();
  const PartitionSettings& settings = partition_->settings();
  if (segment.first_timestamp < 0 && !groups.empty()) {
    // Where nobody gave a time the last append stands for it: it is not asked for again.
    const int64_t appended = now_.wall_ms - (now_.instant - segment.appended) / 1'000'000;
    const int64_t first = groups.front().max_timestamp;
    segment.first_timestamp = std::max<int64_t>(0, first < 0 ? appended : first);
  }
  if (std::exchange(age_only_, false) &&
      now_.wall_ms - segment.first_timestamp <= settings.max_compaction_lag_ms) {
    return false;
  }
  const int64_t lag = settings.min_compaction_lag_ms;
  return lag <= 0 || scanner_.ledger().max_timestamp() <= now_.wall_ms - lag;
}

void Cleaning::on_window() {
  const auto bytes = scanner_.bytes();
  if (bytes.empty()) {
    stage_ = Stage::closing;
    return scanner_.close(op_);
  }
  services_.metrics.cleaner_bytes_read += bytes.size();
  phase_ == Phase::mapping ? map_window(bytes) : filter_window(bytes);
  if (mapped_all_ && phase_ == Phase::mapping) {
    stage_ = Stage::closing;
    return scanner_.close(op_);
  }
  rest(bytes.size());
}

void Cleaning::map_window(std::span<const std::byte> bytes) {
  while (!bytes.empty() && !mapped_all_) {
    const log::BatchView batch(bytes);
    mapped_all_ = !compaction_.map(batch.bytes());
    bytes = bytes.subspan(batch.size());
  }
}

void Cleaning::filter_window(std::span<const std::byte> bytes) {
  const model::Offset end = inputs_[runs_[run_].last - 1].next_offset;
  while (!bytes.empty()) {
    const log::BatchView batch(bytes);
    const auto kept = compaction_.filter(batch.bytes(), batch.next_offset() == end);
    if (!kept.empty()) file_.add(kept);
    bytes = bytes.subspan(batch.size());
  }
}

void Cleaning::end_mapping() {
  const model::Offset mapped_end = compaction_.mapped_end();
  if (mapped_end <= clean_end_) return end(Outcome::nothing);
  const auto behind = std::ranges::find_if(inputs_, [&](const Input& input) {
    return input.segment->base_offset >= mapped_end;
  });
  drop_inputs(static_cast<size_t>(behind - inputs_.begin()));
  plan_runs();
  phase_ = Phase::filtering;
  run_ = 0;
  begin_run();
}

void Cleaning::plan_runs() {
  const uint64_t size_max = partition_->settings().segment_bytes;
  uint64_t size = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const log::Segment& segment = *inputs_[i].segment;
    const bool fits = !runs_.empty() && size + segment.end <= size_max &&
                      inputs_[i].next_offset - inputs_[runs_.back().first].segment->base_offset <=
                          log::kSegmentSpanMax;
    if (!fits) {
      runs_.push_back({i, i});
      size = 0;
    }
    runs_.back().last = i + 1;
    size += segment.end;
  }
}

void Cleaning::begin_run() {
  const Run& run = runs_[run_];
  const model::Offset next = inputs_[run.last - 1].next_offset;
  // The map speaks for later runs, too: no key is left twice below the end of this one.
  const model::Offset clean = std::min(compaction_.mapped_end(), next);
  input_ = run.first;
  compaction_.void_markers().clear();
  stage_ = Stage::starting_file;
  file_.start(partition_->log().directory(),
              log::SegmentName(inputs_[run.first].segment->base_offset, next, clean,
                               partition_->next_pass()),
              op_);
}

void Cleaning::on_committed() {
  auto segment = file_.take_segment();
  if (partition_->removed()) return end(Outcome::nothing);  // its files go with the others
  segment->first_timestamp = inputs_[runs_[run_].first].segment->first_timestamp;
  partition_->replace_segments(std::move(segment), compaction_.void_markers());
  if (++run_ == runs_.size()) return end(Outcome::cleaned);
  rest(0);
}

void Cleaning::fail(int32_t result, bool reading) {
  const bool damage = reading && result == -EBADMSG;
  if (damage) inputs_[input_].segment->damaged = true;
  const bool full = lacks_resource(-result) && !file_.in_doubt();
  const Outcome outcome = damage ? Outcome::damaged : full ? Outcome::no_room : Outcome::failed;
  if (!partition_->removed()) {
    base::log_error("partition", "compaction given up directory={} {} error={}",
                    partition_->log().directory(),
                    damage             ? "a segment is damaged"
                    : full             ? "no room"
                    : file_.in_doubt() ? "its end is in doubt until the next start"
                                       : "the disk failed",
                    -result);
  }
  if (full) services_.segment_pool.on_no_room();
  ++services_.metrics.cleaner_failed;
  end(outcome);
}

void Cleaning::end(Outcome outcome) {
  outcome_ = outcome;
  wind_up();
}

void Cleaning::wind_up() {
  if (scanner_.is_open()) {
    stage_ = Stage::ending_scan;
    return scanner_.close(op_);
  }
  if (file_.is_open()) {
    stage_ = Stage::abandoning;
    return file_.abandon(op_);
  }
  count();
  drop_inputs(0);
  compaction_.end();
  stage_ = Stage::idle;
  services_.io.loop.post(*std::exchange(done_, nullptr));
  std::exchange(partition_, nullptr)->end_read();
}

void Cleaning::count() {
  Metrics& metrics = services_.metrics;
  metrics.cleaner_bytes_written += compaction_.counts().bytes_written;
  if (outcome_ != Outcome::cleaned) return;
  ++metrics.cleaner_passes;
  metrics.cleaner_records_removed += compaction_.counts().records_removed;
  base::log_info("partition", "compacted directory={} clean_end={} records={} removed={} bytes={} "
                              "left={}",
                 partition_->log().directory(), compaction_.mapped_end().value(),
                 compaction_.counts().records_read, compaction_.counts().records_removed,
                 compaction_.counts().bytes_read, compaction_.counts().bytes_written);
}

}  // namespace weir::partition
