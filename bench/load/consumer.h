#pragma once
// Consumer: one connection that reads its share of the partitions with Fetch, one request at a
// time, and checks every batch: framing, CRC, offsets without a gap, stamps of each producer in
// order. Owned by a worker, whose thread calls everything.

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/load/batch_checker.h"
#include "bench/load/kafka_connection.h"
#include "bench/load/plan.h"
#include "bench/load/recorder.h"
#include "engine/wire/messages/fetch.h"
#include "io/base/arena.h"

namespace weir::load {

class Consumer {
 public:
  // index: among all consumer connections of the run: readers × connections a reader.
  static base::Result<std::unique_ptr<Consumer>> open(const Plan& plan, int32_t index,
                                                      Recorder& recorder,
                                                      const AckedEnds& acked_ends);

  KafkaConnection& connection() { return *connection_; }

  base::Status pump();
  base::Status on_readable();
  // No more requests are started; what is on its way is still taken.
  void stop() { stopping_ = true; }
  [[nodiscard]] bool idle() const { return !waiting_; }
  // Whether everything that was acknowledged has been read; at the end of the run.
  [[nodiscard]] bool caught_up() const;
  // Adds offsets that were acknowledged and never read to the findings.
  void report_unread();

 private:
  static constexpr size_t kArenaSizeMax = size_t{256} << 20;

  Consumer(const Plan& plan, Recorder& recorder, const AckedEnds& acked_ends)
      : plan_(plan), recorder_(recorder), acked_ends_(acked_ends) {}
  base::Status ask();
  base::Status on_answer(KafkaConnection::Bytes frame);
  void on_partition(const wire::FetchResponse::Partition& answer, int64_t now_ns, Flow& flow);

  const Plan& plan_;
  Recorder& recorder_;
  const AckedEnds& acked_ends_;
  std::unique_ptr<KafkaConnection> connection_;
  struct Reading {
    int32_t partition;
    BatchChecker checker;
    bool behind;  // has not yet reached the end since it began
  };
  void on_end_reached(Reading& reading, int64_t now_ns);
  std::vector<Reading> readings_;
  std::vector<size_t> place_;  // in readings_, by partition
  size_t behind_ = 0;          // how many of them
  uint64_t bytes_ = 0;         // read so far
  size_t first_ = 0;           // whose turn it is to be asked for first: answers end at a size
  int32_t correlation_id_ = 0;
  bool waiting_ = false;
  bool stopping_ = false;
  base::Arena arena_{kArenaSizeMax};
  std::vector<std::byte> request_;
};

}  // namespace weir::load
