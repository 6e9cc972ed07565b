#pragma once
// DescribeLogDirs 0-4: sizes of partitions on disk.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeLogDirsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_log_dirs);

  struct Topic {
    std::string_view topic{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("Partitions", m.partitions);
    }
  };

  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics, {.nullable = kAllVersions});
  }
};

struct DescribeLogDirsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_log_dirs);

  struct Partition {
    int32_t partition_index = 0;
    int64_t partition_size = 0;
    int64_t offset_lag = 0;
    bool is_future_key = false;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("PartitionSize", m.partition_size);
      field("OffsetLag", m.offset_lag);
      field("IsFutureKey", m.is_future_key);
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

  struct LogDir {
    int16_t error_code = 0;
    std::string_view log_dir{};
    Array<Topic> topics{};
    int64_t total_bytes = -1;
    int64_t usable_bytes = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("LogDir", m.log_dir);
      field("Topics", m.topics);
      field("TotalBytes", m.total_bytes, {.versions = since(4), .default_value = -1});
      field("UsableBytes", m.usable_bytes, {.versions = since(4), .default_value = -1});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<LogDir> results{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code, {.versions = since(3)});
    field("Results", m.results);
  }
};

}  // namespace weir::wire
