#pragma once
// DescribeTopicPartitions 0: topics page by page (KIP-966).

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

// The first partition of a page.
struct TopicPartitionsCursor {
  std::string_view topic_name{};
  int32_t partition_index = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("TopicName", m.topic_name);
    field("PartitionIndex", m.partition_index);
  }
};

struct DescribeTopicPartitionsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_topic_partitions);

  struct Topic {
    std::string_view name{};

    static constexpr void describe(auto& field, auto& m) { field("Name", m.name); }
  };

  Array<Topic> topics{};
  int32_t response_partition_limit = 2000;
  std::optional<TopicPartitionsCursor> cursor{};

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics);
    field("ResponsePartitionLimit", m.response_partition_limit, {.default_value = 2000});
    field("Cursor", m.cursor, {.nullable = kAllVersions, .null_default = true});
  }
};

struct DescribeTopicPartitionsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_topic_partitions);

  struct Partition {
    int16_t error_code = 0;
    int32_t partition_index = 0;
    int32_t leader_id = 0;
    int32_t leader_epoch = -1;
    Array<int32_t> replica_nodes{};
    Array<int32_t> isr_nodes{};
    Array<int32_t> eligible_leader_replicas = Array<int32_t>::null();
    Array<int32_t> last_known_elr = Array<int32_t>::null();
    Array<int32_t> offline_replicas{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("PartitionIndex", m.partition_index);
      field("LeaderId", m.leader_id);
      field("LeaderEpoch", m.leader_epoch, {.default_value = -1});
      field("ReplicaNodes", m.replica_nodes);
      field("IsrNodes", m.isr_nodes);
      field("EligibleLeaderReplicas", m.eligible_leader_replicas,
            {.nullable = kAllVersions, .null_default = true});
      field("LastKnownElr", m.last_known_elr, {.nullable = kAllVersions, .null_default = true});
      field("OfflineReplicas", m.offline_replicas);
    }
  };

  struct Topic {
    int16_t error_code = 0;
    NullableString name = "";
    Uuid topic_id{};
    bool is_internal = false;
    Array<Partition> partitions{};
    int32_t topic_authorized_operations = INT32_MIN;

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("Name", m.name, {.nullable = kAllVersions});
      field("TopicId", m.topic_id);
      field("IsInternal", m.is_internal);
      field("Partitions", m.partitions);
      field("TopicAuthorizedOperations", m.topic_authorized_operations,
            {.default_value = INT32_MIN});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};
  std::optional<TopicPartitionsCursor> next_cursor{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Topics", m.topics);
    field("NextCursor", m.next_cursor, {.nullable = kAllVersions, .null_default = true});
  }
};

}  // namespace weir::wire
