#include "bench/load/rdkafka_producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/load/times.h"

namespace weir::load {
namespace {

const char* codec_name(log::Compression codec) {
  switch (codec) {
    case log::Compression::none: return "none";
    case log::Compression::gzip: return "gzip";
    case log::Compression::snappy: return "snappy";
    case log::Compression::lz4: return "lz4";
    case log::Compression::zstd: return "zstd";
  }
  return "none";
}

RdkafkaClient::Settings settings_of(const Plan& plan, const RdkafkaOptions& options) {
  const BatchSpec& batches = plan.producer.batches;
  RdkafkaClient::Settings settings = {
      {"bootstrap.servers", options.bootstrap},
      {"client.id", "weir-bench"},
      {"acks", std::to_string(plan.producer.acks)},
      {"linger.ms", std::to_string(options.linger_ms)},
      {"batch.size", std::to_string(batches.batch_size_max)},
      {"compression.codec", codec_name(batches.compression.compression)},
      {"max.in.flight.requests.per.connection", std::to_string(plan.producer.window)},
      {"message.max.bytes", std::to_string(std::max<size_t>(1'000'000, batches.value_size + 4096))},
      {"socket.nagle.disable", "true"},
      {"message.timeout.ms", "60000"}};
  if (batches.record_count > 0) {
    settings.emplace_back("batch.num.messages", std::to_string(batches.record_count));
  }
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  return settings;
}

}  // namespace

RdkafkaProducer::RdkafkaProducer(const RdkafkaLibrary& library, const Plan& plan, int32_t index,
                                 Recorder& recorder, AckedEnds& acked_ends)
    : library_(library),
      plan_(plan),
      recorder_(recorder),
      acked_ends_(acked_ends),
      stamp_producer_((uint32_t{plan.run_id} << 16) | static_cast<uint32_t>(index)),
      keys_(plan.producer.batches.keys, std::max<int64_t>(1, plan.producer.batches.key_count),
            plan.producer.batches.zipf_exponent, static_cast<uint64_t>(index) + 1),
      random_(static_cast<uint64_t>(index) + 1, "values") {
  for (size_t i = 0; i < kValues; ++i) {
    values_.emplace_back(plan.producer.batches.value_size);
    fill_value(values_.back(), plan.producer.batches.random_share, random_);
  }
}

base::Result<std::unique_ptr<RdkafkaProducer>> RdkafkaProducer::open(
    const RdkafkaLibrary& library, const Plan& plan, const RdkafkaOptions& options, int32_t index,
    Recorder& recorder, AckedEnds& acked_ends) {
  std::unique_ptr<RdkafkaProducer> producer(
      new RdkafkaProducer(library, plan, index, recorder, acked_ends));
  TRY(producer->client_,
      RdkafkaClient::open(library, RD_KAFKA_PRODUCER, settings_of(plan, options),
                          {.opaque = producer.get(), .on_delivery = on_delivery}));
  producer->topic_ =
      library.topic_new(producer->client_->get(), plan.target.topic.c_str(), nullptr);
  if (producer->topic_ == nullptr) {
    return base::error(0, fmt::format("librdkafka: topic {}: {}", plan.target.topic,
                                      library.error_name(library.last_error())));
  }
  return producer;
}

RdkafkaProducer::~RdkafkaProducer() {
  if (topic_ != nullptr) library_.topic_destroy(topic_);
}

bool RdkafkaProducer::produce(int64_t intended_ns) {
  const BatchSpec& batches = plan_.producer.batches;
  std::vector<std::byte>& value = values_[sequence_ % kValues];
  if (value.size() >= kStampSize) {
    write_stamp(value, {.producer = stamp_producer_, .sequence = sequence_,
                        .intended_ns = intended_ns});
  }
  std::string key;
  bool tombstone = false;
  if (batches.keys != KeyDistribution::none) {
    key = key_text(keys_.next());
    tombstone = batches.tombstone_share > 0 && random_.chance(batches.tombstone_share);
  }
  const int failed = library_.produce(
      topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, tombstone ? nullptr : value.data(),
      tombstone ? 0 : value.size(), key.empty() ? nullptr : key.data(), key.size(),
      reinterpret_cast<void*>(intended_ns));
  if (failed == 0) {
    ++sequence_;
    return true;
  }
  const auto error = library_.last_error();
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  recorder_.failed(static_cast<int16_t>(error));
  return true;
}

void RdkafkaProducer::serve(int32_t wait_ms) { library_.poll(client_->get(), wait_ms); }

size_t RdkafkaProducer::unanswered() const {
  return static_cast<size_t>(library_.outq_len(client_->get()));
}

void RdkafkaProducer::abandon() {
  library_.purge(client_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

void RdkafkaProducer::on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  static_cast<RdkafkaProducer*>(opaque)->delivered(*message);
}

void RdkafkaProducer::delivered(const rd_kafka_message_t& message) {
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return recorder_.failed(static_cast<int16_t>(message.err));
  }
  const auto intended_ns = reinterpret_cast<int64_t>(message._private);
  if (message.offset >= 0) acked_ends_.raise(message.partition, message.offset + 1);
  recorder_.acked(intended_ns, now_ns(), 1, message.len + message.key_len);
}

}  // namespace weir::load
