#pragma once
// OffsetDelete 0: forget committed offsets of a group.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct OffsetDeleteRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::offset_delete);

  struct Partition {
    int32_t partition_index = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
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

  std::string_view group_id{};
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("Topics", m.topics);
  }
};

struct OffsetDeleteResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::offset_delete);

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
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

  int16_t error_code = 0;
  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ErrorCode", m.error_code);
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
