#pragma once
// OffsetForLeaderEpoch 0-4: where a leader epoch ended, for clients that check for truncation.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct OffsetForLeaderEpochRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::offset_for_leader_epoch);

  struct Partition {
    int32_t partition = 0;
    int32_t current_leader_epoch = -1;
    int32_t leader_epoch = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Partition", m.partition);
      field("CurrentLeaderEpoch", m.current_leader_epoch,
            {.versions = since(2), .default_value = -1});
      field("LeaderEpoch", m.leader_epoch);
    }
  };

  struct Topic {
    std::string_view topic{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("Partitions", m.partitions);
    }
  };

  int32_t replica_id = -2;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ReplicaId", m.replica_id, {.versions = since(3), .default_value = -2});
    field("Topics", m.topics);
  }
};

struct OffsetForLeaderEpochResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::offset_for_leader_epoch);

  struct Partition {
    int16_t error_code = 0;
    int32_t partition = 0;
    int32_t leader_epoch = -1;
    int64_t end_offset = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("Partition", m.partition);
      field("LeaderEpoch", m.leader_epoch, {.versions = since(1), .default_value = -1});
      field("EndOffset", m.end_offset, {.default_value = -1});
    }
  };

  struct Topic {
    std::string_view topic{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
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
