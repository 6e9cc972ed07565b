#include "tests/sim/clock_watch.h"

#include <algorithm>

namespace weir::simtest {
namespace {

int64_t ms_of(int64_t virtual_ns) { return virtual_ns / 1'000'000; }

}  // namespace

ClockWatch::ClockWatch(io::sim::SimClock& clock)
    : clock_(clock),
      believed_base_ms_(clock.wall_base_ms()),
      highest_base_ms_(believed_base_ms_),
      lowest_base_ms_(believed_base_ms_) {
  clock_.watch(this);
}

ClockWatch::~ClockWatch() { clock_.watch(nullptr); }

void ClockWatch::engine_starts() {
  ++starts_;
  starting_ = true;
  believed_base_ms_ = std::max(believed_base_ms_, clock_.wall_base_ms());
}

void ClockWatch::on_wall_jump(int64_t base_ms) {
  highest_base_ms_ = std::max(highest_base_ms_, base_ms);
  lowest_base_ms_ = std::min(lowest_base_ms_, base_ms);
  if (starting_ || base_ms <= believed_base_ms_ + kStepMsMax + kRoundingMs) {
    believed_base_ms_ = std::max(believed_base_ms_, base_ms);
  } else {
    first_doubt_ns_ = std::min(first_doubt_ns_, clock_.now() - io::Instant{});
  }
}

int64_t ClockWatch::latest_ms() const {
  const int64_t now_ns = clock_.now() - io::Instant{};
  const bool long_ago = first_doubt_ns_ < now_ns && now_ns - first_doubt_ns_ >= kSecondOpinionNs;
  return (long_ago ? highest_base_ms_ : believed_base_ms_) + ms_of(now_ns);
}

int64_t ClockWatch::age_most_ms(int64_t sent_ns, int64_t timestamp) const {
  const int64_t now_ns = clock_.now() - io::Instant{};
  // A time that is yet to come counts as that of its append: by the monotonic clock, and after a
  // restart by the time of the file.
  int64_t age_ms = std::max(latest_ms() - timestamp, ms_of(now_ns - sent_ns)) + kRoundingMs;
  if (starts_ > 1) age_ms = std::max(age_ms, age_of_file_most_ms(sent_ns));
  return age_ms;
}

int64_t ClockWatch::age_of_file_most_ms(int64_t sent_ns) const {
  return latest_ms() - (lowest_base_ms_ + ms_of(sent_ns)) + kRoundingMs;
}

}  // namespace weir::simtest
