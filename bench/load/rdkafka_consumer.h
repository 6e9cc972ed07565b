#pragma once
// RdkafkaConsumer: one member of a consumer group of librdkafka. A reader of the plan is a group,
// its connections are the group's members. Offsets are not committed: a member begins where its
// group stands, which the members share, so that a rebalance loses and repeats nothing.
//
// A thread of its own runs a member.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bench/load/plan.h"
#include "bench/load/rdkafka_client.h"
#include "bench/load/recorder.h"

namespace weir::load {

// What the members of a group share.
class ReaderGroup {
 public:
  explicit ReaderGroup(const std::vector<int64_t>& from) : positions_(from.size()) {
    for (size_t i = 0; i < from.size(); ++i) positions_[i] = from[i];
  }
  std::atomic<int64_t>& position(int32_t partition) {
    return positions_[static_cast<size_t>(partition)];
  }
  std::atomic<int32_t> assigned = 0;  // partitions, of all members
  [[nodiscard]] bool caught_up(const AckedEnds& ends) const;
  void report_unread(const AckedEnds& ends, Verification& found) const;

 private:
  std::vector<std::atomic<int64_t>> positions_;
};

class RdkafkaConsumer {
 public:
  static base::Result<std::unique_ptr<RdkafkaConsumer>> open(const RdkafkaLibrary& library,
                                                             const Plan& plan,
                                                             const RdkafkaOptions& options,
                                                             int32_t reader, ReaderGroup& group,
                                                             Recorder& recorder);

  // Takes what there is, waiting up to wait_ms for the first message. timed: the run has begun;
  // before it, messages are checked only.
  void serve(int32_t wait_ms, bool timed);
  void close();

 private:
  RdkafkaConsumer(const RdkafkaLibrary& library, const Plan& plan, ReaderGroup& group,
                  Recorder& recorder)
      : library_(library), plan_(plan), group_(group), recorder_(recorder) {}
  static void on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                           rd_kafka_topic_partition_list_t* partitions, void* opaque);
  void take(const rd_kafka_message_t& message, Flow& flow);
  void check_order(const rd_kafka_message_t& message);

  const RdkafkaLibrary& library_;
  const Plan& plan_;
  ReaderGroup& group_;
  Recorder& recorder_;
  std::unique_ptr<RdkafkaClient> client_;
  int32_t assigned_ = 0;
  bool timed_ = false;
  // By partition and producer.
  std::unordered_map<uint64_t, uint64_t> last_sequence_;
};

}  // namespace weir::load
