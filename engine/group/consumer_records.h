#pragma once
// Records of consumer groups in __consumer_offsets (KIP-848, wire/records/consumer_group.h), as
// Kafka 4 writes them, added to the batch that LogWriter::open() chose.

#include <string_view>
#include <vector>

#include "engine/group/consumer_group.h"
#include "engine/group/log_writer.h"
#include "io/base/arena.h"

namespace weir::group {

inline constexpr int16_t kConsumerGroupMetadataType = 3;
inline constexpr int16_t kConsumerGroupPartitionMetadataType = 4;
inline constexpr int16_t kConsumerGroupMemberMetadataType = 5;
inline constexpr int16_t kConsumerGroupTargetMetadataType = 6;
inline constexpr int16_t kConsumerGroupTargetMemberType = 7;
inline constexpr int16_t kConsumerGroupCurrentMemberType = 8;
inline constexpr int16_t kConsumerGroupRegexType = 16;

class ConsumerRecordEncoder {
 public:
  explicit ConsumerRecordEncoder(LogWriter& log_writer);

  void add_epoch(std::string_view group_id, const ConsumerGroup& group);
  void add_member(std::string_view group_id, const ConsumerMember& member);
  void add_target_epoch(std::string_view group_id, int32_t epoch);
  void add_target(std::string_view group_id, const ConsumerMember& member);
  void add_current(std::string_view group_id, const ConsumerMember& member);
  void add_regex(std::string_view group_id, std::string_view text, const ResolvedRegex& regex);

  void add_member_tombstones(std::string_view group_id, std::string_view member_id);
  void add_regex_tombstone(std::string_view group_id, std::string_view text);
  // Of what the group has besides members and expressions.
  void add_group_tombstones(std::string_view group_id, const ConsumerGroup& group);
  // Everything there is of it.
  void add_all(std::string_view group_id, const ConsumerGroup& group);
  void add_all_tombstones(std::string_view group_id, const ConsumerGroup& group);

 private:
  template <class Key, class Value>
  void add(const Key& key, const Value& value);
  template <class Key>
  void add_tombstone(const Key& key);
  template <class Message>
  void encode(const Message& message, int16_t version, std::vector<std::byte>& out);

  LogWriter& log_writer_;
  base::Arena arena_;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
};

}  // namespace weir::group
