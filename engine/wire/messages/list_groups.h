#pragma once
// ListGroups 0-5: all groups, filtered by state (4) and type (5).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ListGroupsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::list_groups);

  Array<std::string_view> states_filter{};
  Array<std::string_view> types_filter{};

  static constexpr void describe(auto& field, auto& m) {
    field("StatesFilter", m.states_filter, {.versions = since(4)});
    field("TypesFilter", m.types_filter, {.versions = since(5)});
  }
};

struct ListGroupsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::list_groups);

  struct Group {
    std::string_view group_id{};
    std::string_view protocol_type{};
    std::string_view group_state{};
    std::string_view group_type{};

    static constexpr void describe(auto& field, auto& m) {
      field("GroupId", m.group_id);
      field("ProtocolType", m.protocol_type);
      field("GroupState", m.group_state, {.versions = since(4)});
      field("GroupType", m.group_type, {.versions = since(5)});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<Group> groups{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("ErrorCode", m.error_code);
    field("Groups", m.groups);
  }
};

}  // namespace weir::wire
