#pragma once
// DeleteRecords 0-2: raise the log start offset.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DeleteRecordsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::delete_records);

  struct Partition {
    int32_t partition_index = 0;
    int64_t offset = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("Offset", m.offset);
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

  Array<Topic> topics{};
  int32_t timeout_ms = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics);
    field("TimeoutMs", m.timeout_ms);
  }
};

struct DeleteRecordsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::delete_records);

  struct Partition {
    int32_t partition_index = 0;
    int64_t low_watermark = 0;
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("LowWatermark", m.low_watermark);
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

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
