#pragma once
// ListConfigResources 0-1: which resources have settings (KIP-1142); version 0 knows only client
// metrics.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ListConfigResourcesRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::list_config_resources);

  Array<int8_t> resource_types{};

  static constexpr void describe(auto& field, auto& m) {
    field("ResourceTypes", m.resource_types, {.versions = since(1)});
  }
};

struct ListConfigResourcesResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::list_config_resources);

  struct Resource {
    std::string_view resource_name{};
    int8_t resource_type = 16;

    static constexpr void describe(auto& field, auto& m) {
      field("ResourceName", m.resource_name);
      field("ResourceType", m.resource_type, {.versions = since(1), .default_value = 16});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<Resource> config_resources{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ConfigResources", m.config_resources);
  }
};

}  // namespace weir::wire
