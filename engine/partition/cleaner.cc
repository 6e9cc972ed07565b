#include "engine/partition/cleaner.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/partition/partition_table.h"
#include "io/base/units.h"

namespace weir::partition {
Cleaner::Cleaner(Services& services, PartitionTable& table, const Config& config)
    : services_(services), table_(table), config_(config), cleaning_(services, config) {
  timer_.bind<&Cleaner::on_timer>(*this);
  step_op_.bind<&Cleaner::on_step>(*this);
  done_op_.bind<&Cleaner::on_done>(*this);
}

void Cleaner::start() {
  if (!config_.cleaner_enable) return;
  services_.io.loop.timers().arm_after(timer_, base::ms_to_ns(config_.cleaner_backoff_ms));
}

void Cleaner::stop() {
  stopped_ = true;
  services_.io.loop.timers().cancel(timer_);
  cleaning_.stop();
}

void Cleaner::look() {
  now_ = services_.retention_clock.now();
  cleaned_ = false;
  dirty_bytes_ = overdue_ = 0;
  candidates_.clear();
  keys_.clear();
  for (const auto& [key, partition] : table_.partitions()) {
    if (partition->settings().compact) keys_.push_back(key);
  }
  // The table has no order of its own that a simulation could repeat.
  std::ranges::sort(keys_);
  next_ = 0;
  services_.io.loop.post(step_op_);
}

void Cleaner::on_step(io::Op&) {
  if (stopped_) return;
  for (size_t i = 0; i < kPartitionsPerTurn && next_ < keys_.size(); ++i) weigh(keys_[next_++]);
  if (next_ < keys_.size()) return services_.io.loop.post(step_op_);
  services_.metrics.cleaner_dirty_bytes = dirty_bytes_;
  services_.metrics.cleaner_overdue = overdue_;
  std::ranges::sort(candidates_, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.overdue, a.ratio, b.key) < std::tuple(b.overdue, b.ratio, a.key);
  });
  ++looks_;
  clean_next();
}

void Cleaner::weigh(model::PartitionKey key) {
  const Partition* const partition = table_.find(key);
  if (!partition) return;
  const Cleanable found = partition->find_cleanable(now_);
  dirty_bytes_ += found.dirty_bytes;
  overdue_ += found.overdue ? 1 : 0;
  if (found.dirty_bytes == 0 || failed_.contains(key)) return;
  const double ratio = found.ratio();
  const bool dirty = ratio > partition->settings().min_cleanable_ratio;
  if (!dirty && !found.overdue && !found.age_unknown) return;
  candidates_.push_back({.key = key,
                         .ratio = ratio,
                         .overdue = found.overdue,
                         .age_only = !dirty && !found.overdue});
}

void Cleaner::clean_next() {
  while (!candidates_.empty() && !stopped_) {
    const Candidate candidate = candidates_.back();
    candidates_.pop_back();
    Partition* const partition = table_.find(candidate.key);
    if (!partition) continue;
    const Cleanable found = partition->find_cleanable(now_);
    if (found.dirty_bytes == 0 || !partition->ready_to_clean(found.end)) continue;
    key_ = candidate.key;
    return cleaning_.start(*partition, now_, candidate.age_only, done_op_);
  }
  if (stopped_) return;
  // Without any pause a core with nothing to clean would never sleep.
  const int64_t backoff_ms = std::max<int64_t>(config_.cleaner_backoff_ms, 1);
  const int64_t pause_ms = cleaned_ ? 0 : backoff_ms;
  services_.io.loop.timers().arm_after(timer_, base::ms_to_ns(pause_ms));
}

void Cleaner::on_done(io::Op&) {
  const Cleaning::Outcome outcome = cleaning_.outcome();
  cleaned_ = cleaned_ || outcome == Cleaning::Outcome::cleaned;
  if (outcome == Cleaning::Outcome::damaged) stuck_.insert(key_);
  if (outcome == Cleaning::Outcome::failed) {
    stuck_.insert(key_);
    failed_.insert(key_);
  }
  services_.metrics.cleaner_stuck = stuck_.size();
  clean_next();
}

}  // namespace weir::partition
