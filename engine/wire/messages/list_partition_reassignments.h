#pragma once
// ListPartitionReassignments 0: none on a single node, but tools ask.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ListPartitionReassignmentsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::list_partition_reassignments);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partition_indexes{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("PartitionIndexes", m.partition_indexes);
    }
  };

  int32_t timeout_ms = 60000;
  Array<Topic> topics = Array<Topic>::null();

  static constexpr void describe(auto& field, auto& m) {
    field("TimeoutMs", m.timeout_ms, {.default_value = 60000});
    field("Topics", m.topics, {.nullable = kAllVersions, .null_default = true});
  }
};

struct ListPartitionReassignmentsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::list_partition_reassignments);

  struct Partition {
    int32_t partition_index = 0;
    Array<int32_t> replicas{};
    Array<int32_t> adding_replicas{};
    Array<int32_t> removing_replicas{};

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("Replicas", m.replicas);
      field("AddingReplicas", m.adding_replicas);
      field("RemovingReplicas", m.removing_replicas);
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
  int16_t error_code = 0;
  NullableString error_message = "";
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
