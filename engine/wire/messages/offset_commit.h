#pragma once
// OffsetCommit 1-10: offsets a group has consumed up to.
//
// Version 1 has a timestamp a partition, 2-4 a retention for all; 9 carries member epochs of the
// new group protocol in the generation field; 10 names topics by id.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct OffsetCommitRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::offset_commit);

  struct Partition {
    int32_t partition_index = 0;
    int64_t committed_offset = 0;
    int32_t committed_leader_epoch = -1;
    int64_t commit_timestamp = -1;
    NullableString committed_metadata = "";

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("CommittedOffset", m.committed_offset);
      field("CommittedLeaderEpoch", m.committed_leader_epoch,
            {.versions = since(6), .default_value = -1});
      field("CommitTimestamp", m.commit_timestamp, {.versions = until(1), .default_value = -1});
      field("CommittedMetadata", m.committed_metadata, {.nullable = kAllVersions});
    }
  };

  struct Topic {
    std::string_view name{};
    Uuid topic_id{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(9)});
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("Partitions", m.partitions);
    }
  };

  std::string_view group_id{};
  int32_t generation_id_or_member_epoch = -1;
  std::string_view member_id{};
  NullableString group_instance_id{};
  int64_t retention_time_ms = -1;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id);
    field("GenerationIdOrMemberEpoch", m.generation_id_or_member_epoch, {.default_value = -1});
    field("MemberId", m.member_id);
    field("GroupInstanceId", m.group_instance_id,
          {.versions = since(7), .nullable = since(7), .null_default = true});
    field("RetentionTimeMs", m.retention_time_ms, {.versions = between(2, 4), .default_value = -1});
    field("Topics", m.topics);
  }
};

struct OffsetCommitResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::offset_commit);

  struct Partition {
    int32_t partition_index = 0;
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("ErrorCode", m.error_code);
    }
  };

  struct Topic {
    std::string_view name{};
    Uuid topic_id{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(9)});
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("Partitions", m.partitions);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(3)});
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
