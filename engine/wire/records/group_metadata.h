#pragma once
// Records of __consumer_offsets that hold one classic group: its id (key), its generation and its
// members (value). A null value forgets the group.
//
// Value version 1 adds the members' rebalance timeout, 2 the time of the last state change,
// 3 static members; 4 is flexible.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct GroupMetadataKey {
  static constexpr MessageInfo kInfo{.name = "GroupMetadataKey",
                                     .kind = MessageKind::record_key,
                                     .key = 2,
                                     .versions = between(2, 2),
                                     .first_flexible_version = kNeverFlexible};

  std::string_view group{};

  static constexpr void describe(auto& field, auto& m) { field("group", m.group); }
};

struct GroupMetadataValue {
  static constexpr MessageInfo kInfo{.name = "GroupMetadataValue",
                                     .kind = MessageKind::record_value,
                                     .key = 2,
                                     .versions = between(0, 4),
                                     .first_flexible_version = 4};

  struct Member {
    std::string_view member_id{};
    NullableString group_instance_id{};
    std::string_view client_id{};
    std::string_view client_host{};
    int32_t rebalance_timeout = -1;
    int32_t session_timeout = 0;
    Bytes subscription{};
    Bytes assignment{};

    static constexpr void describe(auto& field, auto& m) {
      field("memberId", m.member_id);
      field("groupInstanceId", m.group_instance_id,
            {.versions = since(3), .nullable = since(3), .null_default = true});
      field("clientId", m.client_id);
      field("clientHost", m.client_host);
      field("rebalanceTimeout", m.rebalance_timeout, {.versions = since(1), .default_value = -1});
      field("sessionTimeout", m.session_timeout);
      field("subscription", m.subscription);
      field("assignment", m.assignment);
    }
  };

  std::string_view protocol_type{};
  int32_t generation = 0;
  NullableString protocol = "";
  NullableString leader = "";
  int64_t current_state_timestamp = -1;
  Array<Member> members{};

  static constexpr void describe(auto& field, auto& m) {
    field("protocolType", m.protocol_type);
    field("generation", m.generation);
    field("protocol", m.protocol, {.nullable = kAllVersions});
    field("leader", m.leader, {.nullable = kAllVersions});
    field("currentStateTimestamp", m.current_state_timestamp,
          {.versions = since(2), .default_value = -1});
    field("members", m.members);
  }
};

}  // namespace weir::wire
