#pragma once
// AlterConfigs 0-2: replace all settings of a resource; old tools only.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AlterConfigsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::alter_configs);

  struct Config {
    std::string_view name{};
    NullableString value = "";

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Value", m.value, {.nullable = kAllVersions});
    }
  };

  struct Resource {
    int8_t resource_type = 0;
    std::string_view resource_name{};
    Array<Config> configs{};

    static constexpr void describe(auto& field, auto& m) {
      field("ResourceType", m.resource_type);
      field("ResourceName", m.resource_name);
      field("Configs", m.configs);
    }
  };

  Array<Resource> resources{};
  bool validate_only = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Resources", m.resources);
    field("ValidateOnly", m.validate_only);
  }
};

struct AlterConfigsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::alter_configs);

  struct Resource {
    int16_t error_code = 0;
    NullableString error_message = "";
    int8_t resource_type = 0;
    std::string_view resource_name{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
      field("ResourceType", m.resource_type);
      field("ResourceName", m.resource_name);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Resource> responses{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Responses", m.responses);
  }
};

}  // namespace weir::wire
