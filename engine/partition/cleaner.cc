#include "engine/partition/cleaner.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/partition/partition_table.h"
#include "io/base/units.h"

namespace weir::partition {

Cleaner::Cleaner(Services& services, PartitionTable& table, const Config& config)
    : services_(services),
      table_(table),
      enabled_(config.cleaner_enable),
      config_(config.cleaner),
      cleaning_(services, config_) {
  timer_.bind<&Cleaner::on_timer>(*this);
  step_op_.bind<&Cleaner::on_step>(*this);
  done_op_.bind<&Cleaner::on_done>(*this);
}

void Cleaner::start() {
  if (!enabled_) return;
  last_run_ = services_.io.clock.now();
  arm(config_.backoff_ms);
}

void Cleaner::arm(int64_t pause_ms) {
  services_.io.loop.timers().arm_after(timer_, base::ms_to_ns(pause_ms));
}

void Cleaner::set_config(const CleanerConfig& config) {
  if (config == config_) return;
  config_ = config;
  cleaning_.on_config_changed();
  // A pass or a look under way asks for the pause when it is over.
  if (!timer_.armed()) return;
  services_.io.loop.timers().cancel(timer_);
  arm(config_.backoff_ms);
}

int64_t Cleaner::ms_since_run() const {
  return last_run_ ? (services_.io.clock.now() - *last_run_) / base::ms_to_ns(1) : 0;
}

void Cleaner::stop() {
  stopped_ = true;
  services_.io.loop.timers().cancel(timer_);
  cleaning_.stop();
}

void Cleaner::look() {
  now_ = services_.retention_clock.now();
  last_run_ = now_.instant;
  cleaned_ = false;
  found_ = {};
  candidates_.clear();
  keys_.clear();
  for (const auto& [key, partition] : table_.partitions()) {
    if (partition->settings().compact) keys_.push_back(key);
  }
  // The table has no order of its own that a simulation could repeat.
  std::ranges::sort(keys_);
  const auto is_gone = [this](model::PartitionKey key) { return !table_.find(key); };
  std::erase_if(stuck_, is_gone);
  std::erase_if(failed_, is_gone);
  next_ = 0;
  services_.io.loop.post(step_op_);
}

void Cleaner::on_step(io::Op&) {
  if (stopped_) return;
  for (size_t i = 0; i < kPartitionsPerTurn && next_ < keys_.size(); ++i) weigh(keys_[next_++]);
  if (next_ < keys_.size()) return services_.io.loop.post(step_op_);
  publish();
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
  const bool overdue = found.overdue_ms > 0;
  const bool failed = failed_.contains(key);
  found_.dirty_bytes += found.dirty_bytes;
  found_.uncleanable_bytes += found.unreachable_bytes + (failed ? found.dirty_bytes : 0);
  found_.overdue += overdue ? 1 : 0;
  found_.delay_ms_max = std::max(found_.delay_ms_max, found.overdue_ms);
  if (found.dirty_bytes == 0 || failed) return;
  const double ratio = found.ratio();
  found_.ratio_max = std::max(found_.ratio_max, ratio);
  const bool dirty = ratio > partition->settings().min_cleanable_ratio;
  if (!dirty && !overdue && !found.age_unknown) return;
  candidates_.push_back(
      {.key = key, .ratio = ratio, .overdue = overdue, .age_only = !dirty && !overdue});
}

void Cleaner::publish() {
  Metrics& metrics = services_.metrics;
  metrics.cleaner_dirty_bytes = found_.dirty_bytes;
  metrics.cleaner_uncleanable_bytes = found_.uncleanable_bytes;
  metrics.cleaner_overdue = found_.overdue;
  metrics.cleaner_delay_s = {static_cast<uint64_t>(found_.delay_ms_max / 1000)};
  metrics.cleaner_dirty_percent = {static_cast<uint64_t>(100 * found_.ratio_max)};
  metrics.cleaner_stuck = stuck_.size();
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
    last_run_ = services_.io.clock.now();
    return cleaning_.start(*partition, now_, candidate.age_only, done_op_);
  }
  if (stopped_) return;
  // Without any pause a core with nothing to clean would never sleep.
  arm(cleaned_ ? 0 : std::max<int64_t>(config_.backoff_ms, 1));
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
