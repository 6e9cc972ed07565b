#include "tests/sim/alarm_watch.h"

#include <fmt/format.h>

namespace weir::simtest {
namespace {

constexpr int64_t kTurns_ns = 100'000'000;    // for the alarm's own ticks and turns
constexpr int64_t kStalls_ns = 2'000'000'000; // where cores stand still now and then

}  // namespace

AlarmWatch::AlarmWatch(const Context& context, const Engine& engine)
    : context_(context), engine_(engine), stuck_ns_(context.scenario.io_stuck_ms * 1'000'000),
      patience_ns_(context.scenario.world.faults.core_stall > 0 ? kStalls_ns : kTurns_ns) {}

void AlarmWatch::look() {
  if (stuck_ns_ == 0) return;
  const io::sim::DiskMedia& disk = context_.world.disk();
  const int64_t waiting_ns = disk.waiting_ns();
  const int64_t now_ns = context_.world.now_ns();
  const auto alarms = engine_.disk_alarms();
  if (waiting_ns > stuck_ns_ + patience_ns_ && alarms.stuck == 0) {
    context_.findings.report(fmt::format("F22: a call to the disk hangs for {} ms without alarm",
                                         waiting_ns / 1'000'000));
  }
  if (alarms.episodes > 0 && disk.waited_ns_max() < stuck_ns_ / 2) {
    context_.findings.report("F22: alarm, and no call to the disk took long");
  }
  const bool looked_away = now_ns - looked_ns_ > patience_ns_ / 2;  // a start waits by itself
  looked_ns_ = now_ns;
  if (looked_away || waiting_ns >= stuck_ns_ / 2) calm_since_ns_ = now_ns;
  if (now_ns - calm_since_ns_ > patience_ns_ && alarms.stuck > 0) {
    context_.findings.report("F22: the alarm does not fall");
  }
}

}  // namespace weir::simtest
