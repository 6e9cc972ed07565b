#include "engine/journal/commit.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/journal/journal.h"
#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/heap.h"
#include "io/base/units.h"

namespace weir::journal {
namespace {

using base::operator""_KiB;
using base::operator""_MiB;

// The entry table and the echo stand before the payloads, so their room is set aside first. A
// record that brings nothing but an echo takes two blocks at most (Journal's kSpaceForTail).
constexpr size_t kPayloadBegin = 16_KiB;
static_assert(kHeaderSize + 2 * kCommitEntriesMax * kEntrySize <= kPayloadBegin);
static_assert(kHeaderSize + kCommitEntriesMax * kEntrySize <= 2 * io::kBlockSize);
constexpr size_t kPackedPayloadMax = 16_KiB;
constexpr uint64_t kExtentBytesMax = 1_MiB;
constexpr size_t kExtentsMax = 64;

// What pack() makes of so many entries, the echo's among them, with so much payload.
uint64_t packed_size(size_t entry_count, uint64_t payload_size) {
  const size_t table_end = kHeaderSize + entry_count * kEntrySize;
  const uint64_t table_size = payload_size <= kPackedPayloadMax
                                  ? table_end
                                  : base::round_up(table_end, io::kBlockSize);
  return base::round_up(table_size + payload_size, io::kBlockSize);
}

}  // namespace

Commit::Commit(Journal& journal, size_t record_size_max)
    : journal_(journal),
      record_size_max_(record_size_max),
      staging_(base::allocate_aligned(io::kBlockSize, record_size_max)) {
  ASSERT(record_size_max_ >= 2 * kPayloadBegin + kPackedPayloadMax);
  record_write_.bind<&Commit::on_write>(*this);
  reset();
}

Commit::~Commit() { std::free(staging_); }

void Commit::reset() {
  payload_end_ = kPayloadBegin;
  extent_bytes_ = 0;
  entries_.clear();
  echo_ = {};
  parts_.clear();
  targets_.clear();
  for (auto& extent : extents_) extent->pieces().clear();
  error_ = 0;
  size_limit_ = record_size_max_;
  carry_only_ = false;
  finished_ = false;
}

bool Commit::room_inline(size_t payload_size) const {
  const uint64_t payloads = payload_end_ - kPayloadBegin + payload_size;
  return entries_.size() < kCommitEntriesMax && payload_end_ + payload_size <= record_size_max_ &&
         packed_size(entries_.size() + echo_.size() + 1, payloads) <= size_limit_;
}

size_t Commit::inline_capacity() const {
  const size_t table_end = kHeaderSize + (echo_.size() + 1) * kEntrySize;
  const size_t apart = base::round_up(table_end, io::kBlockSize);
  if (size_limit_ <= apart) return 0;
  const size_t packed = std::min(kPackedPayloadMax, size_limit_ - table_end);
  return std::min(std::max(packed, size_limit_ - apart), record_size_max_ - kPayloadBegin);
}

bool Commit::room_extent(uint64_t size) const {
  // One extent always fits, however large a batch is.
  return targets_.empty() ||
         (targets_.size() < kExtentsMax && extent_bytes_ + size <= kExtentBytesMax);
}

void Commit::add(Source& source, Entry entry, std::span<const io::Slice> payload) {
  entry.payload_position = static_cast<uint32_t>(payload_end_);
  entry.payload_size = static_cast<uint32_t>(entry.end - entry.inline_begin);
  ASSERT(room_inline(entry.payload_size));
  for (const io::Slice& piece : payload) {
    if (piece.size == 0) continue;
    std::memcpy(staging_ + payload_end_, piece.data, piece.size);
    payload_end_ += piece.size;
  }
  ASSERT(payload_end_ == entry.payload_position + size_t{entry.payload_size});
  entry.payload_checksum =
      base::crc32c({staging_ + entry.payload_position, entry.payload_size});
  entries_.push_back(entry);
  parts_.push_back({&source, 0, entry.kind, entry.segment_base_offset, entry.next_offset, entry.end,
                    entry.inline_begin});
}

void Commit::add_extent(io::FileId file, uint64_t position, std::span<const io::Slice> pieces) {
  const size_t index = targets_.size();
  if (index == extents_.size()) {
    extents_.push_back(std::make_unique<io::WholeWrite>());
    extents_.back()->bind<&Commit::on_write>(*this);
  }
  extents_[index]->pieces().assign(pieces.begin(), pieces.end());
  targets_.push_back({file, position});
  for (const io::Slice& piece : pieces) extent_bytes_ += piece.size;
}

// Where the record will start in the staging memory. Payloads were gathered behind room for the
// longest table; a small record is packed into as few blocks as it needs, a large one starts at the
// block boundary in front of its table, so that payloads need not move.
size_t Commit::pack() {
  const size_t table_size = entries_.size() + echo_.size();
  const size_t table_end = kHeaderSize + table_size * kEntrySize;
  const size_t payload_size = payload_end_ - kPayloadBegin;
  size_t start = kPayloadBegin - base::round_up(table_end, io::kBlockSize);
  size_t payload_begin = kPayloadBegin;
  if (payload_size <= kPackedPayloadMax) {
    start = 0;
    payload_begin = table_end;
    std::memmove(staging_ + payload_begin, staging_ + kPayloadBegin, payload_size);
  }
  for (Entry& entry : entries_) {
    const size_t place = entry.payload_position - kPayloadBegin + payload_begin - start;
    entry.payload_position = static_cast<uint32_t>(place);
  }
  const size_t end = payload_begin + payload_size;
  const size_t padded = base::round_up(end - start, io::kBlockSize);
  ASSERT(padded == packed_size(table_size, payload_size));
  std::memset(staging_ + end, 0, start + padded - end);
  // The gap between table and payloads lies inside the record too.
  std::memset(staging_ + start + table_end, 0, payload_begin - start - table_end);
  record_ = {staging_ + start, padded};
  return padded;
}

void Commit::seal(const RecordHeader& header) {
  header_ = header;
  ASSERT(header_.size == record_.size());
  encode_record(header_, entries_, echo_, record_);
  echo_ = {};
  for (Part& part : parts_) part.sequence = header_.sequence;
}

void Commit::submit(io::Disk& disk, io::FileId journal_file) {
  writes_in_flight_ = static_cast<uint32_t>(targets_.size()) + 1;
  record_write_.pieces().assign(1, {record_.data(), record_.size()});
  record_write_.start(disk, journal_file, header_.position, io::Durability::awaited);
  if (model::planted(model::Bug::buffer_reused_in_flight)) {
    std::memset(record_.data(), 0, io::kBlockSize);
  }
  for (size_t i = 0; i < targets_.size(); ++i) {
    extents_[i]->start(disk, targets_[i].file, targets_[i].position,
                       io::Durability::on_completion);
  }
}

void Commit::on_write(io::WholeWrite& write) {
  ASSERT(writes_in_flight_ > 0);
  --writes_in_flight_;
  if (write.error() != 0) error_ = write.error();
  if (writes_in_flight_ == 0) journal_.commit_finished(*this);
}

}  // namespace weir::journal
