#pragma once
// Records of __transaction_state: the transactional id (key) and the state of its transaction
// (value). A null value forgets the id.
//
// Value version 1 has tagged fields: producer ids around an exhausted epoch and the transaction
// version of the client.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct TransactionLogKey {
  static constexpr MessageInfo kInfo{.name = "TransactionLogKey",
                                     .kind = MessageKind::record_key,
                                     .key = 0,
                                     .versions = between(0, 0),
                                     .first_flexible_version = kNeverFlexible};

  std::string_view transactional_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id);
  }
};

struct TransactionLogValue {
  static constexpr MessageInfo kInfo{.name = "TransactionLogValue",
                                     .kind = MessageKind::record_value,
                                     .key = 0,
                                     .versions = between(0, 1),
                                     .first_flexible_version = 1};

  struct Partitions {
    std::string_view topic{};
    Array<int32_t> partition_ids{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("PartitionIds", m.partition_ids);
    }
  };

  int64_t producer_id = 0;
  int64_t previous_producer_id = -1;
  int64_t next_producer_id = -1;
  int16_t producer_epoch = 0;
  int16_t next_producer_epoch = -1;
  int32_t transaction_timeout_ms = 0;
  int8_t transaction_status = 0;
  Array<Partitions> transaction_partitions{};
  int64_t transaction_last_update_timestamp_ms = 0;
  int64_t transaction_start_timestamp_ms = 0;
  int16_t client_transaction_version = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ProducerId", m.producer_id);
    field("ProducerEpoch", m.producer_epoch);
    field("TransactionTimeoutMs", m.transaction_timeout_ms);
    field("TransactionStatus", m.transaction_status);
    field("TransactionPartitions", m.transaction_partitions, {.nullable = kAllVersions});
    field("TransactionLastUpdateTimestampMs", m.transaction_last_update_timestamp_ms);
    field("TransactionStartTimestampMs", m.transaction_start_timestamp_ms);
    field("PreviousProducerId", m.previous_producer_id,
          {.versions = since(1), .tag = 0, .default_value = -1});
    field("NextProducerId", m.next_producer_id,
          {.versions = since(1), .tag = 1, .default_value = -1});
    field("ClientTransactionVersion", m.client_transaction_version,
          {.versions = since(1), .tag = 2});
    field("NextProducerEpoch", m.next_producer_epoch,
          {.versions = since(1), .tag = 3, .default_value = -1});
  }
};

}  // namespace weir::wire
