#include "engine/transaction/records.h"

#include <algorithm>
#include <array>

#include "engine/transaction/limits.h"
#include "engine/wire/records/record_codec.h"
#include "engine/wire/records/transaction_state.h"
#include "io/base/bytes.h"

namespace weir::transaction {

RecordEncoder::RecordEncoder() : arena_(kScratchSizeMax) {}

template <class Message>
void RecordEncoder::encode_message(const Message& message, int16_t version,
                                   std::vector<std::byte>& out) {
  wire::ChainWriter writer(arena_);
  wire::encode_record(message, version, writer);
  ASSERT(!writer.failed(), "a record larger than the limits allow");
  out.clear();
  for (const wire::Bytes piece : writer.pieces()) out.insert(out.end(), piece.begin(), piece.end());
}

void RecordEncoder::encode(std::string_view transactional_id, const TransactionValue* value,
                           int64_t now_ms, std::vector<std::byte>& out) {
  builder_.reset({.base_timestamp = now_ms});
  encode_message(wire::TransactionLogKey{.transactional_id = transactional_id},
                 kTransactionKeyType, key_);
  if (value == nullptr) {
    builder_.append(key_, std::nullopt, now_ms);
  } else {
    auto topics = wire::make_array<wire::TransactionLogValue::Partitions>(
        arena_, value->partitions.size());
    ASSERT(!topics.is_null());
    serials_.resize(4 * topics.size());
    size_t next = 0;
    for (const auto& [serial, from] : value->partitions) {
      auto& topic = topics[next];
      topic.topic = from.topic;
      topic.partition_ids = wire::make_array<int32_t>(arena_, from.partitions.size());
      ASSERT(!topic.partition_ids.is_null());
      std::ranges::copy(from.partitions, topic.partition_ids.begin());
      base::store_be<uint32_t>(serials_.data() + 4 * next++, serial.value());
    }
    wire::TransactionLogValue record{
        .producer_id = value->producer_id.value(),
        .previous_producer_id = value->previous_producer_id.value(),
        .next_producer_id = value->next_producer_id.value(),
        .producer_epoch = value->epoch.value(),
        .next_producer_epoch = -1,
        .transaction_timeout_ms = value->timeout_ms,
        .transaction_status = static_cast<int8_t>(value->state),
        .transaction_partitions = topics,
        .transaction_last_update_timestamp_ms = value->update_ms,
        .transaction_start_timestamp_ms = value->start_ms,
        .client_transaction_version = value->client_version};
    // Null where Kafka writes null: outside of a transaction.
    if (value->is(TransactionState::empty)) {
      record.transaction_partitions =
          wire::Array<wire::TransactionLogValue::Partitions>::null();
    }
    encode_message(record, kTransactionValueVersion, value_);
    std::array<std::byte, 2> last_epoch;
    base::store_be<int16_t>(last_epoch.data(), value->last_epoch.value());
    const std::array headers{
        log::RecordHeader{.key = kLastEpochHeader, .value = std::span(last_epoch)},
        log::RecordHeader{.key = kTopicSerialsHeader, .value = std::span(serials_)}};
    builder_.append(key_, value_, now_ms, std::span(headers).first(serials_.empty() ? 1 : 2));
  }
  const auto batch = builder_.finish();
  out.assign(batch.begin(), batch.end());
  arena_.reset();
}

namespace {

struct Headers {
  model::ProducerEpoch last_epoch{-1};
  std::span<const std::byte> serials;
};

Headers headers_of(const log::Record& record) {
  Headers found;
  std::span<const std::byte> headers = record.headers;
  log::RecordHeader header;
  for (int32_t i = 0; i < record.header_count; ++i) {
    if (!log::read_record_header(headers, header) || !header.value) break;
    if (header.key == kTopicSerialsHeader) found.serials = *header.value;
    if (header.key == kLastEpochHeader && header.value->size() == 2) {
      found.last_epoch = model::ProducerEpoch(base::load_be<int16_t>(header.value->data()));
    }
  }
  return found;
}

}  // namespace

std::optional<DecodedRecord> decode_record(const log::Record& record, TransactionHost& host,
                                           base::Arena& arena) {
  wire::TransactionLogKey key;
  if (!record.key || !wire::decode_record(key, *record.key, arena)) return std::nullopt;
  DecodedRecord out{.transactional_id = std::string(key.transactional_id), .value = {}};
  if (!record.value) return out;
  wire::TransactionLogValue value;
  if (!wire::decode_record(value, *record.value, arena)) return std::nullopt;
  const bool known_state = value.transaction_status >= 0 &&
                           value.transaction_status <= static_cast<int8_t>(TransactionState::dead);
  if (!known_state) return std::nullopt;
  const Headers headers = headers_of(record);
  TransactionValue& to = out.value.emplace();
  to.producer_id = model::ProducerId(value.producer_id);
  to.previous_producer_id = model::ProducerId(value.previous_producer_id);
  to.next_producer_id = model::ProducerId(value.next_producer_id);
  to.epoch = model::ProducerEpoch(value.producer_epoch);
  to.last_epoch = headers.last_epoch;
  to.timeout_ms = value.transaction_timeout_ms;
  to.state = static_cast<TransactionState>(value.transaction_status);
  to.start_ms = value.transaction_start_timestamp_ms;
  to.update_ms = value.transaction_last_update_timestamp_ms;
  to.client_version = value.client_transaction_version;
  const auto& topics = value.transaction_partitions;
  const bool has_serials = headers.serials.size() == 4 * topics.size();
  for (size_t i = 0; i < topics.size(); ++i) {
    std::optional<model::TopicSerial> serial;
    if (has_serials) {
      serial = model::TopicSerial(base::load_be<uint32_t>(headers.serials.data() + 4 * i));
    } else {
      serial = host.serial_of(topics[i].topic);
    }
    if (!serial) continue;
    TopicPartitions& partitions = to.partitions[*serial];
    partitions.topic = topics[i].topic;
    partitions.partitions.insert(topics[i].partition_ids.begin(), topics[i].partition_ids.end());
  }
  return out;
}

}  // namespace weir::transaction
