#include "io/timers.h"

#include <algorithm>
#include <bit>

namespace weir::io {

namespace {

constexpr int64_t kTickNs = 1'000'000;

}  // namespace

Timer::~Timer() {
  if (timers_ != nullptr) timers_->cancel(*this);
}

Timers::Timers(Clock& clock) : clock_(clock), current_tick_(clock.now().ns / kTickNs) {}

Timers::~Timers() {
  for (auto& level : wheel_) {
    for (Slot& slot : level) {
      while (!slot.empty()) remove(slot.front());
    }
  }
  while (!due_.empty()) remove(due_.front());
}

void Timers::arm(Timer& timer, Instant deadline) {
  ASSERT(timer.function_ != nullptr, "armed before it was bound");
  if (timer.timers_ != nullptr) timer.timers_->remove(timer);
  timer.deadline_ = deadline;
  timer.timers_ = this;
  ++armed_count_;
  place(timer);
}

void Timers::cancel(Timer& timer) {
  if (timer.timers_ == nullptr) return;
  ASSERT(timer.timers_ == this, "armed in the wheel of another core");
  remove(timer);
}

size_t Timers::fire_due() {
  if (armed_count_ == 0) return 0;
  const int64_t target = clock_.now().ns / kTickNs;
  take_due(target);
  size_t fired = 0;
  while (!due_.empty()) {
    Timer& timer = due_.front();
    remove(timer);
    ++fired;
    timer.function_(timer.owner_);
  }
  return fired;
}

std::optional<Instant> Timers::next_deadline() const {
  const auto tick = next_tick();
  if (!tick) return std::nullopt;
  return Instant{*tick * kTickNs};
}

int64_t Timers::tick_of(Instant deadline) {
  return deadline.ns / kTickNs + (deadline.ns % kTickNs > 0 ? 1 : 0);
}

void Timers::place(Timer& timer) {
  // A deadline beyond the wheel waits in its last slot and is placed again from there.
  const int64_t last = current_tick_ | (kTicksMax - 1);
  const int64_t tick = std::clamp(tick_of(timer.deadline_), current_tick_, last);
  const auto difference = static_cast<uint64_t>(tick ^ current_tick_);
  const size_t digits = static_cast<size_t>(std::bit_width(difference | 1)) - 1;
  const size_t level = digits / kSlotBits;
  const auto slot = (static_cast<uint64_t>(tick) >> (level * kSlotBits)) & (kSlots - 1);
  ASSERT(level < kLevels);
  wheel_[level][slot].push_back(timer);
  occupied_[level] |= uint64_t{1} << slot;
  timer.slot_ = static_cast<uint16_t>(level * kSlots + slot);
}

void Timers::remove(Timer& timer) {
  timer.unlink();
  timer.timers_ = nullptr;
  --armed_count_;
  if (timer.slot_ == kDue) return;
  const size_t level = timer.slot_ / kSlots;
  const size_t slot = timer.slot_ % kSlots;
  if (wheel_[level][slot].empty()) occupied_[level] &= ~(uint64_t{1} << slot);
}

void Timers::cascade(size_t level) {
  const auto slot = (static_cast<uint64_t>(current_tick_) >> (level * kSlotBits)) & (kSlots - 1);
  if ((occupied_[level] >> slot & 1) == 0) return;
  occupied_[level] &= ~(uint64_t{1} << slot);
  Slot moving;
  moving.splice_back(wheel_[level][slot]);
  while (Timer* timer = moving.pop_front()) place(*timer);
}

// Goes from occupied slot to occupied slot, so a jump of the clock costs what became due and no
// more. current_tick_ ends behind `tick`: whatever a callback arms has its turn in a later call.
void Timers::take_due(int64_t tick) {
  for (auto next = next_tick(); next && *next <= tick; next = next_tick()) {
    current_tick_ = *next;
    for (size_t level = kLevels - 1; level > 0; --level) cascade(level);
    const auto slot = static_cast<uint64_t>(current_tick_) & (kSlots - 1);
    occupied_[0] &= ~(uint64_t{1} << slot);
    Slot taken;
    taken.splice_back(wheel_[0][slot]);
    ++current_tick_;
    while (Timer* timer = taken.pop_front()) {
      if (tick_of(timer->deadline_) >= current_tick_) {  // was beyond the wheel
        place(*timer);
        continue;
      }
      timer->slot_ = kDue;
      due_.push_back(*timer);
    }
  }
  current_tick_ = std::max(current_tick_, tick + 1);
}

std::optional<int64_t> Timers::next_tick() const {
  std::optional<int64_t> earliest;
  for (size_t level = 0; level < kLevels; ++level) {
    if (occupied_[level] == 0) continue;
    const size_t shift = level * kSlotBits;
    const int64_t period = (current_tick_ >> (shift + kSlotBits)) << (shift + kSlotBits);
    const int64_t start = period + (int64_t{std::countr_zero(occupied_[level])} << shift);
    if (!earliest || start < *earliest) earliest = start;
  }
  return earliest;
}

}  // namespace weir::io
