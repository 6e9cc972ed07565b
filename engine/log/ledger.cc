#include "engine/log/ledger.h"

#include <algorithm>
#include <cstring>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace weir::log {
namespace {

using base::load_le;
using base::store_le;

constexpr size_t kEntryChecksumAt = 56;

uint32_t entry_checksum(const std::byte* entry) {
  const uint32_t front = base::crc32c({entry, kEntryChecksumAt});
  return base::crc32c({entry + kEntryChecksumAt + 4, kLedgerEntrySize - kEntryChecksumAt - 4},
                      front);
}

}  // namespace

model::Offset Ledger::next_offset() const {
  return groups_.empty() ? segment_base_offset_ : groups_.back().next_offset;
}

void Ledger::append(const BatchView& batch, uint32_t checksum) {
  const auto size = static_cast<uint32_t>(batch.size());
  const bool open = group_open_ && groups_.back().size < kGroupSize &&
                    groups_.back().leader_epoch == batch.leader_epoch();
  if (!open) {
    Group group;
    group.base_offset = next_offset();
    group.position = end();
    group.leader_epoch = batch.leader_epoch();
    groups_.push_back(group);
    group_open_ = true;
  }
  Group& group = groups_.back();
  group.checksum = group.size == 0 ? checksum
                                   : base::crc32c_combine(group.checksum, checksum, size);
  group.size += size;
  group.next_offset = batch.next_offset();
  // That of a batch without records belongs to none.
  if (batch.record_count() > 0) {
    group.max_timestamp = std::max(group.max_timestamp, batch.max_timestamp());
  }
  if (batch.is_transactional()) group.flags |= Group::kTransactional;
  if (batch.is_control()) group.flags |= Group::kControl;
  if (batch.has_producer_id()) group.flags |= Group::kProducers;
  ++group.batch_count;
  max_timestamp_ = std::max(max_timestamp_, group.max_timestamp);
}

void Ledger::append_quarantined(model::Offset next, uint64_t size, int32_t leader_epoch) {
  Group group;
  group.base_offset = next_offset();
  group.next_offset = next;
  group.position = end();
  group.size = static_cast<uint32_t>(size);
  group.leader_epoch = leader_epoch;
  group.flags = Group::kQuarantined;
  groups_.push_back(group);
  group_open_ = false;
}

bool Ledger::restore(const Group& group) {
  if (group.base_offset != next_offset() || group.position != end() ||
      group.next_offset <= group.base_offset) {
    return false;
  }
  groups_.push_back(group);
  written_ = groups_.size();
  group_open_ = false;
  max_timestamp_ = std::max(max_timestamp_, group.max_timestamp);
  return true;
}

size_t Ledger::find(model::Offset offset) const {
  const auto it = std::ranges::upper_bound(groups_, offset, {}, &Group::next_offset);
  return static_cast<size_t>(it - groups_.begin());
}

size_t Ledger::find_timestamp(int64_t timestamp, size_t from) const {
  if (model::planted(model::Bug::time_index_assumes_rising_times)) {
    const auto groups = std::span(groups_).subspan(from);
    const auto found = std::ranges::lower_bound(groups, timestamp, {}, &Group::max_timestamp);
    return from + static_cast<size_t>(found - groups.begin());
  }
  // Timestamps need not rise from group to group, so this is a scan of the summaries.
  size_t index = from;
  while (index < groups_.size() && groups_[index].max_timestamp < timestamp) ++index;
  return index;
}

uint64_t Ledger::boundary_at_or_before(uint64_t position) const {
  const auto it = std::ranges::upper_bound(groups_, position, {}, &Group::position);
  return it == groups_.begin() ? 0 : std::prev(it)->position;
}

uint64_t Ledger::file_end() const { return (written_ + 1) * kLedgerEntrySize; }

std::vector<std::byte> Ledger::encode_unwritten(bool all, uint64_t durable_end,
                                                size_t& group_count) {
  size_t last = groups_.size();
  const bool open_kept = group_open_ && !all && groups_.back().size < kGroupSize;
  if (open_kept) --last;
  while (last > written_ && groups_[last - 1].end() > durable_end) --last;
  if (last == groups_.size()) group_open_ = false;
  group_count = last > written_ ? last - written_ : 0;
  std::vector<std::byte> bytes;
  if (group_count == 0) return bytes;
  const size_t header = written_ == 0 ? kLedgerEntrySize : 0;
  bytes.resize(header + group_count * kLedgerEntrySize);
  if (header) encode_header(segment_base_offset_, std::span(bytes).first(kLedgerEntrySize));
  for (size_t i = 0; i < group_count; ++i) {
    encode_entry(groups_[written_ + i],
                 std::span(bytes).subspan(header + i * kLedgerEntrySize, kLedgerEntrySize));
  }
  return bytes;
}

void Ledger::encode_header(model::Offset segment_base_offset, std::span<std::byte> to) {
  std::memset(to.data(), 0, kLedgerEntrySize);
  store_le<uint64_t>(to.data(), kLedgerMagic);
  store_le<uint32_t>(to.data() + 8, kLedgerVersion);
  store_le<int64_t>(to.data() + 16, segment_base_offset.value());
}

bool Ledger::header_sound(std::span<const std::byte> header, model::Offset segment_base_offset) {
  return header.size() >= kLedgerEntrySize && load_le<uint64_t>(header.data()) == kLedgerMagic &&
         load_le<uint32_t>(header.data() + 8) == kLedgerVersion &&
         load_le<int64_t>(header.data() + 16) == segment_base_offset.value();
}

void Ledger::encode_entry(const Group& group, std::span<std::byte> to) {
  std::byte* const at = to.data();
  std::memset(at, 0, kLedgerEntrySize);
  store_le<int64_t>(at, group.base_offset.value());
  store_le<int64_t>(at + 8, group.next_offset.value());
  store_le<uint64_t>(at + 16, group.position);
  store_le<uint32_t>(at + 24, group.size);
  store_le<uint32_t>(at + 28, group.checksum);
  store_le<int64_t>(at + 32, group.max_timestamp);
  store_le<int32_t>(at + 40, group.leader_epoch);
  store_le<uint32_t>(at + 44, group.flags);
  store_le<uint32_t>(at + 60, group.batch_count);
  store_le<uint32_t>(at + kEntryChecksumAt, entry_checksum(at));
}

std::optional<Group> Ledger::decode_entry(std::span<const std::byte> from) {
  const std::byte* const at = from.data();
  if (from.size() < kLedgerEntrySize ||
      load_le<uint32_t>(at + kEntryChecksumAt) != entry_checksum(at)) {
    return std::nullopt;
  }
  Group group;
  group.base_offset = model::Offset(load_le<int64_t>(at));
  group.next_offset = model::Offset(load_le<int64_t>(at + 8));
  group.position = load_le<uint64_t>(at + 16);
  group.size = load_le<uint32_t>(at + 24);
  group.checksum = load_le<uint32_t>(at + 28);
  group.max_timestamp = load_le<int64_t>(at + 32);
  group.leader_epoch = load_le<int32_t>(at + 40);
  group.flags = load_le<uint32_t>(at + 44);
  group.batch_count = load_le<uint32_t>(at + 60);
  return group;
}

}  // namespace weir::log
