#pragma once
// WriteTxnMarkers 0-2: ends transactions in partitions directly. Brokers ask one another so; tools
// use it to abort a transaction that nobody owns (KIP-664).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct WriteTxnMarkersRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::write_txn_markers);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partition_indexes{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("PartitionIndexes", m.partition_indexes);
    }
  };

  struct Marker {
    int64_t producer_id = 0;
    int16_t producer_epoch = 0;
    bool transaction_result = false;
    Array<Topic> topics{};
    int32_t coordinator_epoch = 0;
    int8_t transaction_version = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("ProducerId", m.producer_id);
      field("ProducerEpoch", m.producer_epoch);
      field("TransactionResult", m.transaction_result);
      field("Topics", m.topics);
      field("CoordinatorEpoch", m.coordinator_epoch);
      field("TransactionVersion", m.transaction_version, {.versions = since(2)});
    }
  };

  Array<Marker> markers{};

  static constexpr void describe(auto& field, auto& m) { field("Markers", m.markers); }
};

struct WriteTxnMarkersResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::write_txn_markers);

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

  struct Marker {
    int64_t producer_id = 0;
    Array<Topic> topics{};

    static constexpr void describe(auto& field, auto& m) {
      field("ProducerId", m.producer_id);
      field("Topics", m.topics);
    }
  };

  Array<Marker> markers{};

  static constexpr void describe(auto& field, auto& m) { field("Markers", m.markers); }
};

}  // namespace weir::wire
