#include "engine/group/replay.h"

#include "engine/group/limits.h"
#include "engine/group/records.h"
#include "engine/log/transaction_marker.h"
#include "engine/wire/records/offset_commit.h"
#include "engine/wire/records/record_codec.h"

namespace weir::group {

Replay::Replay(GroupTable& table, GroupTimeouts& timeouts, ConsumerTimeouts& consumer_timeouts,
               PendingOffsets& pending)
    : table_(table),
      timeouts_(timeouts),
      consumer_replay_(table, timeouts, consumer_timeouts),
      pending_(pending),
      arena_(kScratchSizeMax) {}

void Replay::apply(model::PartitionIndex partition, std::span<const std::byte> batches) {
  while (log::starts_with_batch(batches)) {
    const log::BatchView batch(batches);
    batches = batches.subspan(batch.size());
    if (batch.is_control()) {
      const auto marker = log::read_marker(batch);
      if (marker) pending_.end(partition, batch.producer_id(), marker->commit);
      continue;
    }
    if (batch.is_transactional() && !batch.has_producer_id()) {
      records_skipped_ += static_cast<uint64_t>(batch.record_count());
      continue;
    }
    // Commits of transactions count only with their marker.
    const model::ProducerId producer_id =
        batch.is_transactional() ? batch.producer_id() : model::kNoProducerId;
    if (batch.compression_bits() == 0) {
      apply_records(partition, producer_id, batch.records());
      continue;
    }
    // Only another broker compresses here: the topic was taken over with its data.
    log::Inflater inflater;
    inflater.begin(batch.compression(), batch.records());
    std::vector<std::byte> records;
    size_t size = 0;
    while (inflater.status() == log::InflateStatus::more) {
      records.resize(size + (size_t{64} << 10));
      size += inflater.read(std::span(records).subspan(size));
    }
    records.resize(size);
    apply_records(partition, producer_id, records);
  }
  if (!batches.empty()) ++records_skipped_;
}

void Replay::apply_records(model::PartitionIndex partition, model::ProducerId producer_id,
                           std::span<const std::byte> records) {
  log::Record record;
  while (!records.empty()) {
    if (!log::read_record(records, record)) {
      ++records_skipped_;
      return;
    }
    ++records_;
    if (!apply_record(partition, producer_id, record)) ++records_skipped_;
    arena_.reset();
  }
}

bool Replay::apply_record(model::PartitionIndex partition, model::ProducerId producer_id,
                          const log::Record& record) {
  if (!record.key) return false;
  const auto type = wire::record_prefix(*record.key);
  if (!type) return false;
  if (wire::OffsetCommitKey::kInfo.versions.contains(*type)) {
    return apply_offset(partition, producer_id, record);
  }
  if (*type == kGroupMetadataKeyType) return apply_group(partition, record);
  if (ConsumerReplay::handles(*type)) {
    return consumer_replay_.apply(partition, *type, record, arena_);
  }
  return false;
}

namespace {

base::Uuid topic_id_of(const log::Record& record) {
  std::span<const std::byte> headers = record.headers;
  log::RecordHeader header;
  for (int32_t i = 0; i < record.header_count; ++i) {
    if (!log::read_record_header(headers, header)) break;
    base::Uuid id;
    if (header.key != kTopicIdHeader || !header.value || header.value->size() != id.bytes.size()) {
      continue;
    }
    std::ranges::copy(*header.value, id.bytes.begin());
    return id;
  }
  return {};
}

}  // namespace

bool Replay::apply_offset(model::PartitionIndex partition, model::ProducerId producer_id,
                          const log::Record& record) {
  wire::OffsetCommitKey key;
  if (!wire::decode_record(key, *record.key, arena_)) return false;
  Group* const known = table_.find(key.group);
  if (!record.value) {
    if (known == nullptr) return true;
    pending_.forget(*known, key.topic, key.partition);
    OffsetSlot* const slot = known->offsets.find_slot(key.topic, key.partition);
    if (slot == nullptr) return true;
    known->offsets.clear(*slot);
    known->offsets.erase_if_free(key.topic, key.partition);
    table_.forget_if_idle(*known);
    return true;
  }
  wire::OffsetCommitValue value;
  if (!wire::decode_record(value, *record.value, arena_)) return false;
  Group& group = table_.find_or_restore(key.group, partition, timeouts_);
  const base::Uuid topic_id = value.topic_id.is_zero() ? topic_id_of(record) : value.topic_id;
  CommittedOffset committed{.offset = value.offset,
                            .leader_epoch = value.leader_epoch,
                            .commit_timestamp_ms = value.commit_timestamp,
                            .expire_timestamp_ms = value.expire_timestamp,
                            .topic_id = topic_id,
                            .metadata = std::string(value.metadata)};
  if (producer_id != model::kNoProducerId) {
    pending_.add(partition, producer_id, group, key.topic, key.partition, std::move(committed));
  } else {
    OffsetSlot& slot = group.offsets.make_slot(key.topic, key.partition);
    slot.order = pending_.next_order();
    group.offsets.set(slot, std::move(committed));
  }
  table_.account(group);
  return true;
}

bool Replay::apply_group(model::PartitionIndex partition, const log::Record& record) {
  wire::GroupMetadataKey key;
  if (!wire::decode_record(key, *record.key, arena_)) return false;
  wire::GroupMetadataValue value;
  if (record.value && !wire::decode_record(value, *record.value, arena_)) return false;
  if (!record.value && table_.find(key.group) == nullptr) return true;
  Group& group = table_.find_or_restore(key.group, partition, timeouts_);
  if (group.consumer && !record.value) return true;  // it was a classic group before
  group.consumer.reset();
  group.forget_members();
  group.on_log = record.value.has_value();
  group.durable_generation = -1;
  if (record.value) {
    restore_members(group, value);
  } else {
    // Offsets committed after it make a simple group.
    group.restore(std::nullopt, 0, std::nullopt, -1);
  }
  table_.forget_if_idle(group);
  return true;
}

void Replay::restore_members(Group& group, const wire::GroupMetadataValue& value) {
  const auto text = [](const wire::NullableString& from) {
    return from ? std::optional<std::string>(*from) : std::nullopt;
  };
  std::optional<std::string> type;
  if (!value.protocol_type.empty()) type = std::string(value.protocol_type);
  group.restore(type, value.generation, text(value.protocol), value.current_state_timestamp);
  if (value.members.empty()) return;
  group.durable_generation = value.generation;
  group.durable_protocol = value.protocol.value_or("");
  for (const auto& from : value.members) {
    const bool twice = group.find_member(from.member_id) != nullptr ||
                       (from.group_instance_id &&
                        group.find_static(*from.group_instance_id) != nullptr);
    if (twice) continue;
    auto member = std::make_unique<Member>(group, timeouts_, std::string(from.member_id));
    member->instance_id = text(from.group_instance_id);
    member->client_id = from.client_id;
    member->client_host = from.client_host;
    member->session_timeout_ms = from.session_timeout;
    member->rebalance_timeout_ms =
        from.rebalance_timeout > 0 ? from.rebalance_timeout : from.session_timeout;
    member->protocols.push_back({group.durable_protocol,
                                 {from.subscription.begin(), from.subscription.end()}});
    member->assignment.assign(from.assignment.begin(), from.assignment.end());
    member->in_durable_generation = true;
    group.restore_member(std::move(member));
  }
  group.restore_leader(value.leader.value_or(""));
}

}  // namespace weir::group
