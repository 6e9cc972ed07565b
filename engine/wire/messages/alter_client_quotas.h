#pragma once
// AlterClientQuotas 0-1: set or remove quotas (KIP-546).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AlterClientQuotasRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::alter_client_quotas);

  struct Entity {
    std::string_view entity_type{};
    NullableString entity_name = "";

    static constexpr void describe(auto& field, auto& m) {
      field("EntityType", m.entity_type);
      field("EntityName", m.entity_name, {.nullable = kAllVersions});
    }
  };

  struct Op {
    std::string_view key{};
    double value = 0;
    bool remove = false;

    static constexpr void describe(auto& field, auto& m) {
      field("Key", m.key);
      field("Value", m.value);
      field("Remove", m.remove);
    }
  };

  struct Entry {
    Array<Entity> entity{};
    Array<Op> ops{};

    static constexpr void describe(auto& field, auto& m) {
      field("Entity", m.entity);
      field("Ops", m.ops);
    }
  };

  Array<Entry> entries{};
  bool validate_only = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Entries", m.entries);
    field("ValidateOnly", m.validate_only);
  }
};

struct AlterClientQuotasResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::alter_client_quotas);

  struct Entity {
    std::string_view entity_type{};
    NullableString entity_name = "";

    static constexpr void describe(auto& field, auto& m) {
      field("EntityType", m.entity_type);
      field("EntityName", m.entity_name, {.nullable = kAllVersions});
    }
  };

  struct Entry {
    int16_t error_code = 0;
    NullableString error_message = "";
    Array<Entity> entity{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
      field("Entity", m.entity);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Entry> entries{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Entries", m.entries);
  }
};

}  // namespace weir::wire
