#pragma once
// Worker: one thread of the load generator: an epoll loop over its share of producers and
// consumers, and the schedule of their open loop.
//
//   warm-up │ measured │ drain: no new starts; until all is answered and, where something is
//           │          │ read, all that any worker had acknowledged is read, or time is up

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bench/load/consumer.h"
#include "bench/load/plan.h"
#include "bench/load/producer.h"
#include "bench/load/recorder.h"
#include "bench/load/schedule.h"

namespace weir::load {

// What the workers of a run share.
struct Shared {
  explicit Shared(size_t partitions) : acked_ends(partitions) {}
  AckedEnds acked_ends;
  std::atomic<int32_t> producing{0};   // workers whose producers may still get answers
  std::atomic<bool> stop{false};       // one failed, or the user had enough
};

class Worker {
 public:
  // index: 0 to plan.threads - 1; takes every threads-th connection. Opens them; blocking.
  static base::Result<std::unique_ptr<Worker>> open(const Plan& plan, int32_t index,
                                                    const BatchFactory* batches, Shared& shared,
                                                    const Window& window);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Its thread's main; start_ns: begin of the warm-up. Returns when the run is over.
  void run(int64_t start_ns);

  Recorder& recorder() { return recorder_; }

 private:
  static constexpr int64_t kPublishInterval_ns = 100'000'000;
  static constexpr int kEventsMax = 256;

  Worker(const Plan& plan, Shared& shared, const Window& window)
      : plan_(plan), shared_(shared), recorder_(window, plan.consumer.readers > 0) {}
  base::Status open_connections(int32_t index, const BatchFactory* batches);
  base::Status watch(KafkaConnection& connection, uint32_t number);
  base::Status loop();
  base::Status offer_due(int64_t now_ns);
  base::Status take_events(int64_t wait_ns);
  base::Status on_event(uint32_t number, uint32_t events);
  // How long the loop may sleep.
  [[nodiscard]] int64_t wait_ns(int64_t now_ns) const;
  [[nodiscard]] bool finished(int64_t now_ns);
  void count_unanswered();

  const Plan& plan_;
  Shared& shared_;
  Recorder recorder_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Producer>> producers_;
  std::vector<std::unique_ptr<Consumer>> consumers_;
  std::optional<Schedule> schedule_;
  double starts_per_second_ = 0;  // this worker's share
  int64_t schedule_offset_ns_ = 0;
  size_t next_producer_ = 0;
  bool closed_loop_ = false;  // producers start requests on their own now
  bool producing_ = true;     // counted in shared_.producing
  int64_t drain_end_ns_ = 0;
};

}  // namespace weir::load
