#pragma once
// AlterPartitionReassignments 0-1: move replicas between nodes (KIP-455), or stop moving (null).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AlterPartitionReassignmentsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::alter_partition_reassignments);

  struct Partition {
    int32_t partition_index = 0;
    Array<int32_t> replicas = Array<int32_t>::null();

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("Replicas", m.replicas, {.nullable = kAllVersions, .null_default = true});
    }
  };

  struct Topic {
    std::string_view name{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  int32_t timeout_ms = 60000;
  bool allow_replication_factor_change = true;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("TimeoutMs", m.timeout_ms, {.default_value = 60000});
    field("AllowReplicationFactorChange", m.allow_replication_factor_change,
          {.versions = since(1), .default_value = 1});
    field("Topics", m.topics);
  }
};

struct AlterPartitionReassignmentsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::alter_partition_reassignments);

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;
    NullableString error_message = "";

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view name{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  int32_t throttle_time_ms = 0;
  bool allow_replication_factor_change = true;
  int16_t error_code = 0;
  NullableString error_message = "";
  Array<Topic> responses{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("AllowReplicationFactorChange", m.allow_replication_factor_change,
          {.versions = since(1), .default_value = 1});
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    field("Responses", m.responses);
  }
};

}  // namespace weir::wire
