#pragma once
// The progress bar of a bench step, on standard error when that is a terminal, and what the bench
// notes while a step runs: the broker's process at both ends of the measured part.

#include <sys/types.h>

#include <optional>
#include <string>

#include "bench/load/process_stats.h"
#include "bench/load/runner.h"

namespace weir::tools {

class BenchProgress final : public load::RunListener {
 public:
  struct Options {
    std::string label;
    int64_t warmup_ms = 0;
    int64_t duration_ms = 0;
    pid_t broker = 0;  // 0: not known
    bool draw = true;
    uint64_t stop_at_bytes = 0;  // acknowledged; 0: never
  };

  explicit BenchProgress(Options options);
  ~BenchProgress() override;

  void on_measure_begin() override;
  void on_measure_end() override;
  bool on_progress(int64_t elapsed_ms, const load::Live& live) override;

  std::optional<load::ProcessStats> broker_before;
  std::optional<load::ProcessStats> broker_after;

 private:
  void draw(int64_t elapsed_ms, int64_t interval_ms, const load::Live& live) const;
  [[nodiscard]] std::optional<load::ProcessStats> stats() const;

  const Options options_;
  const bool drawing_;
  int64_t last_ms_ = 0;
  uint64_t acked_bytes_ = 0;
};

// Ctrl-C and SIGTERM end the run at the next step of its progress bar; what was made is removed.
// The signal, or 0.
void watch_interrupts();
int interrupted_by();

}  // namespace weir::tools
