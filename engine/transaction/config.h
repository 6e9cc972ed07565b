#pragma once
// Settings of the transaction coordinator. Partitions of __transaction_state are the catalog's.

#include <cstdint>

#include "engine/model/setting.h"

namespace weir::transaction {

struct TransactionConfig {
  int32_t max_timeout_ms = 900'000;
  int32_t id_expiration_ms = 604'800'000;
  int32_t abort_interval_ms = 10'000;

  static constexpr void describe(auto& setting, auto& c) {
    setting("transaction.abort.timed.out.transaction.cleanup.interval.ms", c.abort_interval_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "How often transactions are looked through for those that take too long."});
    setting("transaction.max.timeout.ms", c.max_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Longest timeout of a transaction that a producer may ask for."});
    setting("transactional.id.expiration.ms", c.id_expiration_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "How long an unused transactional id is remembered."});
  }
};

static_assert(model::defaults_in_range<TransactionConfig>());

}  // namespace weir::transaction
