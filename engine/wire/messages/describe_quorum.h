#pragma once
// DescribeQuorum 0-2: the voters of the metadata log (KIP-595, KIP-853).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeQuorumRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_quorum);

  struct Partition {
    int32_t partition_index = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
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

  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) { field("Topics", m.topics); }
};

struct DescribeQuorumResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_quorum);

  struct Replica {
    int32_t replica_id = 0;
    Uuid replica_directory_id{};
    int64_t log_end_offset = 0;
    int64_t last_fetch_timestamp = -1;
    int64_t last_caught_up_timestamp = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("ReplicaId", m.replica_id);
      field("ReplicaDirectoryId", m.replica_directory_id, {.versions = since(2)});
      field("LogEndOffset", m.log_end_offset);
      field("LastFetchTimestamp", m.last_fetch_timestamp,
            {.versions = since(1), .default_value = -1});
      field("LastCaughtUpTimestamp", m.last_caught_up_timestamp,
            {.versions = since(1), .default_value = -1});
    }
  };

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;
    NullableString error_message = "";
    int32_t leader_id = 0;
    int32_t leader_epoch = 0;
    int64_t high_watermark = 0;
    Array<Replica> current_voters{};
    Array<Replica> observers{};

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.versions = since(2), .nullable = since(2)});
      field("LeaderId", m.leader_id);
      field("LeaderEpoch", m.leader_epoch);
      field("HighWatermark", m.high_watermark);
      field("CurrentVoters", m.current_voters);
      field("Observers", m.observers);
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

  struct Listener {
    std::string_view name{};
    std::string_view host{};
    uint16_t port = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = since(2)});
      field("Host", m.host, {.versions = since(2)});
      field("Port", m.port, {.versions = since(2)});
    }
  };

  struct Node {
    int32_t node_id = 0;
    Array<Listener> listeners{};

    static constexpr void describe(auto& field, auto& m) {
      field("NodeId", m.node_id, {.versions = since(2)});
      field("Listeners", m.listeners, {.versions = since(2)});
    }
  };

  int16_t error_code = 0;
  NullableString error_message = "";
  Array<Topic> topics{};
  Array<Node> nodes{};

  static constexpr void describe(auto& field, auto& m) {
    field("ErrorCode", m.error_code);
    field("ErrorMessage", m.error_message, {.versions = since(2), .nullable = since(2)});
    field("Topics", m.topics);
    field("Nodes", m.nodes, {.versions = since(2)});
  }
};

}  // namespace weir::wire
