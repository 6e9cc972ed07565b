#include "engine/group/consumer_records.h"

#include <algorithm>

#include "engine/group/limits.h"
#include "engine/wire/chain_writer.h"
#include "engine/wire/records/consumer_group.h"
#include "engine/wire/records/record_codec.h"

namespace weir::group {

namespace {

wire::NullableString nullable(const std::optional<std::string>& text) {
  return text ? wire::NullableString(*text) : wire::NullableString();
}

wire::Array<wire::ConsumerGroupTopicPartitions> rows_of(const Assignment& assignment,
                                                        base::Arena& arena) {
  auto rows = wire::make_array<wire::ConsumerGroupTopicPartitions>(arena, assignment.size());
  size_t next = 0;
  for (const auto& [topic, partitions] : assignment) {
    auto& row = rows[next++];
    row.topic_id = topic;
    row.partitions = wire::make_array<int32_t>(arena, partitions.size());
    std::ranges::copy(partitions, row.partitions.begin());
  }
  return rows;
}

template <class Texts>
wire::Array<std::string_view> texts_of(const Texts& texts, base::Arena& arena) {
  auto array = wire::make_array<std::string_view>(arena, texts.size());
  std::ranges::copy(texts, array.begin());
  return array;
}

}  // namespace

ConsumerRecordEncoder::ConsumerRecordEncoder(LogWriter& log_writer)
    : log_writer_(log_writer), arena_(2 * kScratchSizeMax) {}

template <class Message>
void ConsumerRecordEncoder::encode(const Message& message, int16_t version,
                                   std::vector<std::byte>& out) {
  wire::ChainWriter writer(arena_);
  wire::encode_record(message, version, writer);
  ASSERT(!writer.failed(), "a record larger than the limits allow");
  out.clear();
  for (const wire::Bytes piece : writer.pieces()) out.insert(out.end(), piece.begin(), piece.end());
}

template <class Key, class Value>
void ConsumerRecordEncoder::add(const Key& key, const Value& value) {
  encode(key, Key::kInfo.key, key_);
  encode(value, Value::kInfo.versions.max, value_);
  log_writer_.add(key_, value_);
  arena_.reset();
}

template <class Key>
void ConsumerRecordEncoder::add_tombstone(const Key& key) {
  encode(key, Key::kInfo.key, key_);
  log_writer_.add(key_, std::nullopt);
  arena_.reset();
}

void ConsumerRecordEncoder::add_epoch(std::string_view group_id, const ConsumerGroup& group) {
  add(wire::ConsumerGroupMetadataKey{.group_id = group_id},
      wire::ConsumerGroupMetadataValue{.epoch = group.epoch, .metadata_hash = group.metadata_hash});
}

void ConsumerRecordEncoder::add_member(std::string_view group_id, const ConsumerMember& member) {
  const ConsumerMemberInfo& info = member.info();
  wire::ConsumerGroupMemberMetadataValue value;
  value.instance_id = nullable(info.instance_id);
  value.rack_id = nullable(info.rack_id);
  value.client_id = info.client_id;
  value.client_host = info.client_host;
  value.subscribed_topic_names = texts_of(info.topic_names, arena_);
  value.subscribed_topic_regex = info.regex;
  value.rebalance_timeout_ms = info.rebalance_timeout_ms;
  value.server_assignor = nullable(info.assignor);
  add(wire::ConsumerGroupMemberMetadataKey{.group_id = group_id, .member_id = member.id()}, value);
}

void ConsumerRecordEncoder::add_target_epoch(std::string_view group_id, int32_t epoch) {
  add(wire::ConsumerGroupTargetAssignmentMetadataKey{.group_id = group_id},
      wire::ConsumerGroupTargetAssignmentMetadataValue{.assignment_epoch = epoch});
}

void ConsumerRecordEncoder::add_target(std::string_view group_id, const ConsumerMember& member) {
  add(wire::ConsumerGroupTargetAssignmentMemberKey{.group_id = group_id, .member_id = member.id()},
      wire::ConsumerGroupTargetAssignmentMemberValue{
          .topic_partitions = rows_of(member.target(), arena_)});
}

void ConsumerRecordEncoder::add_current(std::string_view group_id, const ConsumerMember& member) {
  const CurrentAssignment& current = member.current();
  wire::ConsumerGroupCurrentMemberAssignmentValue value;
  value.member_epoch = current.epoch;
  value.previous_member_epoch = current.previous_epoch;
  value.state = static_cast<int8_t>(current.state);
  value.assigned_partitions = rows_of(current.assigned, arena_);
  value.partitions_pending_revocation = rows_of(current.pending_revocation, arena_);
  add(wire::ConsumerGroupCurrentMemberAssignmentKey{.group_id = group_id, .member_id = member.id()},
      value);
}

void ConsumerRecordEncoder::add_regex(std::string_view group_id, std::string_view text,
                                      const ResolvedRegex& regex) {
  add(wire::ConsumerGroupRegularExpressionKey{.group_id = group_id, .regular_expression = text},
      wire::ConsumerGroupRegularExpressionValue{.topics = texts_of(regex.topics, arena_),
                                                .version = regex.version,
                                                .timestamp = regex.timestamp_ms});
}

void ConsumerRecordEncoder::add_member_tombstones(std::string_view group_id,
                                                  std::string_view member_id) {
  add_tombstone(wire::ConsumerGroupCurrentMemberAssignmentKey{.group_id = group_id,
                                                              .member_id = member_id});
  add_tombstone(wire::ConsumerGroupTargetAssignmentMemberKey{.group_id = group_id,
                                                             .member_id = member_id});
  add_tombstone(wire::ConsumerGroupMemberMetadataKey{.group_id = group_id,
                                                     .member_id = member_id});
}

void ConsumerRecordEncoder::add_regex_tombstone(std::string_view group_id, std::string_view text) {
  add_tombstone(wire::ConsumerGroupRegularExpressionKey{.group_id = group_id,
                                                        .regular_expression = text});
}

void ConsumerRecordEncoder::add_group_tombstones(std::string_view group_id,
                                                 const ConsumerGroup& group) {
  add_tombstone(wire::ConsumerGroupTargetAssignmentMetadataKey{.group_id = group_id});
  if (group.has_partition_metadata) {
    add_tombstone(wire::ConsumerGroupPartitionMetadataKey{.group_id = group_id});
  }
  add_tombstone(wire::ConsumerGroupMetadataKey{.group_id = group_id});
}

void ConsumerRecordEncoder::add_all(std::string_view group_id, const ConsumerGroup& group) {
  for (const auto& [id, member] : group.members()) add_member(group_id, *member);
  for (const auto& [text, regex] : group.regexes()) {
    if (regex.resolved) add_regex(group_id, text, regex);
  }
  add_epoch(group_id, group);
  for (const auto& [id, member] : group.members()) add_target(group_id, *member);
  add_target_epoch(group_id, group.assignment_epoch);
  for (const auto& [id, member] : group.members()) add_current(group_id, *member);
}

void ConsumerRecordEncoder::add_all_tombstones(std::string_view group_id,
                                               const ConsumerGroup& group) {
  for (const auto& [id, member] : group.members()) add_member_tombstones(group_id, id);
  for (const std::string& id : group.lost_tombstones) add_member_tombstones(group_id, id);
  for (const auto& [text, regex] : group.regexes()) add_regex_tombstone(group_id, text);
  for (const std::string& text : group.lost_regex_tombstones) add_regex_tombstone(group_id, text);
  add_group_tombstones(group_id, group);
}

}  // namespace weir::group
