#include "engine/journal/record.h"

#include <algorithm>
#include <cstring>

#include "io/base/assert.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"
#include "io/disk.h"

namespace weir::journal {
namespace {

using base::load_le;
using base::store_le;

// Places of the header's fields.
constexpr size_t kMagicAt = 0;
constexpr size_t kChecksumAt = 8;
constexpr size_t kVersionAt = 12;
constexpr size_t kLogIdAt = 16;
constexpr size_t kGenerationAt = 32;
constexpr size_t kSequenceAt = 40;
constexpr size_t kPositionAt = 48;
constexpr size_t kSizeAt = 56;
constexpr size_t kEntryCountAt = 60;
constexpr size_t kPreviousAt = 64;
constexpr size_t kDurableAt = 72;
constexpr size_t kTailAt = 80;
constexpr size_t kPreviousPositionAt = 88;
constexpr size_t kPreviousSizeAt = 96;
constexpr size_t kEchoCountAt = 100;
constexpr size_t kChecksummedFrom = kVersionAt;

constexpr uint64_t kSuperblockMagic = 0x31504E524A524557ull;

size_t table_end(const RecordHeader& header) {
  return kHeaderSize + (size_t{header.entry_count} + header.echo_count) * kEntrySize;
}

void encode_entry(const Entry& entry, std::byte* to) {
  store_le<uint32_t>(to, entry.key.topic.value());
  store_le<int32_t>(to + 4, entry.key.index.value());
  store_le<uint8_t>(to + 8, static_cast<uint8_t>(entry.kind));
  store_le<int32_t>(to + 12, entry.leader_epoch.value());
  store_le<int64_t>(to + 16, entry.segment_base_offset.value());
  store_le<int64_t>(to + 24, entry.base_offset.value());
  store_le<int64_t>(to + 32, entry.next_offset.value());
  store_le<uint64_t>(to + 40, entry.begin);
  store_le<uint64_t>(to + 48, entry.end);
  store_le<uint64_t>(to + 56, entry.inline_begin);
  store_le<uint32_t>(to + 64, entry.payload_position);
  store_le<uint32_t>(to + 68, entry.payload_size);
  store_le<uint32_t>(to + 72, entry.payload_checksum);
  store_le<uint32_t>(to + 76, entry.data_checksum);
}

Entry load_entry(const std::byte* from) {
  Entry entry;
  entry.key.topic = model::TopicSerial(load_le<uint32_t>(from));
  entry.key.index = model::PartitionIndex(load_le<int32_t>(from + 4));
  entry.kind = static_cast<EntryKind>(load_le<uint8_t>(from + 8));
  entry.leader_epoch = model::LeaderEpoch(load_le<int32_t>(from + 12));
  entry.segment_base_offset = model::Offset(load_le<int64_t>(from + 16));
  entry.base_offset = model::Offset(load_le<int64_t>(from + 24));
  entry.next_offset = model::Offset(load_le<int64_t>(from + 32));
  entry.begin = load_le<uint64_t>(from + 40);
  entry.end = load_le<uint64_t>(from + 48);
  entry.inline_begin = load_le<uint64_t>(from + 56);
  entry.payload_position = load_le<uint32_t>(from + 64);
  entry.payload_size = load_le<uint32_t>(from + 68);
  entry.payload_checksum = load_le<uint32_t>(from + 72);
  entry.data_checksum = load_le<uint32_t>(from + 76);
  return entry;
}

// Where the payload of an entry of this kind may begin.
bool places_fit(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::inline_data: return entry.inline_begin == entry.begin;
    case EntryKind::extent:
      return entry.inline_begin >= entry.begin && entry.inline_begin % io::kBlockSize == 0;
    case EntryKind::carry:
      return entry.begin == entry.end && entry.inline_begin % io::kBlockSize == 0;
  }
  return false;
}

// The payload lies within [begin, end) of its record.
bool plausible(const Entry& entry, size_t begin, size_t end) {
  const uint64_t payload_end = uint64_t{entry.payload_position} + entry.payload_size;
  return places_fit(entry) && entry.key.index.value() >= 0 &&
         entry.segment_base_offset.value() >= 0 && entry.base_offset >= entry.segment_base_offset &&
         entry.next_offset >= entry.base_offset && entry.begin <= entry.end &&
         entry.inline_begin <= entry.end && entry.end - entry.inline_begin == entry.payload_size &&
         entry.payload_position >= begin && payload_end <= end;
}

bool plausible(const Entry& entry, const RecordHeader& header) {
  return plausible(entry, table_end(header), header.size);
}

bool plausible_echo(const Entry& entry, const RecordHeader& header) {
  return plausible(entry, kHeaderSize, header.previous_size);
}

}  // namespace

const char* name(RecordFault fault) {
  switch (fault) {
    case RecordFault::none: return "none";
    case RecordFault::blank: return "blank";
    case RecordFault::not_a_record: return "not_a_record";
    case RecordFault::version: return "version";
    case RecordFault::foreign: return "foreign";
    case RecordFault::misplaced: return "misplaced";
    case RecordFault::size: return "size";
    case RecordFault::checksum: return "checksum";
    case RecordFault::entry: return "entry";
  }
  UNREACHABLE("record fault {}", static_cast<int>(fault));
}

void encode_record(RecordHeader& header, std::span<const Entry> entries,
                   std::span<const Entry> echo, std::span<std::byte> record) {
  header.entry_count = static_cast<uint32_t>(entries.size());
  header.echo_count = static_cast<uint32_t>(echo.size());
  ASSERT(header.size == record.size() && header.size % io::kBlockSize == 0);
  ASSERT(entries.size() <= kEntriesMax && echo.size() <= kEntriesMax);
  ASSERT(table_end(header) <= header.size);
  std::byte* const to = record.data();
  std::memset(to, 0, table_end(header));
  store_le<uint64_t>(to + kMagicAt, kRecordMagic);
  store_le<uint16_t>(to + kVersionAt, kRecordVersion);
  std::memcpy(to + kLogIdAt, header.log_id.bytes.data(), header.log_id.bytes.size());
  store_le<uint64_t>(to + kGenerationAt, header.generation);
  store_le<uint64_t>(to + kSequenceAt, header.sequence);
  store_le<uint64_t>(to + kPositionAt, header.position);
  store_le<uint32_t>(to + kSizeAt, header.size);
  store_le<uint32_t>(to + kEntryCountAt, header.entry_count);
  store_le<uint32_t>(to + kPreviousAt, header.previous_checksum);
  store_le<uint64_t>(to + kDurableAt, header.durable_sequence);
  store_le<uint64_t>(to + kTailAt, header.tail_sequence);
  store_le<uint64_t>(to + kPreviousPositionAt, header.previous_position);
  store_le<uint32_t>(to + kPreviousSizeAt, header.previous_size);
  store_le<uint32_t>(to + kEchoCountAt, header.echo_count);
  std::byte* slot = to + kHeaderSize;
  for (const Entry& entry : entries) {
    ASSERT(plausible(entry, header));
    encode_entry(entry, slot);
    slot += kEntrySize;
  }
  for (const Entry& entry : echo) {
    ASSERT(plausible_echo(entry, header));
    encode_entry(entry, slot);
    slot += kEntrySize;
  }
  header.checksum =
      base::crc32c(record.subspan(kChecksummedFrom, table_end(header) - kChecksummedFrom));
  store_le<uint32_t>(to + kChecksumAt, header.checksum);
}

RecordFault decode_header(std::span<const std::byte> block, const LogId& log_id,
                          uint64_t generation, uint64_t position, RecordHeader& header) {
  ASSERT(block.size() >= kHeaderSize);
  const std::byte* const from = block.data();
  if (load_le<uint64_t>(from + kMagicAt) != kRecordMagic) {
    const auto first = block.first(kHeaderSize);
    const bool blank = std::ranges::all_of(first, [](std::byte b) { return b == std::byte{0}; });
    return blank ? RecordFault::blank : RecordFault::not_a_record;
  }
  if (load_le<uint16_t>(from + kVersionAt) != kRecordVersion) return RecordFault::version;
  std::memcpy(header.log_id.bytes.data(), from + kLogIdAt, header.log_id.bytes.size());
  header.generation = load_le<uint64_t>(from + kGenerationAt);
  if (header.log_id != log_id || header.generation != generation) return RecordFault::foreign;
  header.sequence = load_le<uint64_t>(from + kSequenceAt);
  header.position = load_le<uint64_t>(from + kPositionAt);
  if (header.position != position) return RecordFault::misplaced;
  header.size = load_le<uint32_t>(from + kSizeAt);
  header.entry_count = load_le<uint32_t>(from + kEntryCountAt);
  header.previous_checksum = load_le<uint32_t>(from + kPreviousAt);
  header.durable_sequence = load_le<uint64_t>(from + kDurableAt);
  header.tail_sequence = load_le<uint64_t>(from + kTailAt);
  header.previous_position = load_le<uint64_t>(from + kPreviousPositionAt);
  header.previous_size = load_le<uint32_t>(from + kPreviousSizeAt);
  header.echo_count = load_le<uint32_t>(from + kEchoCountAt);
  header.checksum = load_le<uint32_t>(from + kChecksumAt);
  if (header.size == 0 || header.size % io::kBlockSize != 0 || header.entry_count > kEntriesMax ||
      header.echo_count > kEntriesMax || table_end(header) > header.size || header.sequence == 0 ||
      header.durable_sequence >= header.sequence || header.tail_sequence > header.sequence) {
    return RecordFault::size;
  }
  return RecordFault::none;
}

RecordFault decode_record(std::span<const std::byte> record, const RecordHeader& header,
                          std::vector<Entry>& entries, std::vector<Entry>& echo) {
  ASSERT(record.size() == header.size);
  const auto covered = record.subspan(kChecksummedFrom, table_end(header) - kChecksummedFrom);
  if (base::crc32c(covered) != header.checksum) return RecordFault::checksum;
  entries.clear();
  echo.clear();
  const std::byte* slot = record.data() + kHeaderSize;
  for (uint32_t i = 0; i < header.entry_count; ++i, slot += kEntrySize) {
    entries.push_back(load_entry(slot));
    if (!plausible(entries.back(), header)) return RecordFault::entry;
  }
  for (uint32_t i = 0; i < header.echo_count; ++i, slot += kEntrySize) {
    echo.push_back(load_entry(slot));
    if (!plausible_echo(echo.back(), header)) return RecordFault::entry;
  }
  return RecordFault::none;
}

bool payload_sound(std::span<const std::byte> record, const Entry& entry) {
  return base::crc32c(record.subspan(entry.payload_position, entry.payload_size)) ==
         entry.payload_checksum;
}

void encode_superblock(const Superblock& superblock, uint32_t copy, std::span<std::byte> block) {
  ASSERT(block.size() == io::kBlockSize && copy < kSuperblockCopies);
  std::byte* const to = block.data();
  std::memset(to, 0, block.size());
  store_le<uint64_t>(to, kSuperblockMagic);
  store_le<uint32_t>(to + 12, kRecordVersion);
  store_le<uint32_t>(to + 16, copy);
  store_le<uint32_t>(to + 20, superblock.core);
  store_le<uint32_t>(to + 24, superblock.core_count);
  store_le<uint64_t>(to + 32, superblock.generation);
  std::memcpy(to + 40, superblock.log_id.bytes.data(), superblock.log_id.bytes.size());
  store_le<uint32_t>(to + 8, base::crc32c(block.subspan(12)));
}

uint32_t superblock_version(std::span<const std::byte> block) {
  const std::byte* const from = block.data();
  const bool sound = load_le<uint64_t>(from) == kSuperblockMagic &&
                     load_le<uint32_t>(from + 8) == base::crc32c(block.subspan(12));
  return sound ? load_le<uint32_t>(from + 12) : 0;
}

bool decode_superblock(std::span<const std::byte> block, uint32_t copy, Superblock& superblock) {
  const std::byte* const from = block.data();
  if (superblock_version(block) != kRecordVersion || load_le<uint32_t>(from + 16) != copy) {
    return false;
  }
  superblock.core = load_le<uint32_t>(from + 20);
  superblock.core_count = load_le<uint32_t>(from + 24);
  superblock.generation = load_le<uint64_t>(from + 32);
  std::memcpy(superblock.log_id.bytes.data(), from + 40, superblock.log_id.bytes.size());
  return true;
}

}  // namespace weir::journal
