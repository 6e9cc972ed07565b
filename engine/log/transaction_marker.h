#pragma once
// The control batch that ends a transaction in one partition, as Kafka writes it (SCOPE 5.2,
// EndTxnMarker.json): one record, attributes transactional and control, no sequence, the producer's
// id and epoch.
//
//   key    version i16 = 0 | type i16: 0 abort, 1 commit
//   value  version i16 = 0 | coordinator epoch i32

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/log/record_batch.h"

namespace weir::log {

struct TransactionMarker {
  bool commit = false;
  int32_t coordinator_epoch = 0;
};

// Bytes of every marker batch: header and one record whose fields all have fixed lengths.
inline constexpr size_t kMarkerBatchSize = kBatchHeaderSize + 17;
using MarkerBatch = std::array<std::byte, kMarkerBatchSize>;

void encode_marker(const TransactionMarker& marker, model::ProducerId producer_id,
                   model::ProducerEpoch producer_epoch, int64_t timestamp_ms, MarkerBatch& to);

// Nothing: a control batch of another kind, or malformed. The batch's length has been checked.
[[nodiscard]] std::optional<TransactionMarker> read_marker(const BatchView& batch);

}  // namespace weir::log
