#pragma once
// InitProducerId 0-5: a producer id and epoch, for idempotence or for a transactional id.

#include <cstdint>

#include "engine/wire/schema.h"

namespace weir::wire {

struct InitProducerIdRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::init_producer_id);

  NullableString transactional_id = "";
  int32_t transaction_timeout_ms = 0;
  int64_t producer_id = -1;
  int16_t producer_epoch = -1;

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id, {.nullable = kAllVersions});
    field("TransactionTimeoutMs", m.transaction_timeout_ms);
    field("ProducerId", m.producer_id, {.versions = since(3), .default_value = -1});
    field("ProducerEpoch", m.producer_epoch, {.versions = since(3), .default_value = -1});
  }
};

struct InitProducerIdResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::init_producer_id);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;
  int64_t producer_id = -1;
  int16_t producer_epoch = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
    field("ProducerId", m.producer_id, {.default_value = -1});
    field("ProducerEpoch", m.producer_epoch);
  }
};

}  // namespace weir::wire
