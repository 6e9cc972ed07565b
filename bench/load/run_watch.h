#pragma once
// RunWatch: tells a listener of the parts of a run and how it goes, until all workers have ended;
// on the thread that started them.

#include <atomic>
#include <cstdint>
#include <vector>

#include "bench/load/recorder.h"

namespace weir::load {

// Hears of a run, on the thread that called run_load().
class RunListener {
 public:
  virtual ~RunListener() = default;
  // At the begin and at the end of the measured part.
  virtual void on_measure_begin() {}
  virtual void on_measure_end() {}
  // About every kProgressInterval_ms. elapsed_ms counts from the start of the warm-up; `live` is
  // what happened since the last call. False: end the run now.
  virtual bool on_progress(int64_t elapsed_ms, const Live& live) = 0;
};

inline constexpr int64_t kProgressInterval_ms = 250;

class RunWatch {
 public:
  // All outlive it. `stop` is set when the listener wants the run to end.
  RunWatch(const Window& window, int64_t start_ns, RunListener& listener,
           std::vector<Recorder*> recorders, std::atomic<bool>& stop);

  // Until `running` workers are 0.
  void run(const std::atomic<size_t>& running);

  // Of the measured part, as far as it came.
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double generator_cpu_s() const { return cpu_s_; }

 private:
  enum class Stage : uint8_t { warmup, measure, drain };

  void step(int64_t now_ns, bool running);
  void end_measure();

  const Window& window_;
  const int64_t start_ns_;
  RunListener& listener_;
  const std::vector<Recorder*> recorders_;
  std::atomic<bool>& stop_;
  Stage stage_ = Stage::warmup;
  int64_t told_ns_ = 0;
  double begin_cpu_s_ = 0;
  double seconds_ = 0;
  double cpu_s_ = 0;
};

}  // namespace weir::load
