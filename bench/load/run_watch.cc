#include "bench/load/run_watch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/load/times.h"

namespace weir::load {
namespace {

constexpr int64_t kDrainLook_ns = 5'000'000;

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void sleep_until(int64_t time_ns) {
  const int64_t left = time_ns - now_ns();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

}  // namespace

RunWatch::RunWatch(const Window& window, int64_t start_ns, RunListener& listener,
                   std::vector<Recorder*> recorders, std::atomic<bool>& stop)
    : window_(window),
      start_ns_(start_ns),
      listener_(listener),
      recorders_(std::move(recorders)),
      stop_(stop) {}

void RunWatch::run(const std::atomic<size_t>& running) {
  int64_t next_ns = start_ns_;
  while (running > 0) {
    next_ns += kProgressInterval_ms * 1'000'000;
    int64_t until = next_ns;
    if (stage_ == Stage::warmup) until = std::min(until, window_.from_ns);
    if (stage_ == Stage::measure) until = std::min(until, window_.to_ns);
    if (stage_ == Stage::drain) until = now_ns() + kDrainLook_ns;
    sleep_until(until);
    step(now_ns(), running > 0);
  }
  end_measure();
}

void RunWatch::step(int64_t now_ns, bool running) {
  if (stage_ == Stage::warmup && now_ns >= window_.from_ns) {
    stage_ = Stage::measure;
    begin_cpu_s_ = own_cpu_seconds();
    listener_.on_measure_begin();
  }
  if (stage_ == Stage::measure && now_ns >= window_.to_ns) end_measure();
  if (!running || now_ns - told_ns_ < kProgressInterval_ms * 1'000'000) return;
  told_ns_ = now_ns;
  Live live;
  for (Recorder* recorder : recorders_) live.merge(recorder->take_live());
  if (!listener_.on_progress((now_ns - start_ns_) / 1'000'000, live)) stop_ = true;
}

// Also when the run ended early: then with the time there was.
void RunWatch::end_measure() {
  if (stage_ == Stage::measure) {
    const int64_t end_ns = std::min(now_ns(), window_.to_ns);
    seconds_ = static_cast<double>(std::max<int64_t>(1, end_ns - window_.from_ns)) * 1e-9;
    cpu_s_ = own_cpu_seconds() - begin_cpu_s_;
    listener_.on_measure_end();
  }
  stage_ = Stage::drain;
}

}  // namespace weir::load
