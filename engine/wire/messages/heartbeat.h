#pragma once
// Heartbeat 0-4: a member is alive.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct HeartbeatRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::heartbeat);

  std::string_view group_id{};
  int32_t generation_id = 0;
  std::string_view member_id{};
  NullableString group_instance_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("GenerationId", m.generation_id);
    field("MemberId", m.member_id);
    field("GroupInstanceId", m.group_instance_id,
          {.versions = since(3), .nullable = since(3), .null_default = true});
  }
};

struct HeartbeatResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::heartbeat);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("ErrorCode", m.error_code);
  }
};

}  // namespace weir::wire
