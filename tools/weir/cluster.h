#pragma once
// What several commands ask a broker: topics with their partitions, offsets by time, times by
// offset.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/base/uuid.h"
#include "tools/weir/wire_client.h"

namespace weir::tools {

struct PartitionName {
  std::string topic;
  int32_t partition = 0;
  friend auto operator<=>(const PartitionName&, const PartitionName&) = default;
};

using OffsetByPartition = std::map<PartitionName, int64_t>;

struct TopicInfo {
  std::string name;
  base::Uuid id;
  bool internal = false;
  int16_t error_code = 0;
  std::vector<int32_t> partitions;  // sorted
};

// Topics by name, or all when there is no name; sorted by name. One that does not exist has an
// error.
std::vector<TopicInfo> describe_topics(WireClient& client, std::vector<std::string> names);

// Special timestamps of list_offsets().
inline constexpr int64_t kLatest = -1;
inline constexpr int64_t kEarliest = -2;

// The offset of the first record with at least this timestamp; -1 where there is none, and for a
// partition that does not exist (any more).
OffsetByPartition list_offsets(WireClient& client, const std::vector<PartitionName>& partitions,
                               int64_t timestamp);

// The timestamp of the first record at or behind the offset; nothing where there is none.
std::optional<int64_t> timestamp_at(WireClient& client, const PartitionName& partition,
                                    int64_t offset);

// The same in the bytes of record batches, the first of which may begin before the offset.
std::optional<int64_t> timestamp_in(std::span<const std::byte> records, int64_t offset);

}  // namespace weir::tools
