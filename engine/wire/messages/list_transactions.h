#pragma once
// ListTransactions 0-2: transactional ids by state, producer, age (KIP-994) and pattern (KIP-1152).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct ListTransactionsRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::list_transactions);

  Array<std::string_view> state_filters{};
  Array<int64_t> producer_id_filters{};
  int64_t duration_filter = -1;
  NullableString transactional_id_pattern{};

  static constexpr void describe(auto& field, auto& m) {
    field("StateFilters", m.state_filters);
    field("ProducerIdFilters", m.producer_id_filters);
    field("DurationFilter", m.duration_filter, {.versions = since(1), .default_value = -1});
    field("TransactionalIdPattern", m.transactional_id_pattern,
          {.versions = since(2), .nullable = since(2), .null_default = true});
  }
};

struct ListTransactionsResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::list_transactions);

  struct Transaction {
    std::string_view transactional_id{};
    int64_t producer_id = 0;
    std::string_view transaction_state{};

    static constexpr void describe(auto& field, auto& m) {
      field("TransactionalId", m.transactional_id);
      field("ProducerId", m.producer_id);
      field("TransactionState", m.transaction_state);
    }
  };

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  Array<std::string_view> unknown_state_filters{};
  Array<Transaction> transaction_states{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("UnknownStateFilters", m.unknown_state_filters);
    field("TransactionStates", m.transaction_states);
  }
};

}  // namespace weir::wire
