#include "bench/load/rdkafka_consumer.h"

#include <fmt/format.h>

#include "bench/load/batch_factory.h"
#include "bench/load/times.h"

namespace weir::load {
namespace {

constexpr int kMessagesMax = 1000;  // of one serve()

}  // namespace

bool ReaderGroup::caught_up(const AckedEnds& ends) const {
  for (size_t i = 0; i < positions_.size(); ++i) {
    if (positions_[i] < ends.get(static_cast<int32_t>(i))) return false;
  }
  return true;
}

void ReaderGroup::report_unread(const AckedEnds& ends, Verification& found) const {
  for (size_t i = 0; i < positions_.size(); ++i) {
    const int64_t end = ends.get(static_cast<int32_t>(i));
    if (positions_[i] >= end) continue;
    found.problem(found.not_read, fmt::format("partition {}: acknowledged to offset {}, read to {}",
                                              i, end, positions_[i].load()));
  }
}

base::Result<std::unique_ptr<RdkafkaConsumer>> RdkafkaConsumer::open(
    const RdkafkaLibrary& library, const Plan& plan, const RdkafkaOptions& options, int32_t reader,
    ReaderGroup& group, Recorder& recorder) {
  RdkafkaClient::Settings settings = {
      {"bootstrap.servers", options.bootstrap},
      {"client.id", "weir-bench"},
      {"group.id", fmt::format("{}-{}", options.group_prefix, reader)},
      {"enable.auto.commit", "false"},
      {"auto.offset.reset", "error"},
      {"check.crcs", "true"},
      {"fetch.min.bytes", std::to_string(plan.consumer.fetch_bytes_min)},
      {"fetch.wait.max.ms", std::to_string(plan.consumer.fetch_wait_ms)},
      {"max.partition.fetch.bytes", std::to_string(plan.consumer.fetch_bytes_max)}};
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  std::unique_ptr<RdkafkaConsumer> consumer(
      new RdkafkaConsumer(library, plan, group, recorder));
  TRY(consumer->client_,
      RdkafkaClient::open(library, RD_KAFKA_CONSUMER, settings,
                          {.opaque = consumer.get(), .on_rebalance = on_rebalance}));
  rd_kafka_t* const client = consumer->client_->get();
  library.poll_set_consumer(client);
  rd_kafka_topic_partition_list_t* const topics = library.list_new(1);
  library.list_add(topics, plan.target.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto error = library.subscribe(client, topics);
  library.list_destroy(topics);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return base::error(0, fmt::format("librdkafka: subscribe: {}", library.error_name(error)));
  }
  return consumer;
}

void RdkafkaConsumer::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                                   rd_kafka_topic_partition_list_t* partitions, void* opaque) {
  auto& self = *static_cast<RdkafkaConsumer*>(opaque);
  self.group_.assigned -= self.assigned_;
  self.assigned_ = 0;
  if (event != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    self.library_.assign(client, nullptr);
    return;
  }
  for (int i = 0; i < partitions->cnt; ++i) {
    auto& element = partitions->elems[i];
    element.offset = self.group_.position(element.partition);
  }
  self.library_.assign(client, partitions);
  self.assigned_ = partitions->cnt;
  self.group_.assigned += self.assigned_;
}

void RdkafkaConsumer::serve(int32_t wait_ms, bool timed) {
  timed_ = timed;
  Flow flow;
  for (int i = 0; i < kMessagesMax; ++i) {
    rd_kafka_message_t* const message =
        library_.consumer_poll(client_->get(), i == 0 ? wait_ms : 0);
    if (message == nullptr) break;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      take(*message, flow);
    } else if (message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      recorder_.failed(static_cast<int16_t>(message->err));
    }
    library_.message_destroy(message);
  }
  if (timed_ && flow.records > 0) recorder_.fetched(now_ns(), flow);
}

void RdkafkaConsumer::take(const rd_kafka_message_t& message, Flow& flow) {
  Verification& found = recorder_.results().verification;
  std::atomic<int64_t>& position = group_.position(message.partition);
  ++found.batches;
  if (message.offset != position && !plan_.consumer.gaps_allowed) {
    found.problem(found.gaps, fmt::format("partition {}: offset {} follows on {}",
                                          message.partition, message.offset, position.load()));
  }
  position = message.offset + 1;
  flow.add(1, message.len + message.key_len);
  check_order(message);
}

void RdkafkaConsumer::check_order(const rd_kafka_message_t& message) {
  const auto stamp =
      read_stamp({static_cast<const std::byte*>(message.payload), message.len});
  if (!stamp || stamp->producer >> 16 != plan_.run_id) return;
  Verification& found = recorder_.results().verification;
  ++found.stamps;
  const uint64_t key =
      (static_cast<uint64_t>(message.partition) << 32) | (stamp->producer & 0xffff);
  const auto [last, is_first] = last_sequence_.try_emplace(key, stamp->sequence);
  if (!is_first && stamp->sequence <= last->second) {
    found.problem(found.out_of_order,
                  fmt::format("partition {} offset {}: record {} of producer {} follows on {}",
                              message.partition, message.offset, stamp->sequence,
                              stamp->producer & 0xffff, last->second));
  }
  last->second = stamp->sequence;
  if (timed_) recorder_.arrived(stamp->intended_ns, now_ns(), 1);
}

void RdkafkaConsumer::close() { library_.consumer_close(client_->get()); }

}  // namespace weir::load
