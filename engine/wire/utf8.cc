#include "engine/wire/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir::wire {

namespace {

constexpr uint64_t kTopBits = 0x8080808080808080;

// Length of the well-formed sequence at the start of the bytes, 0 if there is none.
size_t sequence_size(const uint8_t* bytes, size_t left) {
  const uint8_t lead = bytes[0];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;  // continuation, overlong, or beyond U+10FFFF
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (size > left) return 0;
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xbf;
  if (lead == 0xe0) second_min = 0xa0;  // overlong
  if (lead == 0xed) second_max = 0x9f;  // surrogates
  if (lead == 0xf0) second_min = 0x90;  // overlong
  if (lead == 0xf4) second_max = 0x8f;  // beyond U+10FFFF
  if (bytes[1] < second_min || bytes[1] > second_max) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  }
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t left = text.size();
  while (left > 0) {
    while (left >= 8) {  // names are ASCII nearly always
      uint64_t block;
      std::memcpy(&block, bytes, sizeof(block));
      if ((block & kTopBits) != 0) break;
      bytes += sizeof(block);
      left -= sizeof(block);
    }
    if (left == 0) break;
    const size_t size = sequence_size(bytes, left);
    if (size == 0) return false;
    bytes += size;
    left -= size;
  }
  return true;
}

}  // namespace weir::wire
