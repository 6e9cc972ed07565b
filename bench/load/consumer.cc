#include "bench/load/consumer.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/load/times.h"
#include "engine/wire/codec.h"

namespace weir::load {

base::Result<std::unique_ptr<Consumer>> Consumer::open(const Plan& plan, int32_t index,
                                                       Recorder& recorder,
                                                       const AckedEnds& acked_ends) {
  const Target& target = plan.target;
  const auto brokers = static_cast<int32_t>(target.brokers.size());
  // Within its reader: a broker, and a share of its partitions.
  const int32_t rank = index % plan.consumer.connections;
  const auto broker = static_cast<size_t>(rank % brokers);
  const int32_t peers =
      std::max(1, (plan.consumer.connections - rank % brokers + brokers - 1) / brokers);
  std::unique_ptr<Consumer> consumer(new Consumer(plan, recorder, acked_ends));
  TRY(consumer->connection_, KafkaConnection::open(target.brokers[broker]));
  consumer->place_.assign(target.leaders.size(), SIZE_MAX);
  const auto& from = plan.consumer.from_start ? target.start_offsets : target.end_offsets;
  const int64_t wall_from_ms = wall_ms();
  int32_t seen = 0;
  for (int32_t p = 0; p < target.partition_count(); ++p) {
    const auto slot = static_cast<size_t>(p);
    if (target.leaders[slot] != broker || seen++ % peers != rank / brokers) continue;
    consumer->place_[slot] = consumer->readings_.size();
    consumer->readings_.push_back({p, BatchChecker({.partition = p,
                                                    .position = from[slot],
                                                    .gaps_allowed = plan.consumer.gaps_allowed,
                                                    .run_id = plan.run_id,
                                                    .wall_from_ms = wall_from_ms}),
                                   plan.consumer.from_start});
  }
  if (plan.consumer.from_start) consumer->behind_ = consumer->readings_.size();
  return consumer;
}

base::Status Consumer::pump() {
  CHECK_OK(connection_->flush());
  if (waiting_ || stopping_ || readings_.empty()) return {};
  return ask();
}

base::Status Consumer::ask() {
  arena_.reset();
  std::vector<wire::FetchRequest::Partition> partitions;
  partitions.reserve(readings_.size());
  for (size_t i = 0; i < readings_.size(); ++i) {
    const Reading& reading = readings_[(first_ + i) % readings_.size()];
    partitions.push_back({.partition = reading.partition,
                          .fetch_offset = reading.checker.position(),
                          .partition_max_bytes = plan_.consumer.fetch_bytes_max});
  }
  first_ = (first_ + 1) % readings_.size();
  wire::FetchRequest::Topic topic{.topic = plan_.target.topic,
                                  .topic_id = {},
                                  .partitions = {partitions.data(), partitions.size()}};
  const wire::FetchRequest request{.max_wait_ms = plan_.consumer.fetch_wait_ms,
                                   .min_bytes = plan_.consumer.fetch_bytes_min,
                                   .max_bytes = plan_.consumer.fetch_bytes_max,
                                   .topics = {&topic, 1}};
  request_.clear();
  for (const wire::Bytes piece : wire::encode_request(
           ++correlation_id_, "weir-bench", plan_.target.fetch_version, request, arena_)) {
    request_.insert(request_.end(), piece.begin(), piece.end());
  }
  waiting_ = true;
  return connection_->send({request_});
}

base::Status Consumer::on_readable() {
  CHECK_OK(connection_->receive());
  KafkaConnection::Bytes frame;
  while (true) {
    TRY(const bool found, connection_->next_frame(frame));
    if (!found) return {};
    CHECK_OK(on_answer(frame));
  }
}

base::Status Consumer::on_answer(KafkaConnection::Bytes frame) {
  const auto refuse = [&](std::string_view why) {
    return base::error(0, fmt::format("the broker at {}: {}", connection_->peer(), why));
  };
  const int16_t version = plan_.target.fetch_version;
  size_t body_position = 0;
  const auto id = wire::decode_response_header(frame, wire::ApiKey::fetch, version, body_position);
  if (!id || !waiting_ || *id != correlation_id_) {
    return refuse("answered another request than the last");
  }
  waiting_ = false;
  arena_.reset();
  wire::FetchResponse response;
  if (const auto decoded = wire::decode(response, frame.subspan(body_position), version, arena_);
      !decoded) {
    return refuse(fmt::format("sent a Fetch answer that is none: {}",
                              wire::to_string(decoded.error())));
  }
  const int64_t now = now_ns();
  Flow flow{.requests = 1};
  if (response.error_code != 0) recorder_.failed(response.error_code);
  for (const auto& topic : response.responses) {
    for (const auto& partition : topic.partitions) {
      const auto index = static_cast<size_t>(partition.partition_index);
      if (partition.partition_index < 0 || index >= place_.size() ||
          place_[index] == SIZE_MAX) {
        return refuse("answered Fetch for a partition that was not asked for");
      }
      on_partition(partition, now, flow);
    }
  }
  recorder_.fetched(now, flow);
  return {};
}

void Consumer::on_partition(const wire::FetchResponse::Partition& answer, int64_t now_ns,
                            Flow& flow) {
  if (answer.error_code != 0) return recorder_.failed(answer.error_code);
  const auto slot = static_cast<size_t>(answer.partition_index);
  Reading& reading = readings_[place_[slot]];
  BatchChecker& checker = reading.checker;
  const uint64_t bytes_before = flow.bytes;
  for (const wire::Bytes piece : answer.records.pieces) {
    checker.check(piece, now_ns, flow, recorder_);
  }
  bytes_ += flow.bytes - bytes_before;
  if (reading.behind && checker.position() >= answer.high_watermark) {
    on_end_reached(reading, now_ns);
  }
  if (plan_.consumer.again_at_end && checker.position() >= answer.high_watermark) {
    checker.start_over(plan_.target.start_offsets[slot]);
  }
}

void Consumer::on_end_reached(Reading& reading, int64_t now_ns) {
  reading.behind = false;
  if (--behind_ > 0) return;
  Results& results = recorder_.results();
  const int64_t start_ns = recorder_.window().from_ns - plan_.warmup_ms * 1'000'000;
  results.catch_up_s = std::max(results.catch_up_s, static_cast<double>(now_ns - start_ns) * 1e-9);
  results.catch_up_bytes += bytes_;
}

bool Consumer::caught_up() const {
  return std::ranges::all_of(readings_, [&](const Reading& reading) {
    return reading.checker.position() >= acked_ends_.get(reading.partition);
  });
}

void Consumer::report_unread() {
  if (plan_.consumer.again_at_end) return;
  Verification& found = recorder_.results().verification;
  for (const Reading& reading : readings_) {
    const int64_t end = acked_ends_.get(reading.partition);
    if (reading.checker.position() >= end) continue;
    found.problem(found.not_read, fmt::format("partition {}: acknowledged to offset {}, read to {}",
                                              reading.partition, end,
                                              reading.checker.position()));
  }
}

}  // namespace weir::load
