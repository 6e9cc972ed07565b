#pragma once
// AlterReplicaLogDirs 0-2: move partitions to other directories of the same node.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AlterReplicaLogDirsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::alter_replica_log_dirs);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  struct Dir {
    std::string_view path{};
    Array<Topic> topics{};

    static constexpr void describe(auto& field, auto& m) {
      field("Path", m.path);
      field("Topics", m.topics);
    }
  };

  Array<Dir> dirs{};

  static constexpr void describe(auto& field, auto& m) { field("Dirs", m.dirs); }
};

struct AlterReplicaLogDirsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::alter_replica_log_dirs);

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
    }
  };

  struct Topic {
    std::string_view topic_name{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("TopicName", m.topic_name);
      field("Partitions", m.partitions);
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
