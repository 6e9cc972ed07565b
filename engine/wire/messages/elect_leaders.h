#pragma once
// ElectLeaders 0-2: make the preferred (0) or any (1) replica lead.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ElectLeadersRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::elect_leaders);

  struct Topic {
    std::string_view topic{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("Partitions", m.partitions);
    }
  };

  int8_t election_type = 0;
  Array<Topic> topic_partitions{};
  int32_t timeout_ms = 60000;

  static constexpr void describe(auto& field, auto& m) {
    field("ElectionType", m.election_type, {.versions = since(1)});
    field("TopicPartitions", m.topic_partitions, {.nullable = kAllVersions});
    field("TimeoutMs", m.timeout_ms, {.default_value = 60000});
  }
};

struct ElectLeadersResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::elect_leaders);

  struct Partition {
    int32_t partition_id = 0;
    int16_t error_code = 0;
    NullableString error_message = "";

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionId", m.partition_id);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view topic{};
    Array<Partition> partition_result{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("PartitionResult", m.partition_result);
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<Topic> replica_election_results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code, {.versions = since(1)});
    field("ReplicaElectionResults", m.replica_election_results);
  }
};

}  // namespace weir::wire
