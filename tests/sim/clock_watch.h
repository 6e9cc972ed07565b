#pragma once
// ClockWatch: what the engine may take for the time, while the wall clock jumps by seconds or by
// years. An upper bound, made of the rules that the engine promises (P14) and not of its code:
//   - a start believes what the clock says, having nothing to compare it with
//   - while it runs, a step ahead by more than a minute counts only after it stood for an hour
//   - a step back counts at once, or later, or never: it makes nothing older
// What is deleted although it is younger than that, was deleted because a clock was wrong.

#include <cstdint>

#include "io/sim/sim_clock.h"

namespace weir::simtest {

class ClockWatch : private io::sim::WallWatcher {
 public:
  explicit ClockWatch(io::sim::SimClock& clock);
  ~ClockWatch() override;
  ClockWatch(const ClockWatch&) = delete;

  // From here on, until all its cores are there, the engine believes every time.
  void engine_starts();
  void engine_ready() { starting_ = false; }

  // The oldest that a record can be to the engine by now. `timestamp`: its own, in ms; sent_ns: the
  // virtual time before which nobody had sent it.
  int64_t age_most_ms(int64_t sent_ns, int64_t timestamp) const;
  // The same by what clocks said when it was sent, which is what times of files are made of.
  int64_t age_of_file_most_ms(int64_t sent_ns) const;

 private:
  static constexpr int64_t kStepMsMax = 60'000;
  static constexpr int64_t kSecondOpinionNs = 3'600'000'000'000;
  // Milliseconds that are cut off where times are compared.
  static constexpr int64_t kRoundingMs = 2;

  void on_wall_jump(int64_t base_ms) override;
  int64_t latest_ms() const;

  io::sim::SimClock& clock_;
  // Wall times at virtual time zero:
  int64_t believed_base_ms_;  // the largest that the engine may have gone by
  int64_t highest_base_ms_;   // that the clock ever had
  int64_t lowest_base_ms_;
  int64_t first_doubt_ns_ = INT64_MAX;
  bool starting_ = true;
  uint32_t starts_ = 0;
};

}  // namespace weir::simtest
