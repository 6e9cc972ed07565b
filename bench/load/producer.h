#pragma once
// Producer: one connection that sends pre-built batches and records their acknowledgements. Up to
// `window` requests are in flight; a broker answers them in order. Owned by a worker, whose thread
// calls everything.
//
// Open loop: the worker offers intended starts; what cannot be sent at once waits in a queue and
// its latency counts from the intended start on. Closed loop: a request starts when one of the
// window is free.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "bench/load/kafka_connection.h"
#include "bench/load/plan.h"
#include "bench/load/recorder.h"
#include "io/base/arena.h"

namespace weir::load {

class Producer {
 public:
  // index: among all producers of the run; it takes every connections-th partition of its broker.
  // All references outlive it.
  static base::Result<std::unique_ptr<Producer>> open(const Plan& plan, int32_t index,
                                                      const BatchFactory& batches,
                                                      Recorder& recorder, AckedEnds& acked_ends);

  KafkaConnection& connection() { return *connection_; }

  // Open loop: a batch is meant to start at this time.
  void offer(int64_t intended_ns) { due_.push_back(intended_ns); }
  // Sends what may be sent. closed_loop: start new requests on its own.
  base::Status pump(bool closed_loop);
  base::Status on_readable();

  // Nothing is waiting, on its way or unanswered.
  [[nodiscard]] bool idle() const {
    return due_.empty() && in_flight_.empty() && !connection_->sending();
  }
  [[nodiscard]] size_t unanswered() const { return due_.size() + in_flight_.size(); }

 private:
  struct InFlight {
    int64_t intended_ns;
    int32_t correlation_id;
    size_t turn;  // place in partitions_
    uint32_t records;
    uint32_t bytes;
  };

  static constexpr size_t kArenaSizeMax = size_t{16} << 20;

  Producer(const Plan& plan, int32_t index, const BatchFactory& batches, Recorder& recorder,
           AckedEnds& acked_ends);
  void make_template();
  base::Status start(int64_t intended_ns, int64_t now_ns);
  base::Status on_answer(KafkaConnection::Bytes frame);
  void on_sent();

  const Plan& plan_;
  const BatchFactory& batches_;
  Recorder& recorder_;
  AckedEnds& acked_ends_;
  const uint32_t stamp_producer_;
  std::unique_ptr<KafkaConnection> connection_;
  std::vector<int32_t> partitions_;  // whose batches it sends, in turn
  size_t next_partition_ = 0;
  std::vector<int64_t> last_base_offset_;  // of its own acknowledgements, beside partitions_

  std::vector<std::byte> template_;  // request up to the records
  std::vector<std::byte> head_;      // of the request on its way: template and front of the batch
  std::deque<int64_t> due_;
  std::deque<InFlight> in_flight_;
  uint64_t sequence_ = 0;
  int32_t correlation_id_ = 0;
  base::Arena arena_{kArenaSizeMax};
};

}  // namespace weir::load
