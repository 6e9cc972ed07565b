#include "engine/log/time_search.h"

#include <algorithm>
#include <vector>

#include "io/base/assert.h"

namespace weir::log {
namespace {

// Calls visit(offset, timestamp) for the records from `from` on, until it says false.
template <class Visit>
void visit_records(std::span<const std::byte> records, const BatchView& batch, model::Offset from,
                   Visit visit) {
  Record record;
  for (int32_t i = 0; i < batch.record_count() && read_record(records, record); ++i) {
    const model::Offset offset = batch.base_offset() + record.offset_delta;
    if (offset < from) continue;
    // Two's complement on purpose: deltas of old batches may be anything.
    const auto timestamp = static_cast<int64_t>(static_cast<uint64_t>(batch.base_timestamp()) +
                                                static_cast<uint64_t>(record.timestamp_delta));
    if (!visit(offset, timestamp)) return;
  }
}

template <class Visit>
void open_and_visit(const BatchView& batch, model::Offset from, Inflater& inflater, Visit visit) {
  const auto records = batch.records();
  if (batch.compression() == Compression::none) return visit_records(records, batch, from, visit);
  std::vector<std::byte> inflated;
  constexpr size_t kStep = 64 * 1024;
  inflater.begin(batch.compression(), records);
  size_t used = 0;
  do {
    inflated.resize(used + kStep);
    used += inflater.read(std::span(inflated).subspan(used));
  } while (inflater.status() == InflateStatus::more);
  visit_records(std::span<const std::byte>(inflated).first(used), batch, from, visit);
}

}  // namespace

std::optional<TimedOffset> find_timestamp(std::span<const std::byte> bytes, int64_t wanted,
                                          model::Offset from, Inflater& inflater) {
  const BatchView batch(bytes);
  if (batch.max_timestamp() < wanted || batch.next_offset() <= from) return std::nullopt;
  if (batch.is_append_time()) {
    return TimedOffset{std::max(batch.base_offset(), from), batch.max_timestamp()};
  }
  std::optional<TimedOffset> found;
  open_and_visit(batch, from, inflater, [&](model::Offset offset, int64_t timestamp) {
    if (timestamp >= wanted) found = TimedOffset{offset, timestamp};
    return !found;
  });
  return found;
}

int64_t largest_timestamp(std::span<const std::byte> bytes, model::Offset from,
                          Inflater& inflater) {
  const BatchView batch(bytes);
  if (batch.next_offset() <= from) return model::kNoTimestamp;
  if (batch.is_append_time() || batch.base_offset() >= from) return batch.max_timestamp();
  int64_t largest = model::kNoTimestamp;
  open_and_visit(batch, from, inflater, [&](model::Offset, int64_t timestamp) {
    largest = std::max(largest, timestamp);
    return true;
  });
  return largest;
}

}  // namespace weir::log
