// Proves: a record says after decoding what was encoded, its echo of the one before included; every
// damage of a header field is named for what it is; no flipped bit of a record passes; a superblock
// counts only where it was written.
//
// How: small records built by hand, damaged field by field and bit by bit; golden bytes in
// tests/golden/journal.
#include "engine/journal/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "io/base/bytes.h"
#include "io/base/crc32c.h"
#include "io/disk.h"

namespace weir::journal {
namespace {

constexpr uint32_t kBlock = io::kBlockSize;

LogId some_log_id() {
  LogId id;
  for (size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<uint8_t>(i + 1);
  return id;
}

std::vector<std::byte> payload_of(size_t size, uint8_t from) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(from + i);
  return bytes;
}

struct Record {
  RecordHeader header;
  std::vector<Entry> entries;
  std::vector<Entry> echo;
  std::vector<std::byte> bytes;
};

Entry make_entry(EntryKind kind, int32_t index, uint64_t begin, uint64_t end,
                 uint64_t inline_begin) {
  Entry entry;
  entry.key = {model::TopicSerial(9), model::PartitionIndex(index)};
  entry.kind = kind;
  entry.leader_epoch = model::LeaderEpoch(3);
  entry.segment_base_offset = model::Offset(100);
  entry.base_offset = model::Offset(150);
  entry.next_offset = model::Offset(kind == EntryKind::carry ? 150 : 160);
  entry.begin = begin;
  entry.end = end;
  entry.inline_begin = inline_begin;
  entry.payload_size = static_cast<uint32_t>(end - inline_begin);
  entry.data_checksum = 0xDA7A0000u + static_cast<uint32_t>(index);
  return entry;
}

size_t table_end(const Record& record) {
  return kHeaderSize + (record.entries.size() + record.echo.size()) * kEntrySize;
}

// One entry of each kind, in one block; the record before had two.
Record small_record() {
  Record record;
  record.entries = {make_entry(EntryKind::inline_data, 0, 5000, 5300, 5000),
                    make_entry(EntryKind::extent, 1, 100, 81980, 81920),
                    make_entry(EntryKind::carry, 2, 4196, 4196, 4096)};
  record.echo = {make_entry(EntryKind::inline_data, 7, 0, 200, 0),
                 make_entry(EntryKind::carry, 2, 4100, 4100, 4096)};
  record.echo[0].payload_position = 4096;
  record.echo[1].payload_position = 4296;
  record.bytes.resize(kBlock);
  size_t at = table_end(record);
  for (Entry& entry : record.entries) {
    const auto payload = payload_of(entry.payload_size, static_cast<uint8_t>(at));
    entry.payload_position = static_cast<uint32_t>(at);
    entry.payload_checksum = base::crc32c(payload);
    std::ranges::copy(payload, record.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += payload.size();
  }
  record.header = {.log_id = some_log_id(),
                   .generation = 4,
                   .sequence = 77,
                   .position = 3 * 4096,
                   .size = kBlock,
                   .previous_checksum = 0xABCD1234,
                   .previous_size = 2 * kBlock,
                   .previous_position = 9 * 4096,
                   .durable_sequence = 75,
                   .tail_sequence = 60};
  encode_record(record.header, record.entries, record.echo, record.bytes);
  return record;
}

RecordFault decode(std::span<const std::byte> bytes, uint64_t position = 3 * 4096,
                   const LogId& log_id = some_log_id(), uint64_t generation = 4) {
  RecordHeader header;
  const RecordFault fault = decode_header(bytes, log_id, generation, position, header);
  if (fault != RecordFault::none) return fault;
  if (header.size > bytes.size()) return RecordFault::size;
  std::vector<Entry> entries;
  std::vector<Entry> echo;
  return decode_record(bytes.first(header.size), header, entries, echo);
}

// A header field overwritten, and the checksum made right again.
template <class T>
RecordFault with_field(size_t at, T value) {
  Record record = small_record();
  base::store_le<T>(record.bytes.data() + at, value);
  const size_t covered = table_end(record) - 12;
  base::store_le<uint32_t>(record.bytes.data() + 8,
                           base::crc32c(std::span(record.bytes).subspan(12, covered)));
  return decode(record.bytes);
}

void expect_equal(std::span<const Entry> got_entries, std::span<const Entry> put_entries) {
  ASSERT_EQ(got_entries.size(), put_entries.size());
  for (size_t i = 0; i < got_entries.size(); ++i) {
    const Entry& got = got_entries[i];
    const Entry& put = put_entries[i];
    EXPECT_EQ(got.key, put.key);
    EXPECT_EQ(got.kind, put.kind);
    EXPECT_EQ(got.leader_epoch, put.leader_epoch);
    EXPECT_EQ(got.segment_base_offset, put.segment_base_offset);
    EXPECT_EQ(got.base_offset, put.base_offset);
    EXPECT_EQ(got.next_offset, put.next_offset);
    EXPECT_EQ(got.begin, put.begin);
    EXPECT_EQ(got.end, put.end);
    EXPECT_EQ(got.inline_begin, put.inline_begin);
    EXPECT_EQ(got.payload_position, put.payload_position);
    EXPECT_EQ(got.payload_size, put.payload_size);
    EXPECT_EQ(got.payload_checksum, put.payload_checksum);
    EXPECT_EQ(got.data_checksum, put.data_checksum);
  }
}

TEST(JournalRecord, says_what_was_written) {
  const Record record = small_record();
  RecordHeader header;
  ASSERT_EQ(decode_header(record.bytes, some_log_id(), 4, 3 * 4096, header), RecordFault::none);
  EXPECT_EQ(header.sequence, 77u);
  EXPECT_EQ(header.position, 3u * 4096);
  EXPECT_EQ(header.size, kBlock);
  EXPECT_EQ(header.entry_count, 3u);
  EXPECT_EQ(header.previous_checksum, 0xABCD1234u);
  EXPECT_EQ(header.durable_sequence, 75u);
  EXPECT_EQ(header.tail_sequence, 60u);
  EXPECT_EQ(header.previous_position, 9u * 4096);
  EXPECT_EQ(header.previous_size, 2u * kBlock);
  EXPECT_EQ(header.checksum, record.header.checksum);
  std::vector<Entry> entries;
  std::vector<Entry> echo;
  ASSERT_EQ(decode_record(record.bytes, header, entries, echo), RecordFault::none);
  ASSERT_NO_FATAL_FAILURE(expect_equal(entries, record.entries));
  ASSERT_NO_FATAL_FAILURE(expect_equal(echo, record.echo));
  for (const Entry& entry : entries) EXPECT_TRUE(payload_sound(record.bytes, entry));
}

TEST(JournalRecord, names_what_is_wrong_with_a_header) {
  const Record record = small_record();
  EXPECT_EQ(decode(std::vector<std::byte>(kBlock)), RecordFault::blank);
  EXPECT_EQ(with_field<uint64_t>(0, 0x1111), RecordFault::not_a_record);
  EXPECT_EQ(with_field<uint16_t>(12, 2), RecordFault::version);
  EXPECT_EQ(with_field<uint64_t>(16, 0), RecordFault::foreign);
  EXPECT_EQ(with_field<uint64_t>(32, 5), RecordFault::foreign);
  EXPECT_EQ(with_field<uint64_t>(48, 4 * 4096), RecordFault::misplaced);
  EXPECT_EQ(decode(record.bytes, 4 * 4096), RecordFault::misplaced);
  EXPECT_EQ(decode(record.bytes, 3 * 4096, LogId{}), RecordFault::foreign);
  EXPECT_EQ(decode(record.bytes, 3 * 4096, some_log_id(), 3), RecordFault::foreign);
  EXPECT_EQ(with_field<uint64_t>(40, 0), RecordFault::size) << "sequence 0";
  EXPECT_EQ(with_field<uint32_t>(56, 0), RecordFault::size);
  EXPECT_EQ(with_field<uint32_t>(56, 4097), RecordFault::size);
  EXPECT_EQ(with_field<uint32_t>(60, kEntriesMax + 1), RecordFault::size);
  EXPECT_EQ(with_field<uint32_t>(60, 49), RecordFault::size) << "a table longer than the record";
  EXPECT_EQ(with_field<uint32_t>(100, kEntriesMax + 1), RecordFault::size);
  EXPECT_EQ(with_field<uint32_t>(100, 49), RecordFault::size) << "an echo longer than the record";
  EXPECT_EQ(with_field<uint64_t>(72, 77), RecordFault::size) << "durable before it was written";
  EXPECT_EQ(with_field<uint64_t>(80, 78), RecordFault::size) << "a tail ahead of itself";
}

TEST(JournalRecord, refuses_entries_that_contradict_themselves) {
  const size_t entry = kHeaderSize;
  EXPECT_EQ(with_field<uint8_t>(entry + 8, 0), RecordFault::entry) << "no such kind";
  EXPECT_EQ(with_field<uint8_t>(entry + 8, 4), RecordFault::entry) << "no such kind";
  EXPECT_EQ(with_field<int32_t>(entry + 4, -1), RecordFault::entry);
  EXPECT_EQ(with_field<int64_t>(entry + 16, -5), RecordFault::entry);
  EXPECT_EQ(with_field<int64_t>(entry + 24, 99), RecordFault::entry) << "below its segment";
  EXPECT_EQ(with_field<int64_t>(entry + 32, 149), RecordFault::entry) << "ends before it begins";
  EXPECT_EQ(with_field<uint64_t>(entry + 40, 5301), RecordFault::entry);
  EXPECT_EQ(with_field<uint64_t>(entry + 48, 4000), RecordFault::entry);
  EXPECT_EQ(with_field<uint32_t>(entry + 64, 0), RecordFault::entry) << "payload in the header";
  EXPECT_EQ(with_field<uint32_t>(entry + 64, 4000), RecordFault::entry) << "payload behind the end";
  EXPECT_EQ(with_field<uint32_t>(entry + 68, 299), RecordFault::entry);
}

TEST(JournalRecord, refuses_an_echo_that_does_not_fit_the_record_before) {
  const size_t echo = kHeaderSize + 3 * kEntrySize;
  EXPECT_EQ(with_field<uint8_t>(echo + 8, 0), RecordFault::entry) << "no such kind";
  EXPECT_EQ(with_field<uint32_t>(echo + 64, 64), RecordFault::entry) << "payload in the header";
  EXPECT_EQ(with_field<uint32_t>(echo + 64, 2 * kBlock - 199), RecordFault::entry);
  EXPECT_EQ(with_field<uint32_t>(echo + 64, 2 * kBlock - 200), RecordFault::none) << "it just fits";
}

TEST(JournalRecord, refuses_places_that_recovery_could_not_use) {
  const size_t extent = kHeaderSize + kEntrySize;
  const size_t carry = kHeaderSize + 2 * kEntrySize;
  EXPECT_EQ(with_field<uint64_t>(kHeaderSize + 40, 5100), RecordFault::entry)
      << "inline data that begins before its payload";
  EXPECT_EQ(with_field<uint64_t>(extent + 40, 81930), RecordFault::entry)
      << "an extent that begins behind what went to the segment";
  EXPECT_EQ(with_field<uint64_t>(carry + 40, 4100), RecordFault::entry) << "a carry brings nothing";
}

TEST(JournalRecord, no_flipped_bit_passes) {
  const Record record = small_record();
  const Entry& last = record.entries.back();
  const size_t end = last.payload_position + size_t{last.payload_size};
  for (size_t at = 0; at < end; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> bytes = record.bytes;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      const RecordFault fault = decode(bytes);
      if (at < table_end(record)) {
        // Bytes 14 and 15 are in nobody's field, but under the checksum like all others.
        ASSERT_NE(fault, RecordFault::none) << "byte " << at << " bit " << bit;
        continue;
      }
      ASSERT_EQ(fault, RecordFault::none) << "a payload harms the record";
      size_t unsound = 0;
      for (const Entry& entry : record.entries) unsound += payload_sound(bytes, entry) ? 0 : 1;
      ASSERT_EQ(unsound, 1u) << "byte " << at << " harms another entry than its own";
    }
  }
}

TEST(JournalRecord, every_fault_has_a_name) {
  for (int i = 0; i <= static_cast<int>(RecordFault::entry); ++i) {
    EXPECT_STRNE(name(static_cast<RecordFault>(i)), "");
  }
}

TEST(JournalSuperblock, round_trip_and_every_damage) {
  const Superblock put{some_log_id(), 12, 3, 8};
  std::vector<std::byte> block(kBlock);
  for (uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    encode_superblock(put, copy, block);
    Superblock got;
    ASSERT_TRUE(decode_superblock(block, copy, got));
    EXPECT_EQ(got.log_id, put.log_id);
    EXPECT_EQ(got.generation, 12u);
    EXPECT_EQ(got.core, 3u);
    EXPECT_EQ(got.core_count, 8u);
    EXPECT_FALSE(decode_superblock(block, (copy + 1) % kSuperblockCopies, got)) << "misdirected";
  }
  for (size_t at = 0; at < 64; ++at) {
    std::vector<std::byte> bytes = block;
    bytes[at] ^= std::byte{0x10};
    Superblock got;
    EXPECT_FALSE(decode_superblock(bytes, kSuperblockCopies - 1, got)) << "byte " << at;
  }
}

// --- golden bytes: a format once written stays readable for ever ---

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 32 == 0 && i > 0) text += '\n';
    text += fmt::format("{:02x}", std::to_integer<int>(bytes[i]));
  }
  return text + '\n';
}

std::string golden(const std::string& name) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/tests/golden/journal/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(JournalGolden, record_of_version_1) {
  const Record record = small_record();
  const Entry& last = record.entries.back();
  const size_t end = last.payload_position + size_t{last.payload_size};
  EXPECT_EQ(hex(std::span(record.bytes).first(end)), golden("record-v1.txt"));
}

TEST(JournalGolden, superblock_of_version_1) {
  std::vector<std::byte> block(kBlock);
  encode_superblock({some_log_id(), 12, 3, 8}, 2, block);
  EXPECT_EQ(hex(std::span(block).first(64)), golden("superblock-v1.txt"));
}

}  // namespace
}  // namespace weir::journal
