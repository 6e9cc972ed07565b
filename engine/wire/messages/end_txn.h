#pragma once
// EndTxn 0-5: commits or aborts. From version 5 on every end gives the producer a new epoch
// (KIP-890).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct EndTxnRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::end_txn);

  std::string_view transactional_id{};
  int64_t producer_id = 0;
  int16_t producer_epoch = 0;
  bool committed = false;

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id);
    field("ProducerId", m.producer_id);
    field("ProducerEpoch", m.producer_epoch);
    field("Committed", m.committed);
  }
};

struct EndTxnResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::end_txn);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  int64_t producer_id = -1;
  int16_t producer_epoch = -1;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ProducerId", m.producer_id, {.versions = since(5), .default_value = -1});
    field("ProducerEpoch", m.producer_epoch, {.versions = since(5), .default_value = -1});
  }
};

}  // namespace weir::wire
