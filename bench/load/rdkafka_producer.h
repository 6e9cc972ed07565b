#pragma once
// RdkafkaProducer: one producer of librdkafka under the plan's schedule, as an application would
// use it: record by record, batches are the library's. The intended start of a record travels as
// its opaque, so that the delivery report knows it. A thread of the run owns it and calls
// everything.

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/load/key_chooser.h"
#include "bench/load/plan.h"
#include "bench/load/rdkafka_client.h"
#include "bench/load/recorder.h"
#include "io/base/random.h"

namespace weir::load {

class RdkafkaProducer {
 public:
  static base::Result<std::unique_ptr<RdkafkaProducer>> open(const RdkafkaLibrary& library,
                                                             const Plan& plan,
                                                             const RdkafkaOptions& options,
                                                             int32_t index, Recorder& recorder,
                                                             AckedEnds& acked_ends);
  ~RdkafkaProducer();
  RdkafkaProducer(const RdkafkaProducer&) = delete;
  RdkafkaProducer& operator=(const RdkafkaProducer&) = delete;

  // Hands a record to the library; false: its queue is full, try later.
  bool produce(int64_t intended_ns);
  // Runs delivery reports; waits for the first one up to wait_ms.
  void serve(int32_t wait_ms);
  [[nodiscard]] size_t unanswered() const;
  // Gives up on what is unanswered.
  void abandon();

 private:
  static constexpr size_t kValues = 16;

  RdkafkaProducer(const RdkafkaLibrary& library, const Plan& plan, int32_t index,
                  Recorder& recorder, AckedEnds& acked_ends);
  static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);
  void delivered(const rd_kafka_message_t& message);

  const RdkafkaLibrary& library_;
  const Plan& plan_;
  Recorder& recorder_;
  AckedEnds& acked_ends_;
  const uint32_t stamp_producer_;
  std::unique_ptr<RdkafkaClient> client_;
  rd_kafka_topic_t* topic_ = nullptr;
  KeyChooser keys_;
  base::RandomStream random_;
  std::vector<std::vector<std::byte>> values_;
  uint64_t sequence_ = 0;
};

}  // namespace weir::load
