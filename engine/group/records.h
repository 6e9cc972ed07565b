#pragma once
// Records of __consumer_offsets, as Kafka 4 writes them: OffsetCommit keys of type 1 with values of
// version 3 (1 where an expiry time was asked for), GroupMetadata keys of type 2 with values of
// version 3. Tools that read the topic know no newer ones; the topic id, which Kafka keeps in
// version 4, travels in a record header instead. Reading takes all versions.

#include <span>
#include <string_view>
#include <vector>

#include "engine/group/log_writer.h"
#include "engine/group/offset_store.h"
#include "engine/wire/chain_writer.h"
#include "engine/wire/records/group_metadata.h"
#include "io/base/arena.h"

namespace weir::group {

inline constexpr int16_t kOffsetCommitKeyType = 1;
inline constexpr int16_t kOffsetCommitValueVersion = 3;
inline constexpr int16_t kOffsetCommitValueVersionWithExpiry = 1;
inline constexpr int16_t kGroupMetadataKeyType = 2;
inline constexpr int16_t kGroupMetadataValueVersion = 3;
inline constexpr std::string_view kTopicIdHeader = "topic-id";  // 16 bytes in wire order

// Adds records to the batch that LogWriter::open() chose.
class RecordEncoder {
 public:
  explicit RecordEncoder(LogWriter& log_writer);

  void add_offset(std::string_view group_id, std::string_view topic, int32_t partition,
                  const CommittedOffset& value, std::string_view metadata);
  void add_offset_tombstone(std::string_view group_id, std::string_view topic, int32_t partition);
  void add_group(std::string_view group_id, const wire::GroupMetadataValue& value);
  void add_group_tombstone(std::string_view group_id);

  // For the arrays of a value to add; emptied by each add.
  base::Arena& arena() { return arena_; }

 private:
  template <class Message>
  std::span<const std::byte> encode(const Message& message, int16_t version,
                                    std::vector<std::byte>& out);

  LogWriter& log_writer_;
  base::Arena arena_;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
};

}  // namespace weir::group
