#pragma once
// DescribeGroups 0-6: state and members of classic groups.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeGroupsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_groups);

  Array<std::string_view> groups{};
  bool include_authorized_operations = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Groups", m.groups);
    field("IncludeAuthorizedOperations", m.include_authorized_operations, {.versions = since(3)});
  }
};

struct DescribeGroupsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_groups);

  struct Member {
    std::string_view member_id{};
    NullableString group_instance_id{};
    std::string_view client_id{};
    std::string_view client_host{};
    Bytes member_metadata{};
    Bytes member_assignment{};

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("GroupInstanceId", m.group_instance_id,
            {.versions = since(4), .nullable = since(4), .null_default = true});
      field("ClientId", m.client_id);
      field("ClientHost", m.client_host);
      field("MemberMetadata", m.member_metadata);
      field("MemberAssignment", m.member_assignment);
    }
  };

  struct Group {
    int16_t error_code = 0;
    NullableString error_message{};
    std::string_view group_id{};
    std::string_view group_state{};
    std::string_view protocol_type{};
    std::string_view protocol_data{};
    Array<Member> members{};
    int32_t authorized_operations = INT32_MIN;

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message,
            {.versions = since(6), .nullable = since(6), .null_default = true});
      field("GroupId", m.group_id);
      field("GroupState", m.group_state);
      field("ProtocolType", m.protocol_type);
      field("ProtocolData", m.protocol_data);
      field("Members", m.members);
      field("AuthorizedOperations", m.authorized_operations,
            {.versions = since(3), .default_value = INT32_MIN});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Group> groups{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("Groups", m.groups);
  }
};

}  // namespace weir::wire
