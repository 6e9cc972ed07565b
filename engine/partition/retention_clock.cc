#include "engine/partition/retention_clock.h"

#include <cstdlib>

#include "engine/model/planted.h"
#include "io/base/logging.h"

namespace weir::partition {

RetentionClock::RetentionClock(io::Clock& clock)
    : clock_(clock), last_{clock.wall_ms(), clock.now()} {}

log::RetentionTime RetentionClock::now() {
  const log::RetentionTime told{clock_.wall_ms(), clock_.now()};
  const int64_t expected_ms = last_.wall_ms + (told.instant - last_.instant) / 1'000'000;
  const int64_t ahead_ms = told.wall_ms - expected_ms;
  if (ahead_ms <= kStepMsMax || model::planted(model::Bug::retention_trusts_wall_clock)) {
    doubts_ = false;
    return last_ = told;
  }
  if (!doubts_ || std::abs(ahead_ms - lead_ms_) > kStepMsMax) {
    doubts_ = true;
    lead_ms_ = ahead_ms;
    since_ = told.instant;
    base::log_warning("partition", "wall clock stepped ahead ms={}: retention waits", ahead_ms);
  } else if (told.instant - since_ >= kSecondOpinionNs) {
    doubts_ = false;
    return last_ = told;
  }
  return {expected_ms, told.instant};
}

}  // namespace weir::partition
