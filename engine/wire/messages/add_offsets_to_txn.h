#pragma once
// AddOffsetsToTxn 0-4: a transaction will commit offsets of a group.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct AddOffsetsToTxnRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::add_offsets_to_txn);

  std::string_view transactional_id{};
  int64_t producer_id = 0;
  int16_t producer_epoch = 0;
  std::string_view group_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id);
    field("ProducerId", m.producer_id);
    field("ProducerEpoch", m.producer_epoch);
    field("GroupId", m.group_id);
  }
};

struct AddOffsetsToTxnResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::add_offsets_to_txn);

  int32_t throttle_time_ms = 0;
  int16_t error_code = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("ErrorCode", m.error_code);
  }
};

}  // namespace weir::wire
