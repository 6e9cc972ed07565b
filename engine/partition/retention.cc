#include "engine/partition/retention.h"

#include <algorithm>
#include <utility>

#include "engine/partition/partition_table.h"
#include "io/base/units.h"

namespace weir::partition {

Retention::Retention(Services& services, PartitionTable& table, const Config& config)
    : services_(services),
      table_(table),
      config_(config),
      loader_(services.io.disk, services.io.loop),
      guard_(config, services.metrics) {
  timer_.bind<&Retention::on_timer>(*this);
  step_op_.bind<&Retention::on_step>(*this);
  load_op_.bind<&Retention::on_loaded>(*this);
  update_op_.bind<&Retention::on_updated>(*this);
}

void Retention::start(ReadPositions* positions) {
  positions_ = positions;
  arm(std::min(config_.retention_check_ms, kFirstRoundMs));
}

void Retention::stop() {
  stopped_ = true;
  services_.io.loop.timers().cancel(timer_);
}

void Retention::arm(int64_t delay_ms) {
  services_.io.loop.timers().arm_after(timer_, base::ms_to_ns(delay_ms));
}

void Retention::on_timer() {
  updating_ = true;
  if (positions_ != nullptr) return positions_->update(update_op_);
  services_.io.loop.post(update_op_);
}

void Retention::on_updated(io::Op&) {
  updating_ = false;
  if (stopped_) return;
  guard_.begin_round();
  now_ = services_.retention_clock.now();
  keys_.clear();
  for (const auto& [key, partition] : table_.partitions()) keys_.push_back(key);
  // The table has no order of its own that a simulation could repeat.
  std::ranges::sort(keys_);
  next_ = 0;
  services_.io.loop.post(step_op_);
}

void Retention::on_step(io::Op&) {
  for (size_t i = 0; i < kPartitionsPerTurn && next_ < keys_.size() && !stopped_; ++i) {
    if (!look_at(keys_[next_])) return;  // on_loaded() goes on
    ++next_;
  }
  if (stopped_) return;
  if (next_ < keys_.size()) return services_.io.loop.post(step_op_);
  guard_.end_round();
  ++rounds_;
  arm(config_.retention_check_ms);
}

// False: a file must be looked at first.
bool Retention::look_at(model::PartitionKey key) {
  Partition* partition = table_.find(key);
  if (!partition) return true;
  log::RetentionRules rules = partition->settings().retention;
  if (rounds_ == 0) rules.age_ms_max = -1;
  partition->expire_producers(now_.instant);
  const log::Expired expired = partition->find_expired(rules, now_);
  if (expired.unknown != nullptr) {
    load(*partition, *expired.unknown);
    return false;
  }
  const auto positions =
      positions_ != nullptr ? positions_->of(key) : std::span<const ReadPosition>();
  partition->drop_until(guard_.allow(*partition, expired.start, positions, now_));
  return true;
}

// The ledger of a sealed segment is read for the one number, and forgotten: all of them together
// would fill the memory.
void Retention::load(Partition& partition, log::Segment& segment) {
  partition.begin_read();
  ++segment.users;
  partition_ = &partition;
  segment_ = &segment;
  scratch_ = std::make_unique<log::Segment>(segment.name, services_.pool);
  scratch_->gathered_offset = segment.gathered_offset;
  scratch_->end = segment.end;
  scratch_->ledger_loaded = false;
  loader_.start(partition.log().directory(), *scratch_, scratch_->end, true, load_op_);
}

void Retention::on_loaded(io::Op& op) {
  const bool read = op.result() >= 0;
  if (read) segment_->max_timestamp = scratch_->ledger.max_timestamp();
  --segment_->users;
  segment_ = nullptr;
  scratch_.reset();
  // Not readable: the partition is left for the next round.
  if (!read) ++next_;
  if (!stopped_) services_.io.loop.post(step_op_);
  std::exchange(partition_, nullptr)->end_read();
}

}  // namespace weir::partition
