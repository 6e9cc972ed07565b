#pragma once
// SyncGroup 0-5: the leader hands in assignments, every member gets its own.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct SyncGroupRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::sync_group);

  struct Assignment {
    std::string_view member_id{};
    Bytes assignment{};

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("Assignment", m.assignment);
    }
  };

  std::string_view group_id{};
  int32_t generation_id = 0;
  std::string_view member_id{};
  NullableString group_instance_id{};
  NullableString protocol_type{};
  NullableString protocol_name{};
  Array<Assignment> assignments{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("GenerationId", m.generation_id);
    field("MemberId", m.member_id);
    field("GroupInstanceId", m.group_instance_id,
          {.versions = since(3), .nullable = since(3), .null_default = true});
    field("ProtocolType", m.protocol_type,
          {.versions = since(5), .nullable = since(5), .null_default = true});
    field("ProtocolName", m.protocol_name,
          {.versions = since(5), .nullable = since(5), .null_default = true});
    field("Assignments", m.assignments);
  }
};

struct SyncGroupResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::sync_group);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString protocol_type{};
  NullableString protocol_name{};
  Bytes assignment{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("ErrorCode", m.error_code);
    field("ProtocolType", m.protocol_type,
          {.versions = since(5), .nullable = since(5), .null_default = true});
    field("ProtocolName", m.protocol_name,
          {.versions = since(5), .nullable = since(5), .null_default = true});
    field("Assignment", m.assignment);
  }
};

}  // namespace weir::wire
