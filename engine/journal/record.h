#pragma once
// The journal record to the byte; docs/DISK_FORMAT.md draws it. All integers little-endian.
//
// A record is one contiguous write that starts on a block boundary:
//   header (128 bytes) · entry table (entry_count x 80 bytes) · echo (echo_count x 80 bytes) ·
//   payloads · zeros to the block boundary
// The header's checksum covers header, entry table and echo; the table holds a checksum of every
// payload, so that one damaged block costs the entries whose payload lies in it and not the record
// (L1, P7). The echo is the entry table of the record before: when that one's first block rots,
// recovery still knows whose bytes it held, and reads those that are whole.
//
// An entry says what one partition got in this commit: bytes [begin, end) of one segment.
//   inline   the payload is [inline_begin, end), inline_begin == begin: small appends
//   extent   bytes below inline_begin (a block boundary) went to the segment in the same commit;
//            the payload is the rest, less than a block
//   carry    nothing new: the last partial block copied forward, [inline_begin, end), so that older
//            records are not needed any more
// base_offset .. next_offset are the offsets of the new batches (equal in a carry).

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "engine/model/ids.h"

namespace weir::journal {

inline constexpr uint64_t kRecordMagic = 0x314E524A52494557ull;  // "WEIRJRN1"
inline constexpr uint16_t kRecordVersion = 1;
inline constexpr size_t kHeaderSize = 128;
inline constexpr size_t kEntrySize = 80;
inline constexpr uint32_t kEntriesMax = 4096;
// The superblock's copies come first; records start behind them.
inline constexpr size_t kSuperblockCopies = 4;
inline constexpr uint64_t kRecordsBegin = kSuperblockCopies * 4096;

// 128 random bits, never shown to clients: a payload built to look like a record cannot know it.
struct LogId {
  std::array<uint8_t, 16> bytes{};
  bool operator==(const LogId&) const = default;
};

struct RecordHeader {
  LogId log_id;
  uint64_t generation = 0;         // which life of the journal file
  uint64_t sequence = 0;           // 1, 2, 3 ...; never reused in a generation
  uint64_t position = 0;           // where this record stands in the file: finds misdirected writes
  uint32_t size = 0;               // whole record, a multiple of the block size
  uint32_t entry_count = 0;
  // Record sequence - 1; all 0 for the first record.
  uint32_t previous_checksum = 0;
  uint32_t previous_size = 0;
  uint64_t previous_position = 0;
  uint32_t echo_count = 0;         // its entries
  // this one and all before were acknowledged when this was submitted (L3)
  uint64_t durable_sequence = 0;
  uint64_t tail_sequence = 0;      // no record before this one is needed
  uint32_t checksum = 0;           // filled by encode and decode
};

enum class EntryKind : uint8_t { inline_data = 1, extent = 2, carry = 3 };

struct Entry {
  model::PartitionKey key;
  EntryKind kind = EntryKind::inline_data;
  model::LeaderEpoch leader_epoch;
  model::Offset segment_base_offset;
  model::Offset base_offset;
  model::Offset next_offset;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t inline_begin = 0;
  uint32_t payload_position = 0;  // in the record
  uint32_t payload_size = 0;      // end - inline_begin
  uint32_t payload_checksum = 0;
  uint32_t data_checksum = 0;     // over [begin, end); extents are verified by it
};

enum class RecordFault : uint8_t {
  none,
  blank,           // all zeros where a header should be
  not_a_record,    // no magic
  version,
  foreign,         // another log id or generation
  misplaced,       // written for another position
  size,
  checksum,
  entry,           // header sound, an entry contradicts itself
};
const char* name(RecordFault fault);

// Writes header, entry table and echo to the front of `record` (header.size bytes, payloads in
// place, the rest zero) and fills the header's counts and checksum.
void encode_record(RecordHeader& header, std::span<const Entry> entries,
                   std::span<const Entry> echo, std::span<std::byte> record);

// Reads a header from one block; `position` is where the block was read. Checks everything that one
// block can tell; the tables and the checksum are checked by decode_record.
RecordFault decode_header(std::span<const std::byte> block, const LogId& log_id,
                          uint64_t generation, uint64_t position, RecordHeader& header);
// `record` holds header.size bytes. Payload checksums are the caller's to check (payload_sound).
// An echo's payload places are within [0, header.previous_size), in the previous record.
RecordFault decode_record(std::span<const std::byte> record, const RecordHeader& header,
                          std::vector<Entry>& entries, std::vector<Entry>& echo);
bool payload_sound(std::span<const std::byte> record, const Entry& entry);

// The first blocks of a journal: whose it is. Four equal copies; a start needs two that agree (L7).
struct Superblock {
  LogId log_id;
  uint64_t generation = 0;
  uint32_t core = 0;
  uint32_t core_count = 0;
};
void encode_superblock(const Superblock& superblock, uint32_t copy, std::span<std::byte> block);
bool decode_superblock(std::span<const std::byte> block, uint32_t copy, Superblock& superblock);
// The version of a superblock whose checksum is right; 0 where it is not.
uint32_t superblock_version(std::span<const std::byte> block);

}  // namespace weir::journal
