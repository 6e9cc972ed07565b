#pragma once
// ConsumerGroupDescribe 0-1: epochs, members and assignments of consumer groups (KIP-848).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ConsumerGroupDescribeRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::consumer_group_describe);

  Array<std::string_view> group_ids{};
  bool include_authorized_operations = false;

  static constexpr void describe(auto& field, auto& m) {
    field("GroupIds", m.group_ids);
    field("IncludeAuthorizedOperations", m.include_authorized_operations);
  }
};

struct ConsumerGroupDescribeResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::consumer_group_describe);

  struct TopicPartitions {
    Uuid topic_id{};
    std::string_view topic_name{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("TopicId", m.topic_id);
      field("TopicName", m.topic_name);
      field("Partitions", m.partitions);
    }
  };

  struct Assignment {
    Array<TopicPartitions> topic_partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("TopicPartitions", m.topic_partitions);
    }
  };

  struct Member {
    std::string_view member_id{};
    NullableString instance_id{};
    NullableString rack_id{};
    int32_t member_epoch = 0;
    std::string_view client_id{};
    std::string_view client_host{};
    Array<std::string_view> subscribed_topic_names{};
    NullableString subscribed_topic_regex{};
    Assignment assignment{};
    Assignment target_assignment{};
    int8_t member_type = -1;  // 0 classic, 1 consumer

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("InstanceId", m.instance_id, {.nullable = kAllVersions, .null_default = true});
      field("RackId", m.rack_id, {.nullable = kAllVersions, .null_default = true});
      field("MemberEpoch", m.member_epoch);
      field("ClientId", m.client_id);
      field("ClientHost", m.client_host);
      field("SubscribedTopicNames", m.subscribed_topic_names);
      field("SubscribedTopicRegex", m.subscribed_topic_regex,
            {.nullable = kAllVersions, .null_default = true});
      field("Assignment", m.assignment);
      field("TargetAssignment", m.target_assignment);
      field("MemberType", m.member_type, {.versions = since(1), .default_value = -1});
    }
  };

  struct Group {
    int16_t error_code = 0;
    NullableString error_message{};
    std::string_view group_id{};
    std::string_view group_state{};
    int32_t group_epoch = 0;
    int32_t assignment_epoch = 0;
    std::string_view assignor_name{};
    Array<Member> members{};
    int32_t authorized_operations = INT32_MIN;

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions, .null_default = true});
      field("GroupId", m.group_id);
      field("GroupState", m.group_state);
      field("GroupEpoch", m.group_epoch);
      field("AssignmentEpoch", m.assignment_epoch);
      field("AssignorName", m.assignor_name);
      field("Members", m.members);
      field("AuthorizedOperations", m.authorized_operations, {.default_value = INT32_MIN});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Group> groups{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Groups", m.groups);
  }
};

}  // namespace weir::wire
