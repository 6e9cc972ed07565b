#pragma once
// Records of __consumer_offsets that hold one committed offset: which group, topic and partition
// (key), and what was committed (value). A null value forgets the commit.
//
// Key types 0 (written before Kafka 4) and 1 have the same fields. Value version 1 has an expiry
// time, 3 the leader epoch, 4 the topic id.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct OffsetCommitKey {
  static constexpr MessageInfo kInfo{.name = "OffsetCommitKey",
                                     .kind = MessageKind::record_key,
                                     .key = 1,
                                     .versions = between(0, 1),
                                     .first_flexible_version = kNeverFlexible};

  std::string_view group{};
  std::string_view topic{};
  int32_t partition = 0;

  static constexpr void describe(auto& field, auto& m) {
    field("group", m.group);
    field("topic", m.topic);
    field("partition", m.partition);
  }
};

struct OffsetCommitValue {
  static constexpr MessageInfo kInfo{.name = "OffsetCommitValue",
                                     .kind = MessageKind::record_value,
                                     .key = 1,
                                     .versions = between(0, 4),
                                     .first_flexible_version = 4};

  int64_t offset = 0;
  int32_t leader_epoch = -1;
  std::string_view metadata{};
  int64_t commit_timestamp = 0;
  int64_t expire_timestamp = -1;
  Uuid topic_id{};

  static constexpr void describe(auto& field, auto& m) {
    field("offset", m.offset);
    field("leaderEpoch", m.leader_epoch, {.versions = since(3), .default_value = -1});
    field("metadata", m.metadata);
    field("commitTimestamp", m.commit_timestamp);
    field("expireTimestamp", m.expire_timestamp, {.versions = between(1, 1), .default_value = -1});
    field("topicId", m.topic_id, {.versions = since(4), .tag = 0});
  }
};

}  // namespace weir::wire
