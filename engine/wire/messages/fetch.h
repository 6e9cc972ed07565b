#pragma once
// Fetch 4-18: record batches from given offsets on.
//
// 4 has isolation levels, 7 fetch sessions, 9 leader epochs; 12 is flexible; 13 names topics by id;
// the tagged fields of 15, 17 and 18 are for followers, which a single node does not have.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct FetchRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::fetch);

  struct ReplicaState {
    int32_t replica_id = -1;
    int64_t replica_epoch = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("ReplicaId", m.replica_id, {.default_value = -1});
      field("ReplicaEpoch", m.replica_epoch, {.default_value = -1});
    }
  };

  struct Partition {
    int32_t partition = 0;
    int32_t current_leader_epoch = -1;
    int64_t fetch_offset = 0;
    int32_t last_fetched_epoch = -1;
    int64_t log_start_offset = -1;
    int32_t partition_max_bytes = 0;
    Uuid replica_directory_id{};
    int64_t high_watermark = INT64_MAX;

    static constexpr void describe(auto& field, auto& m) {
      field("Partition", m.partition);
      field("CurrentLeaderEpoch", m.current_leader_epoch,
            {.versions = since(9), .default_value = -1});
      field("FetchOffset", m.fetch_offset);
      field("LastFetchedEpoch", m.last_fetched_epoch, {.versions = since(12), .default_value = -1});
      field("LogStartOffset", m.log_start_offset, {.versions = since(5), .default_value = -1});
      field("PartitionMaxBytes", m.partition_max_bytes);
      field("ReplicaDirectoryId", m.replica_directory_id, {.versions = since(17), .tag = 0});
      field("HighWatermark", m.high_watermark,
            {.versions = since(18), .tag = 1, .default_value = INT64_MAX});
    }
  };

  struct Topic {
    std::string_view topic{};
    Uuid topic_id{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic, {.versions = until(12)});
      field("TopicId", m.topic_id, {.versions = since(13)});
      field("Partitions", m.partitions);
    }
  };

  struct ForgottenTopic {
    std::string_view topic{};
    Uuid topic_id{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic, {.versions = until(12)});
      field("TopicId", m.topic_id, {.versions = since(13)});
      field("Partitions", m.partitions);
    }
  };

  NullableString cluster_id{};
  int32_t replica_id = -1;
  ReplicaState replica_state{};
  int32_t max_wait_ms = 0;
  int32_t min_bytes = 0;
  int32_t max_bytes = INT32_MAX;
  int8_t isolation_level = 0;
  int32_t session_id = 0;
  int32_t session_epoch = -1;
  Array<Topic> topics{};
  Array<ForgottenTopic> forgotten_topics_data{};
  std::string_view rack_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("ClusterId", m.cluster_id,
          {.versions = since(12), .nullable = since(12), .tag = 0, .null_default = true});
    field("ReplicaId", m.replica_id, {.versions = until(14), .default_value = -1});
    field("ReplicaState", m.replica_state, {.versions = since(15), .tag = 1});
    field("MaxWaitMs", m.max_wait_ms);
    field("MinBytes", m.min_bytes);
    field("MaxBytes", m.max_bytes, {.default_value = INT32_MAX});
    field("IsolationLevel", m.isolation_level);
    field("SessionId", m.session_id, {.versions = since(7)});
    field("SessionEpoch", m.session_epoch, {.versions = since(7), .default_value = -1});
    field("Topics", m.topics);
    field("ForgottenTopicsData", m.forgotten_topics_data, {.versions = since(7)});
    field("RackId", m.rack_id, {.versions = since(11)});
  }
};

struct FetchResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::fetch);

  struct EpochEndOffset {
    int32_t epoch = -1;
    int64_t end_offset = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("Epoch", m.epoch, {.default_value = -1});
      field("EndOffset", m.end_offset, {.default_value = -1});
    }
  };

  struct LeaderIdAndEpoch {
    int32_t leader_id = -1;
    int32_t leader_epoch = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("LeaderId", m.leader_id, {.default_value = -1});
      field("LeaderEpoch", m.leader_epoch, {.default_value = -1});
    }
  };

  struct SnapshotId {
    int64_t end_offset = -1;
    int32_t epoch = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("EndOffset", m.end_offset, {.default_value = -1});
      field("Epoch", m.epoch, {.default_value = -1});
    }
  };

  struct AbortedTransaction {
    int64_t producer_id = 0;
    int64_t first_offset = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("ProducerId", m.producer_id);
      field("FirstOffset", m.first_offset);
    }
  };

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;
    int64_t high_watermark = 0;
    int64_t last_stable_offset = -1;
    int64_t log_start_offset = -1;
    EpochEndOffset diverging_epoch{};
    LeaderIdAndEpoch current_leader{};
    SnapshotId snapshot_id{};
    Array<AbortedTransaction> aborted_transactions{};
    int32_t preferred_read_replica = -1;
    RecordsChain records{};

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
      field("HighWatermark", m.high_watermark);
      field("LastStableOffset", m.last_stable_offset, {.default_value = -1});
      field("LogStartOffset", m.log_start_offset, {.versions = since(5), .default_value = -1});
      field("DivergingEpoch", m.diverging_epoch, {.versions = since(12), .tag = 0});
      field("CurrentLeader", m.current_leader, {.versions = since(12), .tag = 1});
      field("SnapshotId", m.snapshot_id, {.versions = since(12), .tag = 2});
      field("AbortedTransactions", m.aborted_transactions, {.nullable = kAllVersions});
      field("PreferredReadReplica", m.preferred_read_replica,
            {.versions = since(11), .default_value = -1});
      field("Records", m.records, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view topic{};
    Uuid topic_id{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic, {.versions = until(12)});
      field("TopicId", m.topic_id, {.versions = since(13)});
      field("Partitions", m.partitions);
    }
  };

  struct NodeEndpoint {
    int32_t node_id = 0;
    std::string_view host{};
    int32_t port = 0;
    NullableString rack{};

    static constexpr void describe(auto& field, auto& m) {
      field("NodeId", m.node_id);
      field("Host", m.host);
      field("Port", m.port);
      field("Rack", m.rack, {.nullable = kAllVersions, .null_default = true});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  int32_t session_id = 0;
  Array<Topic> responses{};
  Array<NodeEndpoint> node_endpoints{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code, {.versions = since(7)});
    field("SessionId", m.session_id, {.versions = since(7)});
    field("Responses", m.responses);
    field("NodeEndpoints", m.node_endpoints, {.versions = since(16), .tag = 0});
  }
};

}  // namespace weir::wire
