#pragma once
// Metadata 0-13: brokers, topics and leaders.
//
// Version 0 asks for all topics with an empty list, later ones with null. 10 adds topic ids, 12
// asks by id; 13 has an error code for the whole response.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct MetadataRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::metadata);

  struct Topic {
    Uuid topic_id{};
    NullableString name = "";

    static constexpr void describe(auto& field, auto& m) {
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("Name", m.name, {.nullable = since(10)});
    }
  };

  Array<Topic> topics{};
  bool allow_auto_topic_creation = true;
  bool include_cluster_authorized_operations = false;
  bool include_topic_authorized_operations = false;

  static constexpr void describe(auto& field, auto& m) {
    field("Topics", m.topics, {.nullable = since(1)});
    field("AllowAutoTopicCreation", m.allow_auto_topic_creation,
          {.versions = since(4), .default_value = true});
    field("IncludeClusterAuthorizedOperations", m.include_cluster_authorized_operations,
          {.versions = between(8, 10)});
    field("IncludeTopicAuthorizedOperations", m.include_topic_authorized_operations,
          {.versions = since(8)});
  }
};

struct MetadataResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::metadata);

  struct Broker {
    int32_t node_id = 0;
    std::string_view host{};
    int32_t port = 0;
    NullableString rack{};

    static constexpr void describe(auto& field, auto& m) {
      field("NodeId", m.node_id);
      field("Host", m.host);
      field("Port", m.port);
      field("Rack", m.rack, {.versions = since(1), .nullable = since(1), .null_default = true});
    }
  };

  struct Partition {
    int16_t error_code = 0;
    int32_t partition_index = 0;
    int32_t leader_id = 0;
    int32_t leader_epoch = -1;
    Array<int32_t> replica_nodes{};
    Array<int32_t> isr_nodes{};
    Array<int32_t> offline_replicas{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("PartitionIndex", m.partition_index);
      field("LeaderId", m.leader_id);
      field("LeaderEpoch", m.leader_epoch, {.versions = since(7), .default_value = -1});
      field("ReplicaNodes", m.replica_nodes);
      field("IsrNodes", m.isr_nodes);
      field("OfflineReplicas", m.offline_replicas, {.versions = since(5)});
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
      field("Name", m.name, {.nullable = since(12)});
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("IsInternal", m.is_internal, {.versions = since(1)});
      field("Partitions", m.partitions);
      field("TopicAuthorizedOperations", m.topic_authorized_operations,
            {.versions = since(8), .default_value = INT32_MIN});
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Broker> brokers{};
  NullableString cluster_id{};
  int32_t controller_id = -1;
  Array<Topic> topics{};
  int32_t cluster_authorized_operations = INT32_MIN;
  int16_t error_code = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(3)});
    field("Brokers", m.brokers);
    field("ClusterId", m.cluster_id,
          {.versions = since(2), .nullable = since(2), .null_default = true});
    field("ControllerId", m.controller_id, {.versions = since(1), .default_value = -1});
    field("Topics", m.topics);
    field("ClusterAuthorizedOperations", m.cluster_authorized_operations,
          {.versions = between(8, 10), .default_value = INT32_MIN});
    field("ErrorCode", m.error_code, {.versions = since(13)});
  }
};

}  // namespace weir::wire
