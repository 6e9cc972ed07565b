#pragma once
// Timers: the timer wheel of one core. Arming, cancelling: O(1). Resolution: 1 ms; a timer never
// fires early. The loop asks for the next deadline when it goes to sleep and fires what is due when
// it wakes.

#include <array>
#include <cstdint>
#include <optional>

#include "io/base/intrusive_list.h"
#include "io/clock.h"

namespace weir::io {

class Timers;

class Timer : public base::ListHook {
 public:
  Timer() = default;
  ~Timer();  // an armed timer is cancelled
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    function_ = [](void* o) { (static_cast<Owner*>(o)->*Method)(); };
  }
  bool armed() const { return timers_ != nullptr; }
  Instant deadline() const { return deadline_; }

 private:
  friend class Timers;
  void* owner_ = nullptr;
  void (*function_)(void*) = nullptr;
  Instant deadline_{};
  Timers* timers_ = nullptr;  // the wheel it is armed in
  uint16_t slot_ = 0;         // where in the wheel, so that a slot that became empty is known
};

class Timers {
 public:
  explicit Timers(Clock& clock);

  Clock& clock() { return clock_; }
  ~Timers();  // timers still armed are cancelled
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Arms the timer, or moves it if it is armed already.
  void arm(Timer& timer, Instant deadline);
  void arm_after(Timer& timer, int64_t duration_ns) { arm(timer, clock_.now() + duration_ns); }
  void cancel(Timer& timer);

  // Fires all timers whose deadline has passed, in the order of their deadlines to the millisecond.
  // Returns how many fired. A timer that its callback arms again fires in a later call at the
  // earliest.
  size_t fire_due();
  // The earliest moment at which fire_due() may have work; nothing when no timer is armed.
  std::optional<Instant> next_deadline() const;
  size_t armed_count() const { return armed_count_; }

 private:
  // Level 0 has a slot per tick of 1 ms; a slot of level n covers the 64^n ticks that agree in all
  // higher digits of base 64. A timer sits at the level of the highest digit in which its tick
  // differs from the current one; when the current tick enters a slot of a higher level, its timers
  // move down. So every occupied slot begins at or after the current tick, and the lowest bit of
  // `occupied_` is the next one.
  static constexpr size_t kLevels = 6;
  static constexpr size_t kSlotBits = 6;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;
  static constexpr int64_t kTicksMax = int64_t{1} << (kLevels * kSlotBits);  // 2.2 years
  static constexpr uint16_t kDue = kLevels * kSlots;  // slot number of timers in `due_`
  using Slot = base::IntrusiveList<Timer>;

  static int64_t tick_of(Instant deadline);  // rounded up: never early
  void place(Timer& timer);
  void remove(Timer& timer);
  void cascade(size_t level);
  void take_due(int64_t tick);
  std::optional<int64_t> next_tick() const;

  Clock& clock_;
  int64_t current_tick_;  // every timer with a smaller tick has fired or is in due_
  size_t armed_count_ = 0;
  std::array<uint64_t, kLevels> occupied_{};  // bit per slot: holds a timer
  std::array<std::array<Slot, kSlots>, kLevels> wheel_;
  Slot due_;  // to be fired by the running fire_due(), in order
};

}  // namespace weir::io
