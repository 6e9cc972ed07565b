#pragma once
// Records of __consumer_offsets that hold one consumer group (KIP-848), each of its own type:
//
//   3 the group's epoch                  6 the epoch of the target assignment
//   4 its topics; written before 4.0     7 what one member is to have
//   5 a member, and what it subscribes   8 what one member has
//  16 topics that a regular expression matches
//
// A null value forgets what its key names.

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

// A key of one type, and a value of one version, which is flexible.
constexpr MessageInfo consumer_group_key_info(std::string_view name, int16_t type) {
  return {.name = name,
          .kind = MessageKind::record_key,
          .key = type,
          .versions = between(type, type),
          .first_flexible_version = kNeverFlexible};
}
constexpr MessageInfo consumer_group_value_info(std::string_view name, int16_t type) {
  return {.name = name,
          .kind = MessageKind::record_value,
          .key = type,
          .versions = between(0, 0),
          .first_flexible_version = 0};
}

struct ConsumerGroupMetadataKey {
  static constexpr MessageInfo kInfo = consumer_group_key_info("ConsumerGroupMetadataKey", 3);

  std::string_view group_id{};

  static constexpr void describe(auto& field, auto& m) { field("GroupId", m.group_id); }
};

struct ConsumerGroupMetadataValue {
  static constexpr MessageInfo kInfo = consumer_group_value_info("ConsumerGroupMetadataValue", 3);

  int32_t epoch = 0;
  int64_t metadata_hash = 0;  // of the topics subscribed to; another one is a reason to rebalance

  static constexpr void describe(auto& field, auto& m) {
    field("Epoch", m.epoch);
    field("MetadataHash", m.metadata_hash, {.tag = 0});
  }
};

struct ConsumerGroupPartitionMetadataKey {
  static constexpr MessageInfo kInfo =
      consumer_group_key_info("ConsumerGroupPartitionMetadataKey", 4);

  std::string_view group_id{};

  static constexpr void describe(auto& field, auto& m) { field("GroupId", m.group_id); }
};

struct ConsumerGroupMemberMetadataKey {
  static constexpr MessageInfo kInfo = consumer_group_key_info("ConsumerGroupMemberMetadataKey", 5);

  std::string_view group_id{};
  std::string_view member_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("MemberId", m.member_id);
  }
};

struct ConsumerGroupClassicProtocol {
  std::string_view name{};
  Bytes metadata{};

  static constexpr void describe(auto& field, auto& m) {
    field("Name", m.name);
    field("Metadata", m.metadata);
  }
};

struct ConsumerGroupClassicMember {
  int32_t session_timeout_ms = 0;
  Array<ConsumerGroupClassicProtocol> supported_protocols{};

  static constexpr void describe(auto& field, auto& m) {
    field("SessionTimeoutMs", m.session_timeout_ms);
    field("SupportedProtocols", m.supported_protocols);
  }
};

struct ConsumerGroupMemberMetadataValue {
  static constexpr MessageInfo kInfo =
      consumer_group_value_info("ConsumerGroupMemberMetadataValue", 5);

  NullableString instance_id = "";
  NullableString rack_id = "";
  std::string_view client_id{};
  std::string_view client_host{};
  Array<std::string_view> subscribed_topic_names{};
  NullableString subscribed_topic_regex = "";
  int32_t rebalance_timeout_ms = -1;
  NullableString server_assignor = "";
  std::optional<ConsumerGroupClassicMember> classic_member_metadata{};  // speaks that protocol

  static constexpr void describe(auto& field, auto& m) {
    field("InstanceId", m.instance_id, {.nullable = kAllVersions});
    field("RackId", m.rack_id, {.nullable = kAllVersions});
    field("ClientId", m.client_id);
    field("ClientHost", m.client_host);
    field("SubscribedTopicNames", m.subscribed_topic_names);
    field("SubscribedTopicRegex", m.subscribed_topic_regex, {.nullable = kAllVersions});
    field("RebalanceTimeoutMs", m.rebalance_timeout_ms, {.default_value = -1});
    field("ServerAssignor", m.server_assignor, {.nullable = kAllVersions});
    field("ClassicMemberMetadata", m.classic_member_metadata,
          {.nullable = kAllVersions, .tag = 0, .null_default = true});
  }
};

struct ConsumerGroupTargetAssignmentMetadataKey {
  static constexpr MessageInfo kInfo =
      consumer_group_key_info("ConsumerGroupTargetAssignmentMetadataKey", 6);

  std::string_view group_id{};

  static constexpr void describe(auto& field, auto& m) { field("GroupId", m.group_id); }
};

struct ConsumerGroupTargetAssignmentMetadataValue {
  static constexpr MessageInfo kInfo =
      consumer_group_value_info("ConsumerGroupTargetAssignmentMetadataValue", 6);

  int32_t assignment_epoch = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("AssignmentEpoch", m.assignment_epoch);
  }
};

struct ConsumerGroupTopicPartitions {
  Uuid topic_id{};
  Array<int32_t> partitions{};

  static constexpr void describe(auto& field, auto& m) {
    field("TopicId", m.topic_id);
    field("Partitions", m.partitions);
  }
};

struct ConsumerGroupTargetAssignmentMemberKey {
  static constexpr MessageInfo kInfo =
      consumer_group_key_info("ConsumerGroupTargetAssignmentMemberKey", 7);

  std::string_view group_id{};
  std::string_view member_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("MemberId", m.member_id);
  }
};

struct ConsumerGroupTargetAssignmentMemberValue {
  static constexpr MessageInfo kInfo =
      consumer_group_value_info("ConsumerGroupTargetAssignmentMemberValue", 7);

  Array<ConsumerGroupTopicPartitions> topic_partitions{};

  static constexpr void describe(auto& field, auto& m) {
    field("TopicPartitions", m.topic_partitions);
  }
};

struct ConsumerGroupCurrentMemberAssignmentKey {
  static constexpr MessageInfo kInfo =
      consumer_group_key_info("ConsumerGroupCurrentMemberAssignmentKey", 8);

  std::string_view group_id{};
  std::string_view member_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("MemberId", m.member_id);
  }
};

struct ConsumerGroupCurrentMemberAssignmentValue {
  static constexpr MessageInfo kInfo =
      consumer_group_value_info("ConsumerGroupCurrentMemberAssignmentValue", 8);

  int32_t member_epoch = 0;
  int32_t previous_member_epoch = 0;
  int8_t state = 0;
  Array<ConsumerGroupTopicPartitions> assigned_partitions{};
  Array<ConsumerGroupTopicPartitions> partitions_pending_revocation{};

  static constexpr void describe(auto& field, auto& m) {
    field("MemberEpoch", m.member_epoch);
    field("PreviousMemberEpoch", m.previous_member_epoch);
    field("State", m.state);
    field("AssignedPartitions", m.assigned_partitions);
    field("PartitionsPendingRevocation", m.partitions_pending_revocation);
  }
};

struct ConsumerGroupRegularExpressionKey {
  static constexpr MessageInfo kInfo =
      consumer_group_key_info("ConsumerGroupRegularExpressionKey", 16);

  std::string_view group_id{};
  std::string_view regular_expression{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("RegularExpression", m.regular_expression);
  }
};

struct ConsumerGroupRegularExpressionValue {
  static constexpr MessageInfo kInfo =
      consumer_group_value_info("ConsumerGroupRegularExpressionValue", 16);

  Array<std::string_view> topics{};
  int64_t version = 0;    // of the catalog it was resolved against
  int64_t timestamp = 0;  // of that moment, wall time

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics);
    field("Version", m.version);
    field("Timestamp", m.timestamp);
  }
};

}  // namespace weir::wire
