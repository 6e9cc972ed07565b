#pragma once
// DescribeTransactions 0: the state of transactional ids (KIP-664).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct DescribeTransactionsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::describe_transactions);

  Array<std::string_view> transactional_ids{};

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalIds", m.transactional_ids);
  }
};

struct DescribeTransactionsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::describe_transactions);

  struct Topic {
    std::string_view topic{};
    Array<int32_t> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Topic", m.topic);
      field("Partitions", m.partitions);
    }
  };

  struct Transaction {
    int16_t error_code = 0;
    std::string_view transactional_id{};
    std::string_view transaction_state{};
    int32_t transaction_timeout_ms = 0;
    int64_t transaction_start_time_ms = 0;
    int64_t producer_id = 0;
    int16_t producer_epoch = 0;
    Array<Topic> topics{};

    static constexpr void describe(auto& field, auto& m) {
      field("ErrorCode", m.error_code);
      field("TransactionalId", m.transactional_id);
      field("TransactionState", m.transaction_state);
      field("TransactionTimeoutMs", m.transaction_timeout_ms);
      field("TransactionStartTimeMs", m.transaction_start_time_ms);
      field("ProducerId", m.producer_id);
      field("ProducerEpoch", m.producer_epoch);
      field("Topics", m.topics);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Transaction> transaction_states{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("TransactionStates", m.transaction_states);
  }
};

}  // namespace weir::wire
