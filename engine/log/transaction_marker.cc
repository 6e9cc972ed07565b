#include "engine/log/transaction_marker.h"

#include <algorithm>

#include "io/base/assert.h"
#include "io/base/bytes.h"

namespace weir::log {
namespace {

constexpr size_t kKeySize = 4;
constexpr size_t kValueSize = 6;
constexpr int16_t kAbortType = 0;
constexpr int16_t kCommitType = 1;

}  // namespace

void encode_marker(const TransactionMarker& marker, model::ProducerId producer_id,
                   model::ProducerEpoch producer_epoch, int64_t timestamp_ms, MarkerBatch& to) {
  std::array<std::byte, kKeySize> key{};
  base::store_be<int16_t>(key.data() + 2, marker.commit ? kCommitType : kAbortType);
  std::array<std::byte, kValueSize> value{};
  base::store_be<int32_t>(value.data() + 2, marker.coordinator_epoch);
  BatchBuilder builder({.base_timestamp = timestamp_ms,
                        .producer_id = producer_id,
                        .producer_epoch = producer_epoch,
                        .transactional = true,
                        .control = true});
  builder.append(key, value, timestamp_ms);
  const auto batch = builder.finish();
  ASSERT(batch.size() == to.size(), "a marker of {} bytes", batch.size());
  std::ranges::copy(batch, to.begin());
}

std::optional<TransactionMarker> read_marker(const BatchView& batch) {
  if (!batch.is_control() || batch.compression_bits() != 0) return std::nullopt;
  std::span<const std::byte> records = batch.records();
  Record record;
  if (!read_record(records, record) || !record.key || record.key->size() < kKeySize) {
    return std::nullopt;
  }
  const auto type = base::load_be<int16_t>(record.key->data() + 2);
  if (type != kAbortType && type != kCommitType) return std::nullopt;
  if (!record.value || record.value->size() < kValueSize) return std::nullopt;
  return TransactionMarker{.commit = type == kCommitType,
                           .coordinator_epoch = base::load_be<int32_t>(record.value->data() + 2)};
}

}  // namespace weir::log
