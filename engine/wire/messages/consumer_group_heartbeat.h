#pragma once
// ConsumerGroupHeartbeat 0-1: all that a member of a consumer group says, and the partitions it is
// given (KIP-848). What is null or -1 in a request has not changed since the one before.

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ConsumerGroupHeartbeatRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::consumer_group_heartbeat);

  struct TopicPartitions {
    Uuid topic_id{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("TopicId", m.topic_id);
      field("Partitions", m.partitions);
    }
  };

  std::string_view group_id{};
  std::string_view member_id{};
  int32_t member_epoch = 0;  // 0 joins, -1 leaves, -2 leaves for a while
  NullableString instance_id{};
  NullableString rack_id{};
  int32_t rebalance_timeout_ms = -1;
  Array<std::string_view> subscribed_topic_names = Array<std::string_view>::null();
  NullableString subscribed_topic_regex{};
  NullableString server_assignor{};
  Array<TopicPartitions> topic_partitions = Array<TopicPartitions>::null();  // owned

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("MemberId", m.member_id);
    field("MemberEpoch", m.member_epoch);
    field("InstanceId", m.instance_id, {.nullable = kAllVersions, .null_default = true});
    field("RackId", m.rack_id, {.nullable = kAllVersions, .null_default = true});
    field("RebalanceTimeoutMs", m.rebalance_timeout_ms, {.default_value = -1});
    field("SubscribedTopicNames", m.subscribed_topic_names,
          {.nullable = kAllVersions, .null_default = true});
    field("SubscribedTopicRegex", m.subscribed_topic_regex,
          {.versions = since(1), .nullable = since(1), .null_default = true});
    field("ServerAssignor", m.server_assignor, {.nullable = kAllVersions, .null_default = true});
    field("TopicPartitions", m.topic_partitions, {.nullable = kAllVersions, .null_default = true});
  }
};

// What a member may use; apart, as std::optional takes a whole type only.
struct ConsumerGroupHeartbeatPartitions {
  Uuid topic_id{};
  Array<int32_t> partitions{};

  static constexpr void describe(auto& field, auto& m) {
    field("TopicId", m.topic_id);
    field("Partitions", m.partitions);
  }
};

struct ConsumerGroupHeartbeatAssignment {
  Array<ConsumerGroupHeartbeatPartitions> topic_partitions{};

  static constexpr void describe(auto& field, auto& m) {
    field("TopicPartitions", m.topic_partitions);
  }
};

struct ConsumerGroupHeartbeatResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::consumer_group_heartbeat);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString error_message{};
  NullableString member_id{};
  int32_t member_epoch = 0;
  int32_t heartbeat_interval_ms = 0;
  std::optional<ConsumerGroupHeartbeatAssignment> assignment{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions, .null_default = true});
    field("MemberId", m.member_id, {.nullable = kAllVersions, .null_default = true});
    field("MemberEpoch", m.member_epoch);
    field("HeartbeatIntervalMs", m.heartbeat_interval_ms);
    field("Assignment", m.assignment, {.nullable = kAllVersions, .null_default = true});
  }
};

}  // namespace weir::wire
