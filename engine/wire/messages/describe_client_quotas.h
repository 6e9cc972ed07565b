#pragma once
// DescribeClientQuotas 0-1: quotas of users, clients and addresses (KIP-546).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeClientQuotasRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_client_quotas);

  struct Component {
    std::string_view entity_type{};
    int8_t match_type = 0;
    NullableString match = "";

    static constexpr void describe(auto& field, auto& m) {
      field("EntityType", m.entity_type);
      field("MatchType", m.match_type);
      field("Match", m.match, {.nullable = kAllVersions});
    }
  };

  Array<Component> components{};
  bool strict = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Components", m.components);
    field("Strict", m.strict);
  }
};

struct DescribeClientQuotasResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_client_quotas);

  struct Entity {
    std::string_view entity_type{};
    NullableString entity_name = "";

    static constexpr void describe(auto& field, auto& m) {
      field("EntityType", m.entity_type);
      field("EntityName", m.entity_name, {.nullable = kAllVersions});
    }
  };

  struct Value {
    std::string_view key{};
    double value = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Key", m.key);
      field("Value", m.value);
    }
  };

  struct Entry {
    Array<Entity> entity{};
    Array<Value> values{};

    static constexpr void describe(auto& field, auto& m) {
      field("Entity", m.entity);
      field("Values", m.values);
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString error_message = "";
  Array<Entry> entries{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    field("Entries", m.entries, {.nullable = kAllVersions});
  }
};

}  // namespace weir::wire
