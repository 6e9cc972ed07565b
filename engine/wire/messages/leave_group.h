#pragma once
// LeaveGroup 0-5: one member leaves (0-2), or several (3 and later).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct LeaveGroupRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::leave_group);

  struct Member {
    std::string_view member_id{};
    NullableString group_instance_id{};
    NullableString reason{};

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("GroupInstanceId", m.group_instance_id,
            {.nullable = kAllVersions, .null_default = true});
      field("Reason", m.reason, {.versions = since(5), .nullable = since(5), .null_default = true});
    }
  };

  std::string_view group_id{};
  std::string_view member_id{};
  Array<Member> members{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("MemberId", m.member_id, {.versions = until(2)});
    field("Members", m.members, {.versions = since(3)});
  }
};

struct LeaveGroupResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::leave_group);

  struct Member {
    std::string_view member_id{};
    NullableString group_instance_id = "";
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("MemberId", m.member_id);
      field("GroupInstanceId", m.group_instance_id, {.nullable = kAllVersions});
      field("ErrorCode", m.error_code);
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<Member> members{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("ErrorCode", m.error_code);
    field("Members", m.members, {.versions = since(3)});
  }
};

}  // namespace weir::wire
