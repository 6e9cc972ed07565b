#pragma once
// ListOffsets 1-11: offsets by timestamp, or the special ones: -1 latest, -2 earliest, -3 largest
// timestamp (7), -4 earliest local (8), -5 latest tiered (9), -6 earliest pending upload (11).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ListOffsetsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::list_offsets);

  struct Partition {
    int32_t partition_index = 0;
    int32_t current_leader_epoch = -1;
    int64_t timestamp = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("CurrentLeaderEpoch", m.current_leader_epoch,
            {.versions = since(4), .default_value = -1});
      field("Timestamp", m.timestamp);
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

  int32_t replica_id = 0;
  int8_t isolation_level = 0;
  Array<Topic> topics{};
  int32_t timeout_ms = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ReplicaId", m.replica_id);
    field("IsolationLevel", m.isolation_level, {.versions = since(2)});
    field("Topics", m.topics);
    field("TimeoutMs", m.timeout_ms, {.versions = since(10)});
  }
};

struct ListOffsetsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::list_offsets);

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;
    int64_t timestamp = -1;
    int64_t offset = -1;
    int32_t leader_epoch = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
      field("Timestamp", m.timestamp, {.default_value = -1});
      field("Offset", m.offset, {.default_value = -1});
      field("LeaderEpoch", m.leader_epoch, {.versions = since(4), .default_value = -1});
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
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(2)});
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
