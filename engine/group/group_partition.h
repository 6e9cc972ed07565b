#pragma once
// Which partition of __consumer_offsets a group lives in: the same as in Kafka, so that tools that
// read the topic find it. The group's home core is that partition's home core.

#include <cstdint>
#include <string_view>

#include "engine/model/ids.h"

namespace weir::group {

// String.hashCode() of Java: over the UTF-16 code units of the text. Bytes that are not UTF-8 count
// as they are; the wire layer lets none through.
[[nodiscard]] int32_t java_string_hash(std::string_view utf8);

// The length of the text in UTF-16 code units, which is what Kafka limits.
[[nodiscard]] size_t utf16_length(std::string_view utf8);

[[nodiscard]] model::PartitionIndex offsets_partition_of(std::string_view group_id,
                                                         int32_t partition_count);

}  // namespace weir::group
