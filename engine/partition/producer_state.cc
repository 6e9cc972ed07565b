#include "engine/partition/producer_state.h"

#include <algorithm>
#include <limits>

#include "io/base/assert.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace weir::partition {
namespace {

using base::load_le;
using base::store_le;
using model::ErrorCode;

constexpr uint64_t kSnapshotMagic = 0x31504E5352494557ull;  // "WEIRSNP1"
constexpr size_t kSnapshotHeader = 32;
constexpr size_t kSnapshotBatch = 32;
constexpr size_t kSnapshotEpoch = 16;
constexpr size_t kSnapshotEntry = 32 + kBatchesRemembered * kSnapshotBatch;

}  // namespace

model::Sequence next_sequence(model::Sequence sequence) {
  if (sequence.value() == std::numeric_limits<int32_t>::max()) return model::Sequence(0);
  return sequence + 1;
}

ProducerState::Verdict ProducerState::check(const log::BatchView& batch) const {
  const auto it = entries_.find(batch.producer_id());
  // An unknown producer may start anywhere: its state may have expired (SCOPE trap 20).
  if (it == entries_.end()) return {};
  const ProducerEntry& entry = it->second;
  if (batch.producer_epoch() == entry.epoch) {
    for (size_t i = 0; i < entry.batch_count; ++i) {
      const ProducerBatch& known = entry.batches[i];
      if (known.first_sequence == batch.base_sequence() &&
          known.last_sequence == batch.last_sequence()) {
        return {ErrorCode::none, &known};
      }
    }
  }
  if (batch.producer_epoch() < entry.epoch) return {ErrorCode::invalid_producer_epoch, nullptr};
  if (batch.producer_epoch() > entry.epoch || entry.batch_count == 0) {
    const bool same_epoch = batch.producer_epoch() == entry.epoch;
    const bool first = batch.base_sequence() == (same_epoch ? entry.expected : model::Sequence(0));
    return {first ? ErrorCode::none : ErrorCode::out_of_order_sequence_number, nullptr};
  }
  const bool follows = batch.base_sequence() == next_sequence(entry.last().last_sequence);
  return {follows ? ErrorCode::none : ErrorCode::out_of_order_sequence_number, nullptr};
}

void ProducerState::append(const log::BatchView& batch, model::Offset base_offset,
                           int64_t now_ms) {
  ProducerEntry& entry = entries_[batch.producer_id()];
  if (entry.epoch != batch.producer_epoch()) {
    entry.epoch = batch.producer_epoch();
    entry.batch_count = 0;
  }
  entry.producer_id = batch.producer_id();
  if (entry.batch_count == kBatchesRemembered) {
    std::shift_left(entry.batches.begin(), entry.batches.end(), 1);
    --entry.batch_count;
  }
  entry.batches[entry.batch_count++] = {batch.base_sequence(), batch.last_sequence(), base_offset,
                                        base_offset + batch.last_offset_delta(),
                                        batch.max_timestamp()};
  entry.last_append_ms = now_ms;
}

void ProducerState::refuse(const log::BatchView& batch, int64_t now_ms) {
  const auto [it, is_new] = entries_.try_emplace(batch.producer_id());
  if (!is_new) return;
  it->second.producer_id = batch.producer_id();
  it->second.epoch = batch.producer_epoch();
  it->second.expected = batch.base_sequence();
  it->second.last_append_ms = now_ms;
}

size_t ProducerState::expire(int64_t now_ms, int64_t age_ms) {
  return std::erase_if(entries_, [&](const auto& item) {
    return now_ms - item.second.last_append_ms > age_ms;
  });
}

void ProducerState::limit(size_t count_max) {
  while (entries_.size() > count_max) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& item) {
      return std::pair(item.second.last_append_ms, item.first);
    });
    entries_.erase(oldest);
  }
}

std::vector<std::byte> ProducerState::encode(model::Offset next_offset,
                                             std::span<const log::EpochStart> epochs) const {
  std::vector<const ProducerEntry*> sorted;
  for (const auto& [id, entry] : entries_) {
    if (entry.batch_count > 0) sorted.push_back(&entry);
  }
  std::ranges::sort(sorted, {}, &ProducerEntry::producer_id);
  std::vector<std::byte> bytes(kSnapshotHeader + sorted.size() * kSnapshotEntry +
                               epochs.size() * kSnapshotEpoch);
  std::byte* const to = bytes.data();
  store_le<uint64_t>(to, kSnapshotMagic);
  store_le<uint32_t>(to + 12, static_cast<uint32_t>(sorted.size()));
  store_le<int64_t>(to + 16, next_offset.value());
  std::byte* at = to + kSnapshotHeader;
  for (const ProducerEntry* entry : sorted) {
    store_le<int64_t>(at, entry->producer_id.value());
    store_le<int16_t>(at + 8, entry->epoch.value());
    store_le<uint8_t>(at + 10, entry->batch_count);
    store_le<int64_t>(at + 16, entry->last_append_ms);
    for (size_t i = 0; i < entry->batch_count; ++i) {
      const ProducerBatch& batch = entry->batches[i];
      std::byte* const slot = at + 32 + i * kSnapshotBatch;
      store_le<int32_t>(slot, batch.first_sequence.value());
      store_le<int32_t>(slot + 4, batch.last_sequence.value());
      store_le<int64_t>(slot + 8, batch.base_offset.value());
      store_le<int64_t>(slot + 16, batch.last_offset.value());
      store_le<int64_t>(slot + 24, batch.timestamp);
    }
    at += kSnapshotEntry;
  }
  store_le<uint32_t>(to + 24, static_cast<uint32_t>(epochs.size()));
  for (const log::EpochStart& start : epochs) {
    store_le<int32_t>(at, start.epoch);
    store_le<int64_t>(at + 8, start.start_offset.value());
    at += kSnapshotEpoch;
  }
  store_le<uint32_t>(to + 8, base::crc32c(std::span(bytes).subspan(12)));
  return bytes;
}

bool ProducerState::decode(std::span<const std::byte> bytes, model::Offset& next_offset,
                           std::vector<log::EpochStart>& epochs) {
  if (bytes.size() < kSnapshotHeader || load_le<uint64_t>(bytes.data()) != kSnapshotMagic) {
    return false;
  }
  const size_t count = load_le<uint32_t>(bytes.data() + 12);
  const size_t epoch_count = load_le<uint32_t>(bytes.data() + 24);
  if (count > bytes.size() / kSnapshotEntry || epoch_count > bytes.size() / kSnapshotEpoch) {
    return false;
  }
  const size_t size =
      kSnapshotHeader + count * kSnapshotEntry + epoch_count * kSnapshotEpoch;
  if (bytes.size() < size) return false;
  // A file written over a longer one keeps the longer one's end.
  bytes = bytes.first(size);
  if (load_le<uint32_t>(bytes.data() + 8) != base::crc32c(bytes.subspan(12))) return false;
  std::unordered_map<model::ProducerId, ProducerEntry> entries;
  const std::byte* at = bytes.data() + kSnapshotHeader;
  for (size_t n = 0; n < count; ++n, at += kSnapshotEntry) {
    ProducerEntry entry;
    entry.producer_id = model::ProducerId(load_le<int64_t>(at));
    entry.epoch = model::ProducerEpoch(load_le<int16_t>(at + 8));
    entry.batch_count = load_le<uint8_t>(at + 10);
    entry.last_append_ms = load_le<int64_t>(at + 16);
    if (entry.batch_count > kBatchesRemembered) return false;
    for (size_t i = 0; i < entry.batch_count; ++i) {
      const std::byte* const slot = at + 32 + i * kSnapshotBatch;
      entry.batches[i] = {model::Sequence(load_le<int32_t>(slot)),
                          model::Sequence(load_le<int32_t>(slot + 4)),
                          model::Offset(load_le<int64_t>(slot + 8)),
                          model::Offset(load_le<int64_t>(slot + 16)),
                          load_le<int64_t>(slot + 24)};
    }
    entries.emplace(entry.producer_id, entry);
  }
  epochs.clear();
  for (size_t n = 0; n < epoch_count; ++n, at += kSnapshotEpoch) {
    epochs.push_back({load_le<int32_t>(at), model::Offset(load_le<int64_t>(at + 8))});
  }
  entries_ = std::move(entries);
  next_offset = model::Offset(load_le<int64_t>(bytes.data() + 16));
  return true;
}

}  // namespace weir::partition
