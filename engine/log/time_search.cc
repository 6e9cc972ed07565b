#include "engine/log/time_search.h"

#include <vector>

#include "io/base/assert.h"

namespace weir::log {
namespace {

std::optional<TimedOffset> search(std::span<const std::byte> records, const BatchView& batch,
                                  int64_t wanted) {
  Record record;
  for (int32_t i = 0; i < batch.record_count() && read_record(records, record); ++i) {
    // Two's complement on purpose: deltas of old batches may be anything.
    const auto timestamp = static_cast<int64_t>(static_cast<uint64_t>(batch.base_timestamp()) +
                                                static_cast<uint64_t>(record.timestamp_delta));
    if (timestamp >= wanted)
      return TimedOffset{batch.base_offset() + record.offset_delta, timestamp};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TimedOffset> find_timestamp(std::span<const std::byte> bytes, int64_t wanted,
                                          Inflater& inflater) {
  const BatchView batch(bytes);
  if (batch.max_timestamp() < wanted) return std::nullopt;
  if (batch.is_append_time()) return TimedOffset{batch.base_offset(), batch.max_timestamp()};
  const auto records = batch.records();
  if (batch.compression() == Compression::none) return search(records, batch, wanted);
  std::vector<std::byte> inflated;
  constexpr size_t kStep = 64 * 1024;
  inflater.begin(batch.compression(), records);
  size_t used = 0;
  do {
    inflated.resize(used + kStep);
    used += inflater.read(std::span(inflated).subspan(used));
  } while (inflater.status() == InflateStatus::more);
  return search(std::span(inflated).first(used), batch, wanted);
}

}  // namespace weir::log
