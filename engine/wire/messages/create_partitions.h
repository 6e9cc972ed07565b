#pragma once
// CreatePartitions 0-3: raise the number of partitions of topics.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct CreatePartitionsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::create_partitions);

  struct Assignment {
    Array<int32_t> broker_ids{};

    static constexpr void describe(auto& field, auto& m) { field("BrokerIds", m.broker_ids); }
  };

  struct Topic {
    std::string_view name{};
    int32_t count = 0;
    Array<Assignment> assignments{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Count", m.count);
      field("Assignments", m.assignments, {.nullable = kAllVersions});
    }
  };

  Array<Topic> topics{};
  int32_t timeout_ms = 0;
  bool validate_only = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics);
    field("TimeoutMs", m.timeout_ms);
    field("ValidateOnly", m.validate_only);
  }
};

struct CreatePartitionsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::create_partitions);

  struct Topic {
    std::string_view name{};
    int16_t error_code = 0;
    NullableString error_message{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions, .null_default = true});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Results", m.results);
  }
};

}  // namespace weir::wire
