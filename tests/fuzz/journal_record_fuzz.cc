// Fuzz: one block read from a journal. Nothing crashes or reads past the end, what is accepted
// stays inside its record, and written again it is read as the same.
//
// Input: a record. Magic, version, owner and place are made right, and the checksum too, so that
// mutations get past them.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "engine/journal/record.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace {

using namespace weir;

void check(bool condition) {
  if (!condition) std::abort();
}

bool same(const journal::Entry& a, const journal::Entry& b) {
  return a.key == b.key && a.kind == b.kind && a.leader_epoch == b.leader_epoch &&
         a.segment_base_offset == b.segment_base_offset && a.base_offset == b.base_offset &&
         a.next_offset == b.next_offset && a.begin == b.begin && a.end == b.end &&
         a.inline_begin == b.inline_begin && a.payload_position == b.payload_position &&
         a.payload_size == b.payload_size && a.payload_checksum == b.payload_checksum &&
         a.data_checksum == b.data_checksum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8 || size > 64 * 1024) return 0;
  std::vector<std::byte> bytes(std::max<size_t>((size + 4095) / 4096 * 4096, 4096));
  std::transform(data, data + size, bytes.begin(), [](uint8_t b) { return std::byte{b}; });
  const journal::LogId log_id;
  base::store_le<uint64_t>(bytes.data(), journal::kRecordMagic);
  base::store_le<uint16_t>(bytes.data() + 12, journal::kRecordVersion);
  std::fill_n(bytes.begin() + 16, 32 - 16, std::byte{0});
  base::store_le<uint64_t>(bytes.data() + 32, 1);
  base::store_le<uint64_t>(bytes.data() + 48, 8192);
  const uint32_t entry_count = base::load_le<uint32_t>(bytes.data() + 60) % 64;
  base::store_le<uint32_t>(bytes.data() + 60, entry_count);
  base::store_le<uint32_t>(bytes.data() + 56, static_cast<uint32_t>(bytes.size()));
  const uint32_t echo_count = base::load_le<uint32_t>(bytes.data() + 100) % 64;
  base::store_le<uint32_t>(bytes.data() + 100, echo_count);
  const size_t table_end =
      journal::kHeaderSize + (entry_count + echo_count) * journal::kEntrySize;
  if (table_end <= bytes.size()) {
    base::store_le<uint32_t>(bytes.data() + 8,
                             base::crc32c(std::span(bytes).subspan(12, table_end - 12)));
  }
  journal::RecordHeader header;
  const auto fault = journal::decode_header(bytes, log_id, 1, 8192, header);
  if (fault != journal::RecordFault::none) return 0;
  check(header.size == bytes.size() && header.sequence > header.durable_sequence);
  std::vector<journal::Entry> entries;
  std::vector<journal::Entry> echo;
  const auto tables = journal::decode_record(bytes, header, entries, echo);
  if (tables != journal::RecordFault::none) return 0;
  check(entries.size() == entry_count && echo.size() == echo_count);
  for (const journal::Entry& entry : entries) {
    journal::payload_sound(bytes, entry);
    check(entry.begin <= entry.end && entry.inline_begin <= entry.end);
    check(entry.base_offset <= entry.next_offset);
  }
  // What was accepted is what would be written.
  std::vector<std::byte> again = bytes;
  journal::encode_record(header, entries, echo, again);
  std::vector<journal::Entry> twice;
  std::vector<journal::Entry> echo_twice;
  check(journal::decode_record(again, header, twice, echo_twice) == journal::RecordFault::none);
  check(std::ranges::equal(twice, entries, same) && std::ranges::equal(echo_twice, echo, same));
  return 0;
}
