#pragma once
// FindCoordinator 0-6: who coordinates a group (key type 0) or transactional id (1).
//
// One key in 0-3, several from 4 on; each form is answered in its own fields.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct FindCoordinatorRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::find_coordinator);

  std::string_view key{};
  int8_t key_type = 0;
  Array<std::string_view> coordinator_keys{};

  static constexpr void describe(auto& field, auto& m) {
    field("Key", m.key, {.versions = until(3)});
    field("KeyType", m.key_type, {.versions = since(1)});
    field("CoordinatorKeys", m.coordinator_keys, {.versions = since(4)});
  }
};

struct FindCoordinatorResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::find_coordinator);

  struct Coordinator {
    std::string_view key{};
    int32_t node_id = 0;
    std::string_view host{};
    int32_t port = 0;
    int16_t error_code = 0;
    NullableString error_message = "";

    static constexpr void describe(auto& field, auto& m) {
      field("Key", m.key);
      field("NodeId", m.node_id);
      field("Host", m.host);
      field("Port", m.port);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  NullableString error_message = "";
  int32_t node_id = 0;
  std::string_view host{};
  int32_t port = 0;
  Array<Coordinator> coordinators{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(1)});
    field("ErrorCode", m.error_code, {.versions = until(3)});
    field("ErrorMessage", m.error_message, {.versions = between(1, 3), .nullable = between(1, 3)});
    field("NodeId", m.node_id, {.versions = until(3)});
    field("Host", m.host, {.versions = until(3)});
    field("Port", m.port, {.versions = until(3)});
    field("Coordinators", m.coordinators, {.versions = since(4)});
  }
};

}  // namespace weir::wire
