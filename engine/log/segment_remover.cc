#include "engine/log/segment_remover.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/logging.h"

namespace weir::log {

SegmentRemover::SegmentRemover(io::CoreIo& core, SegmentPool& pool)
    : core_(core), pool_(pool), cutter_(core), recycler_(core, pool) {
  op_.bind<&SegmentRemover::on_step>(*this);
  timer_.bind<&SegmentRemover::on_timer>(*this);
}

bool SegmentRemover::later(const Work& a, const Work& b) {
  return std::pair(a.due, a.number) > std::pair(b.due, b.number);
}

void SegmentRemover::remove(std::string directory, const SegmentName& name, uint64_t size,
                            io::Instant due, bool reusable) {
  queue_.push_back({due, next_number_++, std::move(directory), name, size, reusable});
  std::ranges::push_heap(queue_, later);
  if (stage_ == Stage::idle && !stopped_) core_.loop.timers().arm(timer_, queue_.front().due);
}

void SegmentRemover::stop() {
  stopped_ = true;
  queue_.clear();
  cutter_.stop();
  core_.loop.timers().cancel(timer_);
}

void SegmentRemover::on_timer() { begin(); }

void SegmentRemover::begin() {
  stage_ = Stage::idle;
  if (queue_.empty() || stopped_) return;
  if (queue_.front().due > core_.clock.now()) {
    return core_.loop.timers().arm(timer_, queue_.front().due);
  }
  std::ranges::pop_heap(queue_, later);
  work_ = std::move(queue_.back());
  queue_.pop_back();
  if (model::planted(model::Bug::cleaned_segment_before_directory_sync)) return let_go();
  stage_ = Stage::syncing_directory;
  core_.disk.sync_directory(op_, work_.directory.c_str());
}

void SegmentRemover::let_go() {
  if (work_.reusable && pool_.wants(work_.size)) return remove_file(Stage::removing_ledger);
  work_.reusable = false;
  stage_ = Stage::cutting;
  path_ = segment_file(work_.directory, work_.name, kLogSuffix);
  cutter_.start(path_, work_.size, op_);
}

// The ledger first: it must not outlive the file by whose name recovery finds both.
void SegmentRemover::remove_file(Stage stage) {
  stage_ = stage;
  path_ = segment_file(work_.directory, work_.name,
                       stage == Stage::removing_ledger ? kLedgerSuffix : kLogSuffix);
  core_.disk.remove(op_, path_.c_str());
}

void SegmentRemover::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::syncing_directory:
      if (result >= 0 && !stopped_) return let_go();
      if (result < 0 && result != -ENOENT) {
        base::log_warning("log", "files of a dead segment stay directory={} segment={} error={}",
                          work_.directory, work_.name.base_offset.value(), -result);
      }
      return begin();
    case Stage::cutting:
      // A stop leaves a shorter file, which is as dead as a whole one.
      if (stopped_) return begin();
      return remove_file(Stage::removing_ledger);
    case Stage::removing_ledger:
      if (!work_.reusable) return remove_file(Stage::removing_log);
      stage_ = Stage::recycling;
      path_ = segment_file(work_.directory, work_.name, kLogSuffix);
      return recycler_.start(work_.directory, path_, work_.size, op_);
    case Stage::recycling:
      if (result < 0 && result != -ENOENT) return remove_file(Stage::removing_log);
      return begin();
    case Stage::removing_log:
      // Its directory may have gone with the topic.
      if (result < 0 && result != -ENOENT) {
        base::log_warning("log", "cannot remove file={} error={}", path_, -result);
      }
      return begin();
    case Stage::idle: break;
  }
  UNREACHABLE("segment remover stage {}", static_cast<int>(stage_));
}

}  // namespace weir::log
