#pragma once
// JoinGroup 0-9: become a member of a group, or the next generation of one.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct JoinGroupRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::join_group);

  struct Protocol {
    std::string_view name{};
    Bytes metadata{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Metadata", m.metadata);
    }
  };

  std::string_view group_id{};
  int32_t session_timeout_ms = 0;
  int32_t rebalance_timeout_ms = -1;
  std::string_view member_id{};
  NullableString group_instance_id{};
  std::string_view protocol_type{};
  Array<Protocol> protocols{};
  NullableString reason{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("SessionTimeoutMs", m.session_timeout_ms);
    field("RebalanceTimeoutMs", m.rebalance_timeout_ms,
          {.versions = since(1), .default_value = -1});
    field("MemberId", m.member_id);
    field("GroupInstanceId", m.group_instance_id,
          {.versions = since(5), .nullable = since(5), .null_default = true});
    field("ProtocolType", m.protocol_type);
    field("Protocols", m.protocols);
    field("Reason", m.reason, {.versions = since(8), .nullable = since(8), .null_default = true});
  }
};

struct JoinGroupResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::join_group);

  struct Member {
    std::string_view member_id{};
    NullableString group_instance_id{};
    Bytes metadata{};

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("GroupInstanceId", m.group_instance_id,
            {.versions = since(5), .nullable = since(5), .null_default = true});
      field("Metadata", m.metadata);
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  int32_t generation_id = -1;
  NullableString protocol_type{};
  NullableString protocol_name = "";
  std::string_view leader{};
  bool skip_assignment = false;
  std::string_view member_id{};
  Array<Member> members{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(2)});
    field("ErrorCode", m.error_code);
    field("GenerationId", m.generation_id, {.default_value = -1});
    field("ProtocolType", m.protocol_type,
          {.versions = since(7), .nullable = since(7), .null_default = true});
    field("ProtocolName", m.protocol_name, {.nullable = since(7)});
    field("Leader", m.leader);
    field("SkipAssignment", m.skip_assignment, {.versions = since(9)});
    field("MemberId", m.member_id);
    field("Members", m.members);
  }
};

}  // namespace weir::wire
