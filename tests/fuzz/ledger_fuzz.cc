// Fuzz: a ledger file. Nothing crashes, an entry that was read is written as it was, what is
// restored continues without a gap, and every offset of it is found in its group.
//
// Input: the file; the checksum of each entry is made right, so that mutations get past it.

#include <cstdlib>
#include <vector>

#include "engine/log/ledger.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace {

using namespace weir;

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 64 * 1024) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin(), input.end());
  (void)log::Ledger::header_sound(bytes, model::Offset(0));
  log::Ledger ledger(model::Offset(0));
  for (size_t at = 0; at + log::kLedgerEntrySize <= bytes.size(); at += log::kLedgerEntrySize) {
    const auto entry = std::span(bytes).subspan(at, log::kLedgerEntrySize);
    uint32_t checksum = base::crc32c(entry.first(56));
    checksum = base::crc32c(entry.subspan(60), checksum);
    base::store_le<uint32_t>(entry.data() + 56, checksum);
    const auto group = log::Ledger::decode_entry(entry);
    check(group.has_value());
    std::byte again[log::kLedgerEntrySize];
    log::Ledger::encode_entry(*group, again);
    check(log::Ledger::decode_entry(again) == group);
    if (!ledger.restore(*group)) break;
  }
  model::Offset next{0};
  uint64_t end = 0;
  for (const log::Group& group : ledger.groups()) {
    check(group.base_offset == next && group.next_offset > next && group.position == end);
    next = group.next_offset;
    end = group.end();
  }
  check(ledger.end() == end && ledger.next_offset() == next);
  for (const int64_t offset : {int64_t{0}, next.value() / 2, next.value()}) {
    const size_t found = ledger.find(model::Offset(offset));
    check(found <= ledger.groups().size());
    check((found == ledger.groups().size()) == (offset >= next.value()));
    if (found == ledger.groups().size()) continue;
    const log::Group& group = ledger.groups()[found];
    check(group.base_offset.value() <= offset && offset < group.next_offset.value());
  }
  (void)ledger.find_timestamp(0);
  check(ledger.boundary_at_or_before(end / 2) <= end / 2);
  return 0;
}
