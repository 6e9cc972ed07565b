#pragma once
// Ledger: what a segment holds, one entry per write group. It is offset index, time index and rot
// detector in one (DESIGN 4.4). A group is a run of whole batches of one leader epoch, at least
// kGroupSize bytes unless it is the last one.
//
// File (all integers little-endian):
//   header, 64 bytes   magic u64 · version u32 · zero u32 · segment base offset i64 · zero
//   entries, 64 bytes  base offset i64 · next offset i64 · position u64 · size u32 · data checksum
//                      u32 · max timestamp i64 · leader epoch i32 · flags u32 · zero u64 · entry
//                      checksum u32 · data batches u32
// Entries follow one another without a gap in position or offset; the first that does not check out
// ends the ledger, and what lies behind is found again by walking over the segment. The data
// checksum is CRC-32C over the whole group, including the bytes that Kafka's own leaves out.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/log/record_batch.h"
#include "engine/model/ids.h"

namespace weir::log {

inline constexpr size_t kLedgerEntrySize = 64;
inline constexpr uint64_t kLedgerMagic = 0x31524447524C4557ull;
inline constexpr uint32_t kLedgerVersion = 1;
inline constexpr uint32_t kGroupSize = 64 * 1024;

struct Group {
  static constexpr uint32_t kTransactional = 1;
  static constexpr uint32_t kControl = 2;
  static constexpr uint32_t kProducers = 4;     // some batch has a producer id
  static constexpr uint32_t kQuarantined = 8;   // acknowledged bytes that are damaged; never served

  model::Offset base_offset;
  model::Offset next_offset;
  uint64_t position = 0;
  uint32_t size = 0;
  uint32_t checksum = 0;
  int64_t max_timestamp = -1;
  int32_t leader_epoch = 0;
  uint32_t flags = 0;
  uint32_t batch_count = 0;

  uint64_t end() const { return position + size; }
  bool operator==(const Group&) const = default;
};

class Ledger {
 public:
  explicit Ledger(model::Offset segment_base_offset) : segment_base_offset_(segment_base_offset) {}

  // The next batch, right behind the last one; `checksum` over all its bytes.
  void append(const BatchView& batch, uint32_t checksum);
  // The next batch starts a group of its own.
  void close_group() { group_open_ = false; }
  // A range whose bytes are damaged: offsets [next_offset(), next_offset), bytes [end(), end() +
  // size).
  void append_quarantined(model::Offset next_offset, uint64_t size, int32_t leader_epoch);
  // A group as it stood in a ledger file; false when it does not continue what is here.
  bool restore(const Group& group);

  model::Offset segment_base_offset() const { return segment_base_offset_; }
  model::Offset next_offset() const;
  uint64_t end() const { return groups_.empty() ? 0 : groups_.back().end(); }
  int64_t max_timestamp() const { return max_timestamp_; }
  const std::vector<Group>& groups() const { return groups_; }

  // Index of the group that contains `offset`, or of the first behind it; groups().size() when past
  // all.
  size_t find(model::Offset offset) const;
  // Index of the first group from `from` on that may hold a record with timestamp >= `timestamp`.
  size_t find_timestamp(int64_t timestamp, size_t from = 0) const;
  // Start of the last group that ends at or below `position` plus one: where memory may be cut.
  uint64_t boundary_at_or_before(uint64_t position) const;

  // Groups that lie below `durable_end` and are not yet in the ledger file, as bytes for its end
  // (with the file header when nothing was written yet). The open last group only when `all`; it is
  // then closed. mark_written() once they are there.
  std::vector<std::byte> encode_unwritten(bool all, uint64_t durable_end, size_t& group_count);
  void mark_written(size_t group_count) { written_ += group_count; }
  size_t written() const { return written_; }
  uint64_t file_end() const;  // where the next unwritten entry goes

  static void encode_header(model::Offset segment_base_offset, std::span<std::byte> to);
  static bool header_sound(std::span<const std::byte> header, model::Offset segment_base_offset);
  static void encode_entry(const Group& group, std::span<std::byte> to);
  static std::optional<Group> decode_entry(std::span<const std::byte> from);

 private:
  model::Offset segment_base_offset_;
  std::vector<Group> groups_;
  size_t written_ = 0;      // groups in the file
  bool group_open_ = false;  // the last group may take another batch
  int64_t max_timestamp_ = -1;
};

}  // namespace weir::log
