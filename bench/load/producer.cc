#include "bench/load/producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/load/times.h"
#include "engine/model/error_code.h"
#include "engine/wire/codec.h"
#include "engine/wire/messages/produce.h"

namespace weir::load {
namespace {

constexpr int32_t kAckTimeout_ms = 30'000;
constexpr size_t kCorrelationIdPosition = 8;
// The last fields of the template: partition index and size of the records.
constexpr size_t kPartitionFromEnd = 8;
constexpr size_t kRecordsSizeFromEnd = 4;

// While a topic is new, its leaders may not know of it yet.
bool is_early(int16_t code) {
  const auto error = static_cast<model::ErrorCode>(code);
  return error == model::ErrorCode::unknown_topic_or_partition ||
         error == model::ErrorCode::leader_not_available ||
         error == model::ErrorCode::not_leader_or_follower;
}

}  // namespace

Producer::Producer(const Plan& plan, int32_t index, const BatchFactory& batches,
                   Recorder& recorder, AckedEnds& acked_ends)
    : plan_(plan),
      batches_(batches),
      recorder_(recorder),
      acked_ends_(acked_ends),
      stamp_producer_((uint32_t{plan.run_id} << 16) | static_cast<uint32_t>(index)) {}

base::Result<std::unique_ptr<Producer>> Producer::open(const Plan& plan, int32_t index,
                                                       const BatchFactory& batches,
                                                       Recorder& recorder, AckedEnds& acked_ends) {
  const Target& target = plan.target;
  const auto brokers = static_cast<int32_t>(target.brokers.size());
  const auto broker = static_cast<size_t>(index % brokers);
  std::unique_ptr<Producer> producer(new Producer(plan, index, batches, recorder, acked_ends));
  TRY(producer->connection_, KafkaConnection::open(target.brokers[broker]));
  std::vector<int32_t> of_broker;
  for (int32_t p = 0; p < target.partition_count(); ++p) {
    if (target.leaders[static_cast<size_t>(p)] == broker) of_broker.push_back(p);
  }
  // Its share of them, or one of them where there are more producers than partitions.
  const auto rank = static_cast<size_t>(index / brokers);
  const auto peers = static_cast<size_t>(
      std::max(1, (plan.producer.connections - index % brokers + brokers - 1) / brokers));
  for (size_t i = rank; i < of_broker.size(); i += peers) {
    producer->partitions_.push_back(of_broker[i]);
  }
  if (producer->partitions_.empty()) {
    producer->partitions_.push_back(of_broker[rank % of_broker.size()]);
  }
  producer->last_base_offset_.assign(producer->partitions_.size(), -1);
  producer->make_template();
  return producer;
}

// One byte as records, which come last, and that byte taken off again.
void Producer::make_template() {
  const std::byte byte{};
  wire::ProduceRequest::Partition partition{.index = 0, .records = wire::Bytes(&byte, 1)};
  wire::ProduceRequest::Topic topic{.name = plan_.target.topic, .topic_id = {},
                                    .partition_data = {&partition, 1}};
  const wire::ProduceRequest request{.transactional_id = {},
                                     .acks = plan_.producer.acks,
                                     .timeout_ms = kAckTimeout_ms,
                                     .topic_data = {&topic, 1}};
  arena_.reset();
  for (const wire::Bytes piece : wire::encode_request(0, "weir-bench",
                                                      plan_.target.produce_version, request,
                                                      arena_)) {
    template_.insert(template_.end(), piece.begin(), piece.end());
  }
  template_.pop_back();
  head_.resize(template_.size() + BatchFactory::kFrontSizeMax);
  std::ranges::copy(template_, head_.begin());
}

base::Status Producer::pump(bool closed_loop) {
  CHECK_OK(connection_->flush());
  if (!connection_->sending()) on_sent();
  const auto window = static_cast<size_t>(plan_.producer.window);
  while (!connection_->sending() && in_flight_.size() < window) {
    const int64_t now = now_ns();
    if (!due_.empty()) {
      const int64_t intended = due_.front();
      due_.pop_front();
      if (recorder_.window().contains(intended)) {
        recorder_.results().start_delay.add(now - intended);
      }
      CHECK_OK(start(intended, now));
    } else if (closed_loop) {
      CHECK_OK(start(now, now));
    } else {
      break;
    }
  }
  return {};
}

base::Status Producer::start(int64_t intended_ns, int64_t now_ns) {
  const size_t turn = next_partition_;
  next_partition_ = next_partition_ + 1 == partitions_.size() ? 0 : next_partition_ + 1;
  const int32_t partition = partitions_[turn];
  const Batch& batch = batches_.batch(partition, sequence_);
  const Stamp stamp{.producer = stamp_producer_, .sequence = sequence_++,
                    .intended_ns = intended_ns};
  std::byte* const head = head_.data();
  const size_t template_size = template_.size();
  // The record timestamp is the intended start, too: for batches without a stamp.
  const int64_t timestamp_ms = wall_ms() - (now_ns - intended_ns) / 1'000'000;
  const size_t front_size = stamp_front(batch, stamp, timestamp_ms,
                                        std::span(head_).subspan(template_size));
  const size_t frame_size = template_size + batch.bytes.size();
  base::store_be(head, static_cast<int32_t>(frame_size - sizeof(int32_t)));
  base::store_be(head + kCorrelationIdPosition, ++correlation_id_);
  base::store_be(head + template_size - kPartitionFromEnd, partition);
  base::store_be(head + template_size - kRecordsSizeFromEnd,
                 static_cast<int32_t>(batch.bytes.size()));
  in_flight_.push_back({.intended_ns = intended_ns,
                        .correlation_id = correlation_id_,
                        .turn = turn,
                        .records = static_cast<uint32_t>(batch.record_count),
                        .bytes = static_cast<uint32_t>(batch.bytes.size())});
  CHECK_OK(connection_->send({std::span(head_).first(template_size + front_size), batch.rest()}));
  if (!connection_->sending()) on_sent();
  return {};
}

// Without acknowledgements a batch is done once the socket took it.
void Producer::on_sent() {
  if (plan_.producer.acks != 0) return;
  const int64_t now = now_ns();
  for (const InFlight& sent : in_flight_) {
    recorder_.acked(sent.intended_ns, now, sent.records, sent.bytes);
  }
  in_flight_.clear();
}

base::Status Producer::on_readable() {
  CHECK_OK(connection_->receive());
  KafkaConnection::Bytes frame;
  while (true) {
    TRY(const bool found, connection_->next_frame(frame));
    if (!found) return {};
    CHECK_OK(on_answer(frame));
  }
}

base::Status Producer::on_answer(KafkaConnection::Bytes frame) {
  const auto refuse = [&](std::string_view why) {
    return base::error(0, fmt::format("the broker at {}: {}", connection_->peer(), why));
  };
  const int16_t version = plan_.target.produce_version;
  size_t body_position = 0;
  const auto id = wire::decode_response_header(frame, wire::ApiKey::produce, version,
                                               body_position);
  if (!id || in_flight_.empty() || *id != in_flight_.front().correlation_id) {
    return refuse("answered another request than the oldest");
  }
  const InFlight done = in_flight_.front();
  in_flight_.pop_front();
  arena_.reset();
  wire::ProduceResponse response;
  if (const auto decoded = wire::decode(response, frame.subspan(body_position), version, arena_);
      !decoded) {
    return refuse(fmt::format("sent a Produce answer that is none: {}",
                              wire::to_string(decoded.error())));
  }
  if (response.responses.size() != 1 || response.responses[0].partition_responses.size() != 1) {
    return refuse("answered Produce for another number of partitions");
  }
  const auto& answer = response.responses[0].partition_responses[0];
  const size_t turn = done.turn;
  if (answer.index != partitions_[turn]) return refuse("answered Produce for another partition");
  const int64_t now = now_ns();
  if (answer.error_code != 0) {
    if (is_early(answer.error_code) && now < recorder_.window().from_ns) {
      ++recorder_.results().warmup_errors;
    } else {
      recorder_.failed(answer.error_code);
    }
    return {};
  }
  // What this connection sent one after another lies one after another.
  if (answer.base_offset <= last_base_offset_[turn]) {
    Verification& verification = recorder_.results().verification;
    verification.problem(verification.out_of_order,
                         fmt::format("partition {}: acknowledged at offset {} after {}",
                                     answer.index, answer.base_offset, last_base_offset_[turn]));
  }
  last_base_offset_[turn] = answer.base_offset;
  acked_ends_.raise(answer.index, answer.base_offset + done.records);
  recorder_.acked(done.intended_ns, now, done.records, done.bytes);
  return {};
}

}  // namespace weir::load
