#include "engine/group/records.h"

#include <array>

#include "engine/group/limits.h"
#include "engine/wire/records/offset_commit.h"
#include "engine/wire/records/record_codec.h"

namespace weir::group {

RecordEncoder::RecordEncoder(LogWriter& log_writer)
    : log_writer_(log_writer), arena_(2 * kScratchSizeMax) {}

template <class Message>
std::span<const std::byte> RecordEncoder::encode(const Message& message, int16_t version,
                                                 std::vector<std::byte>& out) {
  wire::ChainWriter writer(arena_);
  wire::encode_record(message, version, writer);
  ASSERT(!writer.failed(), "a record larger than the limits allow");
  out.clear();
  for (const wire::Bytes piece : writer.pieces()) out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

void RecordEncoder::add_offset(std::string_view group_id, std::string_view topic, int32_t partition,
                               const CommittedOffset& value, std::string_view metadata) {
  const wire::OffsetCommitKey key{.group = group_id, .topic = topic, .partition = partition};
  const wire::OffsetCommitValue record{.offset = value.offset,
                                       .leader_epoch = value.leader_epoch,
                                       .metadata = metadata,
                                       .commit_timestamp = value.commit_timestamp_ms,
                                       .expire_timestamp = value.expire_timestamp_ms,
                                       .topic_id = {}};
  const bool expires = value.expire_timestamp_ms != -1;
  const int16_t version =
      expires ? kOffsetCommitValueVersionWithExpiry : kOffsetCommitValueVersion;
  const std::array header{
      log::RecordHeader{.key = kTopicIdHeader, .value = std::span(value.topic_id.bytes)}};
  const std::span<const log::RecordHeader> headers(header);
  const auto key_bytes = encode(key, kOffsetCommitKeyType, key_);
  log_writer_.add(key_bytes, encode(record, version, value_),
                  headers.first(value.topic_id.is_zero() ? 0 : 1));
  arena_.reset();
}

void RecordEncoder::add_offset_tombstone(std::string_view group_id, std::string_view topic,
                                         int32_t partition) {
  const wire::OffsetCommitKey key{.group = group_id, .topic = topic, .partition = partition};
  log_writer_.add(encode(key, kOffsetCommitKeyType, key_), std::nullopt);
  arena_.reset();
}

void RecordEncoder::add_group(std::string_view group_id, const wire::GroupMetadataValue& value) {
  const wire::GroupMetadataKey key{.group = group_id};
  const auto key_bytes = encode(key, kGroupMetadataKeyType, key_);
  log_writer_.add(key_bytes, encode(value, kGroupMetadataValueVersion, value_));
  arena_.reset();
}

void RecordEncoder::add_group_tombstone(std::string_view group_id) {
  const wire::GroupMetadataKey key{.group = group_id};
  log_writer_.add(encode(key, kGroupMetadataKeyType, key_), std::nullopt);
  arena_.reset();
}

}  // namespace weir::group
