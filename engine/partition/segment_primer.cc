#include "engine/partition/segment_primer.h"

#include <algorithm>

#include "engine/partition/segment_keeper.h"
#include "io/base/huge_pages.h"

namespace weir::partition {

using base::operator""_ms;

SegmentPrimer::SegmentPrimer(io::CoreIo& core, const journal::Journal& journal,
                             const Config& config, Metrics& metrics)
    : core_(core), journal_(journal), config_(config), metrics_(metrics) {
  timer_.bind<&SegmentPrimer::on_timer>(*this);
}

SegmentPrimer::~SegmentPrimer() {
  while (waiting_.pop_front()) {
  }
  give_memory_back();
}

void SegmentPrimer::add(SegmentKeeper& keeper) {
  if (stopped_ || keeper.PrimerHook::linked()) return;
  waiting_.push_back(keeper);
  if (!in_piece_ && !timer_.armed()) {
    core_.loop.timers().arm_after(timer_, config_.prime_quiet_ns);
  }
}

// Nothing was committed since the last look, and nothing waits to be.
bool SegmentPrimer::quiet() {
  const uint64_t commits = journal_.metrics().commits;
  const bool none = commits == commits_seen_;
  commits_seen_ = commits;
  return none && journal_.quiet();
}

void SegmentPrimer::on_timer() {
  if (stopped_ || journal_.failed()) return;
  if (!quiet()) {
    give_memory_back();
    if (!waiting_.empty()) core_.loop.timers().arm_after(timer_, config_.prime_quiet_ns);
    return;
  }
  if (zeros_ == nullptr) zeros_ = base::map_huge(config_.prime_piece_bytes);
  if (zeros_ == nullptr) return;
  while (SegmentKeeper* keeper = waiting_.pop_front()) {
    started_ = core_.clock.now();
    in_piece_ = keeper->prime({zeros_, config_.prime_piece_bytes});
    if (in_piece_) return;
  }
  give_memory_back();
}

void SegmentPrimer::on_piece(SegmentKeeper& keeper, uint64_t size) {
  in_piece_ = false;
  metrics_.primed_bytes += size;
  if (stopped_) return;
  if (!keeper.PrimerHook::linked()) waiting_.push_back(keeper);
  // As long a pause as the write took.
  const int64_t took_ns = core_.clock.now() - started_;
  core_.loop.timers().arm_after(timer_, std::max<int64_t>(took_ns, 1_ms));
}

void SegmentPrimer::stop() {
  stopped_ = true;
  core_.loop.timers().cancel(timer_);
  while (waiting_.pop_front()) {
  }
}

void SegmentPrimer::give_memory_back() {
  if (zeros_ == nullptr || in_piece_) return;
  base::unmap_huge(zeros_, config_.prime_piece_bytes);
  zeros_ = nullptr;
}

}  // namespace weir::partition
