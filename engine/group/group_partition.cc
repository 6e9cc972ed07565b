#include "engine/group/group_partition.h"

#include "io/base/assert.h"

namespace weir::group {

namespace {

// Calls unit(uint16_t) for each UTF-16 code unit.
template <class Function>
void for_each_utf16_unit(std::string_view utf8, Function unit) {
  const auto byte = [&](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(utf8[at]));
  };
  for (size_t i = 0; i < utf8.size();) {
    const uint32_t lead = byte(i);
    const size_t size = lead < 0x80 ? 1 : lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : 4;
    if (size == 1 || (size == 4 && lead >> 3 != 0x1e) || i + size > utf8.size()) {
      unit(static_cast<uint16_t>(lead));
      ++i;
      continue;
    }
    uint32_t point = lead & (0x7fu >> size);
    for (size_t k = 1; k < size; ++k) point = point << 6 | (byte(i + k) & 0x3f);
    i += size;
    if (point >= 0x10000) {
      unit(static_cast<uint16_t>(0xd800 + ((point - 0x10000) >> 10)));
      unit(static_cast<uint16_t>(0xdc00 + ((point - 0x10000) & 0x3ff)));
    } else {
      unit(static_cast<uint16_t>(point));
    }
  }
}

}  // namespace

int32_t java_string_hash(std::string_view utf8) {
  uint32_t hash = 0;
  for_each_utf16_unit(utf8, [&](uint16_t unit) { hash = hash * 31 + unit; });
  return static_cast<int32_t>(hash);
}

size_t utf16_length(std::string_view utf8) {
  size_t length = 0;
  for_each_utf16_unit(utf8, [&](uint16_t) { ++length; });
  return length;
}

model::PartitionIndex offsets_partition_of(std::string_view group_id, int32_t partition_count) {
  ASSERT(partition_count > 0);
  const int32_t hash = java_string_hash(group_id);
  // Kafka's Utils.abs: the one number without a positive counterpart becomes 0.
  const int32_t positive = hash == INT32_MIN ? 0 : hash < 0 ? -hash : hash;
  return model::PartitionIndex(positive % partition_count);
}

}  // namespace weir::group
