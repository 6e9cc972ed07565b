#pragma once
// DescribeProducers 0: who writes to a partition, and where an open transaction begins (KIP-664).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeProducersRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_producers);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partition_indexes{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("PartitionIndexes", m.partition_indexes);
    }
  };

  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) { field("Topics", m.topics); }
};

struct DescribeProducersResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_producers);

  struct Producer {
    int64_t producer_id = 0;
    int32_t producer_epoch = 0;
    int32_t last_sequence = -1;
    int64_t last_timestamp = -1;
    int32_t coordinator_epoch = 0;
    int64_t current_txn_start_offset = -1;

    static constexpr void describe(auto& field, auto& m) {
      field("ProducerId", m.producer_id);
      field("ProducerEpoch", m.producer_epoch);
      field("LastSequence", m.last_sequence, {.default_value = -1});
      field("LastTimestamp", m.last_timestamp, {.default_value = -1});
      field("CoordinatorEpoch", m.coordinator_epoch);
      field("CurrentTxnStartOffset", m.current_txn_start_offset, {.default_value = -1});
    }
  };

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;
    NullableString error_message{};
    Array<Producer> active_producers{};

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
      field("ErrorMessage", m.error_message, {.nullable = kAllVersions, .null_default = true});
      field("ActiveProducers", m.active_producers);
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
