#pragma once
// Recorder: where the producers and consumers of a worker put what they measure. It knows which
// part of the run counts, keeps the worker's results, and hands a live view to whoever draws the
// progress bar.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "bench/load/plan.h"
#include "bench/load/results.h"
#include "io/base/histogram.h"

namespace weir::load {

// What the progress bar shows: sums from the start of the run, latencies of the last interval.
struct Live {
  uint64_t acked_records = 0;
  uint64_t acked_bytes = 0;
  uint64_t read_records = 0;
  uint64_t read_bytes = 0;
  uint64_t errors = 0;
  base::Histogram latency_us;  // end to end where something is read, else to the acknowledgement

  void merge(const Live& other);
};

// By partition: one past the last offset that was acknowledged. Shared by the workers of a run.
class AckedEnds {
 public:
  explicit AckedEnds(size_t partitions) : ends_(partitions) {}
  void raise(int32_t partition, int64_t end) {
    auto& slot = ends_[static_cast<size_t>(partition)];
    int64_t seen = slot.load(std::memory_order_relaxed);
    while (seen < end && !slot.compare_exchange_weak(seen, end, std::memory_order_release)) {
    }
  }
  [[nodiscard]] int64_t get(int32_t partition) const {
    return ends_[static_cast<size_t>(partition)].load(std::memory_order_acquire);
  }

 private:
  std::vector<std::atomic<int64_t>> ends_;
};

struct Window {
  int64_t from_ns = 0;  // CLOCK_MONOTONIC
  int64_t to_ns = 0;
  [[nodiscard]] bool contains(int64_t time_ns) const {
    return time_ns >= from_ns && time_ns < to_ns;
  }
};

// Between opening connections and the first start.
inline constexpr int64_t kStartDelay_ns = 2'000'000;

Window window_of(const Plan& plan, int64_t start_ns);

class Recorder {
 public:
  // `window` outlives it.
  Recorder(const Window& window, bool live_is_end_to_end)
      : window_(window), live_is_end_to_end_(live_is_end_to_end) {}

  void acked(int64_t intended_ns, int64_t now_ns, uint64_t records, uint64_t bytes);
  void failed(int16_t code, uint64_t requests = 1) { results_.errors[code] += requests; }
  // A fetch answered with so many batches.
  void fetched(int64_t now_ns, const Flow& flow);
  void arrived(int64_t intended_ns, int64_t now_ns, uint64_t records);

  // Gives what is new to the live view; from the worker, some times a second.
  void publish();
  // The live view since the last call; from another thread.
  Live take_live();

  [[nodiscard]] const Window& window() const { return window_; }
  Results& results() { return results_; }
  [[nodiscard]] const Results& results() const { return results_; }

 private:
  const Window& window_;  // fixed before the run begins
  const bool live_is_end_to_end_;
  Results results_;
  Live new_;  // the worker's

  std::mutex mutex_;
  Live live_;  // under the mutex
};

}  // namespace weir::load
