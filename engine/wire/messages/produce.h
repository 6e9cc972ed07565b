#pragma once
// Produce 3-13: record batches to append.
//
// Versions 0-2 carry message formats this engine does not store; they are advertised and
// refused. 9 is flexible; 10 may tell the leader in tagged fields; 12 means the client may begin
// transactions implicitly; 13 names topics by id.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ProduceRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::produce);

  struct Partition {
    int32_t index = 0;
    Records records{};

    static constexpr void describe(auto& field, auto& m) {
      field("Index", m.index);
      field("Records", m.records, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view name{};
    Uuid topic_id{};
    Array<Partition> partition_data{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(12)});
      field("TopicId", m.topic_id, {.versions = since(13)});
      field("PartitionData", m.partition_data);
    }
  };

  NullableString transactional_id{};
  int16_t acks = 0;
  int32_t timeout_ms = 0;
  Array<Topic> topic_data{};

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id, {.nullable = kAllVersions, .null_default = true});
    field("Acks", m.acks);
    field("TimeoutMs", m.timeout_ms);
    field("TopicData", m.topic_data);
  }
};

struct ProduceResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::produce);

  struct RecordError {
    int32_t batch_index = 0;
    NullableString batch_index_error_message{};

    static constexpr void describe(auto& field, auto& m) {
      field("BatchIndex", m.batch_index);
      field("BatchIndexErrorMessage", m.batch_index_error_message,
            {.nullable = kAllVersions, .null_default = true});
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

  struct Partition {
    int32_t index = 0;
    int16_t error_code = 0;
    int64_t base_offset = 0;
    int64_t log_append_time_ms = -1;
    int64_t log_start_offset = -1;
    Array<RecordError> record_errors{};
    NullableString error_message{};
    LeaderIdAndEpoch current_leader{};

    static constexpr void describe(auto& field, auto& m) {
      field("Index", m.index);
      field("ErrorCode", m.error_code);
      field("BaseOffset", m.base_offset);
      field("LogAppendTimeMs", m.log_append_time_ms, {.default_value = -1});
      field("LogStartOffset", m.log_start_offset, {.versions = since(5), .default_value = -1});
      field("RecordErrors", m.record_errors, {.versions = since(8)});
      field("ErrorMessage", m.error_message,
            {.versions = since(8), .nullable = since(8), .null_default = true});
      field("CurrentLeader", m.current_leader, {.versions = since(10), .tag = 0});
    }
  };

  struct Topic {
    std::string_view name{};
    Uuid topic_id{};
    Array<Partition> partition_responses{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(12)});
      field("TopicId", m.topic_id, {.versions = since(13)});
      field("PartitionResponses", m.partition_responses);
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

  Array<Topic> responses{};
  int32_t throttle_time_ms = 0;
  Array<NodeEndpoint> node_endpoints{};

  static constexpr void describe(auto& field, auto& m) {
    field("Responses", m.responses);
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("NodeEndpoints", m.node_endpoints, {.versions = since(10), .tag = 0});
  }
};

}  // namespace weir::wire
