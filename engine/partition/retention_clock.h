#pragma once
// RetentionClock: the wall clock as far as retention trusts it. A step forward by more than
// kStepMsMax is believed only after the clock has kept it up for kSecondOpinionNs; until then time
// goes on from where it was, by the monotonic clock (RELIABILITY P14, F31). A step back is followed
// at once: it makes nothing older. One per core.

#include <cstdint>

#include "engine/log/retention.h"
#include "io/clock.h"

namespace weir::partition {

class RetentionClock {
 public:
  static constexpr int64_t kStepMsMax = 60'000;
  static constexpr int64_t kSecondOpinionNs = 3'600'000'000'000;

  explicit RetentionClock(io::Clock& clock);

  log::RetentionTime now();
  // A step is not believed yet.
  bool doubts() const { return doubts_; }

 private:
  io::Clock& clock_;
  log::RetentionTime last_;  // trusted
  bool doubts_ = false;
  int64_t lead_ms_ = 0;  // how far the doubted clock is ahead
  io::Instant since_{};  // and since when
};

}  // namespace weir::partition
