#pragma once
// AddPartitionsToTxn 0-5: which partitions a transaction writes to. From version 4 on many
// transactions at once, as brokers ask one another.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AddPartitionsToTxnRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::add_partitions_to_txn);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  struct Transaction {
    std::string_view transactional_id{};
    int64_t producer_id = 0;
    int16_t producer_epoch = 0;
    bool verify_only = false;
    Array<Topic> topics{};

    static constexpr void describe(auto& field, auto& m) {
      field("TransactionalId", m.transactional_id, {.versions = since(4)});
      field("ProducerId", m.producer_id, {.versions = since(4)});
      field("ProducerEpoch", m.producer_epoch, {.versions = since(4)});
      field("VerifyOnly", m.verify_only, {.versions = since(4)});
      field("Topics", m.topics, {.versions = since(4)});
    }
  };

  Array<Transaction> transactions{};
  std::string_view v3_and_below_transactional_id{};
  int64_t v3_and_below_producer_id = 0;
  int16_t v3_and_below_producer_epoch = 0;
  Array<Topic> v3_and_below_topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("Transactions", m.transactions, {.versions = since(4)});
    field("V3AndBelowTransactionalId", m.v3_and_below_transactional_id, {.versions = until(3)});
    field("V3AndBelowProducerId", m.v3_and_below_producer_id, {.versions = until(3)});
    field("V3AndBelowProducerEpoch", m.v3_and_below_producer_epoch, {.versions = until(3)});
    field("V3AndBelowTopics", m.v3_and_below_topics, {.versions = until(3)});
  }
};

struct AddPartitionsToTxnResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::add_partitions_to_txn);

  struct PartitionResult {
    int32_t partition_index = 0;
    int16_t partition_error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("PartitionErrorCode", m.partition_error_code);
    }
  };

  struct TopicResult {
    std::string_view name{};
    Array<PartitionResult> results_by_partition{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("ResultsByPartition", m.results_by_partition);
    }
  };

  struct TransactionResult {
    std::string_view transactional_id{};
    Array<TopicResult> topic_results{};

    static constexpr void describe(auto& field, auto& m) {
      field("TransactionalId", m.transactional_id, {.versions = since(4)});
      field("TopicResults", m.topic_results, {.versions = since(4)});
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<TransactionResult> results_by_transaction{};
  Array<TopicResult> results_by_topic_v3_and_below{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code, {.versions = since(4)});
    field("ResultsByTransaction", m.results_by_transaction, {.versions = since(4)});
    field("ResultsByTopicV3AndBelow", m.results_by_topic_v3_and_below, {.versions = until(3)});
  }
};

}  // namespace weir::wire
