#pragma once
// DeleteGroups 0-2.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DeleteGroupsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::delete_groups);

  Array<std::string_view> groups_names{};

  static constexpr void describe(auto& field, auto& m) { field("GroupsNames", m.groups_names); }
};

struct DeleteGroupsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::delete_groups);

  struct Group {
    std::string_view group_id{};
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("GroupId", m.group_id);
      field("ErrorCode", m.error_code);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Group> results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Results", m.results);
  }
};

}  // namespace weir::wire
