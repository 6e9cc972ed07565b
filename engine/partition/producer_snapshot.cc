#include "engine/partition/producer_snapshot.h"

#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace weir::partition {
namespace {

using base::load_le;
using base::store_le;

constexpr uint64_t kMagic = 0x33504E5352494557ull;          // "WEIRSNP3"
constexpr uint64_t kMagicVersion2 = 0x32504E5352494557ull;  // "WEIRSNP2"
constexpr uint64_t kMagicVersion1 = 0x31504E5352494557ull;  // "WEIRSNP1"
constexpr size_t kHeaderSize = 32;
constexpr size_t kBatchSize = 32;
constexpr size_t kEpochSize = 16;
constexpr size_t kAbortedSize = 32;
constexpr size_t kEntryHeader = 48;
constexpr size_t kEntryHeaderVersion1 = 32;
constexpr size_t kBatchesSize = kBatchesRemembered * kBatchSize;

// Older versions leave the magic out, so that one damaged byte could pass for an older file.
uint32_t checksum(std::span<const std::byte> bytes, bool with_magic) {
  const uint32_t front = with_magic ? base::crc32c(bytes.first(sizeof(kMagic))) : 0;
  return base::crc32c(bytes.subspan(12), front);
}

void encode_entry(const ProducerEntry& entry, std::byte* at) {
  store_le<int64_t>(at, entry.producer_id.value());
  store_le<int16_t>(at + 8, entry.epoch.value());
  store_le<uint8_t>(at + 10, entry.batch_count);
  store_le<int32_t>(at + 12, entry.coordinator_epoch);
  store_le<int64_t>(at + 16, entry.last_append_ms);
  store_le<int64_t>(at + 24, entry.transaction_first_offset.value());
  store_le<int32_t>(at + 32, entry.expected.value());
  store_le<int64_t>(at + 40, entry.last_timestamp);
  // An empty slot has room for the one number that outlives the window.
  if (entry.batch_count == 0) {
    store_le<int64_t>(at + kEntryHeader + 16, entry.last_data_offset.value() + 1);
  }
  for (size_t i = 0; i < entry.batch_count; ++i) {
    const ProducerBatch& batch = entry.batches[i];
    std::byte* const slot = at + kEntryHeader + i * kBatchSize;
    store_le<int32_t>(slot, batch.first_sequence.value());
    store_le<int32_t>(slot + 4, batch.last_sequence.value());
    store_le<int64_t>(slot + 8, batch.base_offset.value());
    store_le<int64_t>(slot + 16, batch.last_offset.value());
    store_le<int64_t>(slot + 24, batch.timestamp);
  }
}

bool decode_entry(const std::byte* at, bool version1, ProducerEntry& entry) {
  entry.producer_id = model::ProducerId(load_le<int64_t>(at));
  entry.epoch = model::ProducerEpoch(load_le<int16_t>(at + 8));
  entry.batch_count = load_le<uint8_t>(at + 10);
  entry.last_append_ms = load_le<int64_t>(at + 16);
  if (entry.batch_count > kBatchesRemembered) return false;
  if (!version1) {
    entry.coordinator_epoch = load_le<int32_t>(at + 12);
    entry.transaction_first_offset = model::Offset(load_le<int64_t>(at + 24));
    entry.expected = model::Sequence(load_le<int32_t>(at + 32));
    entry.last_timestamp = load_le<int64_t>(at + 40);
  }
  const std::byte* slot = at + (version1 ? kEntryHeaderVersion1 : kEntryHeader);
  for (size_t i = 0; i < entry.batch_count; ++i, slot += kBatchSize) {
    entry.batches[i] = {model::Sequence(load_le<int32_t>(slot)),
                        model::Sequence(load_le<int32_t>(slot + 4)),
                        model::Offset(load_le<int64_t>(slot + 8)),
                        model::Offset(load_le<int64_t>(slot + 16)), load_le<int64_t>(slot + 24)};
  }
  if (version1 && entry.batch_count > 0) entry.last_timestamp = entry.last().timestamp;
  if (entry.batch_count > 0) {
    entry.last_data_offset = entry.last().last_offset;
  } else if (!version1) {
    entry.last_data_offset = model::Offset(load_le<int64_t>(at + kEntryHeader + 16) - 1);
    if (entry.last_data_offset < model::kNoOffset) return false;
  }
  return true;
}

}  // namespace

std::vector<std::byte> encode_snapshot(const SnapshotContent& content) {
  constexpr size_t kEntrySize = kEntryHeader + kBatchesSize;
  std::vector<std::byte> bytes(kHeaderSize + content.producers.size() * kEntrySize +
                               content.epochs.size() * kEpochSize +
                               content.aborted.size() * kAbortedSize);
  std::byte* const to = bytes.data();
  store_le<uint64_t>(to, kMagic);
  store_le<uint32_t>(to + 12, static_cast<uint32_t>(content.producers.size()));
  store_le<int64_t>(to + 16, content.next_offset.value());
  store_le<uint32_t>(to + 24, static_cast<uint32_t>(content.epochs.size()));
  store_le<uint32_t>(to + 28, static_cast<uint32_t>(content.aborted.size()));
  std::byte* at = to + kHeaderSize;
  for (const ProducerEntry* entry : content.producers) {
    encode_entry(*entry, at);
    at += kEntrySize;
  }
  for (const log::EpochStart& start : content.epochs) {
    store_le<int32_t>(at, start.epoch);
    store_le<int64_t>(at + 8, start.start_offset.value());
    at += kEpochSize;
  }
  for (const auto& aborted : content.aborted) {
    store_le<int64_t>(at, aborted.producer_id.value());
    store_le<int64_t>(at + 8, aborted.first_offset.value());
    store_le<int64_t>(at + 16, aborted.last_offset.value());
    store_le<int64_t>(at + 24, aborted.stable_offset.value());
    at += kAbortedSize;
  }
  store_le<uint32_t>(to + 8, checksum(bytes, true));
  return bytes;
}

bool decode_snapshot(std::span<const std::byte> bytes, DecodedSnapshot& out) {
  if (bytes.size() < kHeaderSize) return false;
  const auto magic = load_le<uint64_t>(bytes.data());
  const bool version1 = magic == kMagicVersion1;
  if (!version1 && magic != kMagicVersion2 && magic != kMagic) return false;
  const size_t entry_size = (version1 ? kEntryHeaderVersion1 : kEntryHeader) + kBatchesSize;
  const size_t count = load_le<uint32_t>(bytes.data() + 12);
  const size_t epoch_count = load_le<uint32_t>(bytes.data() + 24);
  const size_t aborted_count = version1 ? 0 : load_le<uint32_t>(bytes.data() + 28);
  if (count > bytes.size() / entry_size || epoch_count > bytes.size() / kEpochSize ||
      aborted_count > bytes.size() / kAbortedSize) {
    return false;
  }
  const size_t size = kHeaderSize + count * entry_size + epoch_count * kEpochSize +
                      aborted_count * kAbortedSize;
  if (bytes.size() < size) return false;
  bytes = bytes.first(size);
  if (load_le<uint32_t>(bytes.data() + 8) != checksum(bytes, magic == kMagic)) return false;
  out.next_offset = model::Offset(load_le<int64_t>(bytes.data() + 16));
  const std::byte* at = bytes.data() + kHeaderSize;
  for (size_t n = 0; n < count; ++n, at += entry_size) {
    if (!decode_entry(at, version1, out.producers.emplace_back())) return false;
  }
  for (size_t n = 0; n < epoch_count; ++n, at += kEpochSize) {
    out.epochs.push_back({load_le<int32_t>(at), model::Offset(load_le<int64_t>(at + 8))});
  }
  for (size_t n = 0; n < aborted_count; ++n, at += kAbortedSize) {
    out.aborted.push_back({model::ProducerId(load_le<int64_t>(at)),
                           model::Offset(load_le<int64_t>(at + 8)),
                           model::Offset(load_le<int64_t>(at + 16)),
                           model::Offset(load_le<int64_t>(at + 24))});
  }
  return true;
}

}  // namespace weir::partition
