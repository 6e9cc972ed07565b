#include "engine/group/consumer_replay.h"

#include <algorithm>

#include "engine/group/consumer_group.h"
#include "engine/group/consumer_records.h"
#include "engine/wire/records/consumer_group.h"
#include "engine/wire/records/record_codec.h"

namespace weir::group {

namespace {

std::optional<std::string> text(const wire::NullableString& from) {
  return from ? std::optional<std::string>(*from) : std::nullopt;
}

Assignment assignment_of(const wire::Array<wire::ConsumerGroupTopicPartitions>& rows) {
  Assignment assignment;
  for (const auto& row : rows) {
    auto& partitions = assignment[row.topic_id];
    partitions.insert(partitions.end(), row.partitions.begin(), row.partitions.end());
  }
  for (auto& [topic, partitions] : assignment) {
    std::ranges::sort(partitions);
    const auto twice = std::ranges::unique(partitions);
    partitions.erase(twice.begin(), twice.end());
  }
  std::erase_if(assignment, [](const auto& entry) { return entry.second.empty(); });
  return assignment;
}

MemberState state_of(int8_t number) {
  const auto state = static_cast<MemberState>(number);
  switch (state) {
    case MemberState::stable:
    case MemberState::unrevoked_partitions:
    case MemberState::unreleased_partitions: return state;
  }
  // Of a newer broker: it is led to its target as if some of that were missing.
  return MemberState::unreleased_partitions;
}

ConsumerMember& member_of(ConsumerGroup& group, std::string_view member_id) {
  if (ConsumerMember* member = group.find(member_id)) return *member;
  ConsumerMember& added = group.add(std::string(member_id));
  added.has_record = false;
  return added;
}

}  // namespace

bool ConsumerReplay::handles(int16_t type) {
  return (type >= kConsumerGroupMetadataType && type <= kConsumerGroupCurrentMemberType) ||
         type == kConsumerGroupRegexType;
}

// put(ConsumerGroup&, key, value) where there is a value; forget(ConsumerGroup&, key) where the
// record is a tombstone and the group is known.
template <class Key, class Value, class Put, class Forget>
bool ConsumerReplay::apply_as(model::PartitionIndex partition, const log::Record& record,
                              base::Arena& scratch, Put put, Forget forget) {
  Key key;
  if (!wire::decode_record(key, *record.key, scratch)) return false;
  if (!record.value) {
    Group* const group = table_.find(key.group_id);
    if (group == nullptr || !group->consumer) return true;
    forget(*group->consumer, key);
    // With its last record the group is one of offsets only, or none.
    if (Key::kInfo.key == kConsumerGroupMetadataType && group->consumer->member_count() == 0) {
      group->consumer.reset();
      group->on_log = false;
    }
    table_.forget_if_idle(*group);
    return true;
  }
  Value value;
  if (!wire::decode_record(value, *record.value, scratch)) return false;
  Group& group = table_.find_or_restore(key.group_id, partition, timeouts_);
  if (!group.consumer) {
    group.forget_members();
    group.restore(std::nullopt, 0, std::nullopt, -1);
    group.durable_generation = -1;
    group.consumer = std::make_unique<ConsumerGroup>(group, consumer_timeouts_);
  }
  group.on_log = true;
  put(*group.consumer, key, value);
  table_.account(group);
  return true;
}

bool ConsumerReplay::apply(model::PartitionIndex partition, int16_t type,
                           const log::Record& record, base::Arena& scratch) {
  const auto nothing = [](ConsumerGroup&, const auto&) {};
  switch (type) {
    case kConsumerGroupMetadataType:
      return apply_as<wire::ConsumerGroupMetadataKey, wire::ConsumerGroupMetadataValue>(
          partition, record, scratch,
          [](ConsumerGroup& group, const auto&, const auto& value) {
            group.epoch = value.epoch;
            group.metadata_hash = value.metadata_hash;
          },
          nothing);
    case kConsumerGroupPartitionMetadataType: {
      // Kafka's before 4.0: which topics there were is in the catalog.
      wire::ConsumerGroupPartitionMetadataKey key;
      if (!wire::decode_record(key, *record.key, scratch)) return false;
      Group* const group = table_.find(key.group_id);
      if (group != nullptr && group->consumer) {
        group->consumer->has_partition_metadata = record.value.has_value();
      }
      return true;
    }
    case kConsumerGroupMemberMetadataType: return apply_member(partition, record, scratch);
    case kConsumerGroupTargetMetadataType:
      return apply_as<wire::ConsumerGroupTargetAssignmentMetadataKey,
                      wire::ConsumerGroupTargetAssignmentMetadataValue>(
          partition, record, scratch,
          [](ConsumerGroup& group, const auto&, const auto& value) {
            group.assignment_epoch = value.assignment_epoch;
          },
          nothing);
    case kConsumerGroupTargetMemberType:
      return apply_as<wire::ConsumerGroupTargetAssignmentMemberKey,
                      wire::ConsumerGroupTargetAssignmentMemberValue>(
          partition, record, scratch,
          [](ConsumerGroup& group, const auto& key, const auto& value) {
            group.set_target(member_of(group, key.member_id),
                             assignment_of(value.topic_partitions));
          },
          [](ConsumerGroup& group, const auto& key) {
            if (auto* member = group.find(key.member_id)) group.set_target(*member, {});
          });
    case kConsumerGroupCurrentMemberType: return apply_current(partition, record, scratch);
    case kConsumerGroupRegexType:
      return apply_as<wire::ConsumerGroupRegularExpressionKey,
                      wire::ConsumerGroupRegularExpressionValue>(
          partition, record, scratch,
          [](ConsumerGroup& group, const auto& key, const auto& value) {
            // A version counts within one run only.
            ResolvedRegex regex{.resolved = true, .version = -1, .timestamp_ms = value.timestamp};
            for (const std::string_view topic : value.topics) regex.topics.emplace_back(topic);
            std::ranges::sort(regex.topics);
            group.set_regex(key.regular_expression, std::move(regex));
          },
          [](ConsumerGroup& group, const auto& key) { group.erase_regex(key.regular_expression); });
    default: return false;
  }
}

bool ConsumerReplay::apply_member(model::PartitionIndex partition, const log::Record& record,
                                  base::Arena& scratch) {
  return apply_as<wire::ConsumerGroupMemberMetadataKey, wire::ConsumerGroupMemberMetadataValue>(
      partition, record, scratch,
      [](ConsumerGroup& group, const auto& key, const auto& value) {
        ConsumerMemberInfo info{.instance_id = text(value.instance_id),
                                .rack_id = text(value.rack_id),
                                .client_id = std::string(value.client_id),
                                .client_host = std::string(value.client_host),
                                .regex = std::string(value.subscribed_topic_regex.value_or("")),
                                .assignor = text(value.server_assignor),
                                .rebalance_timeout_ms = value.rebalance_timeout_ms};
        for (const std::string_view topic : value.subscribed_topic_names) {
          info.topic_names.emplace_back(topic);
        }
        std::ranges::sort(info.topic_names);
        const auto twice = std::ranges::unique(info.topic_names);
        info.topic_names.erase(twice.begin(), twice.end());
        ConsumerMember& member = member_of(group, key.member_id);
        member.has_record = true;
        group.set_info(member, std::move(info));
      },
      [](ConsumerGroup& group, const auto& key) {
        if (auto* member = group.find(key.member_id)) group.remove(*member);
      });
}

bool ConsumerReplay::apply_current(model::PartitionIndex partition, const log::Record& record,
                                   base::Arena& scratch) {
  return apply_as<wire::ConsumerGroupCurrentMemberAssignmentKey,
                  wire::ConsumerGroupCurrentMemberAssignmentValue>(
      partition, record, scratch,
      [](ConsumerGroup& group, const auto& key, const auto& value) {
        group.set_current(
            member_of(group, key.member_id),
            {.state = state_of(value.state),
             .epoch = value.member_epoch,
             .previous_epoch = value.previous_member_epoch,
             .assigned = assignment_of(value.assigned_partitions),
             .pending_revocation = assignment_of(value.partitions_pending_revocation)});
      },
      [](ConsumerGroup& group, const auto& key) {
        if (auto* member = group.find(key.member_id)) group.set_current(*member, {});
      });
}

}  // namespace weir::group
