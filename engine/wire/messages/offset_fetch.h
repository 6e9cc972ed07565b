#pragma once
// OffsetFetch 1-10: committed offsets of one group (1-7) or of several (8 and later).
//
// Null topics ask for all partitions of a group, from version 2 on. 10 names topics by id.

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct OffsetFetchRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::offset_fetch);

  struct Topic {
    std::string_view name{};
    Array<int32_t> partition_indexes{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("PartitionIndexes", m.partition_indexes);
    }
  };

  struct GroupTopic {
    std::string_view name{};
    Uuid topic_id{};
    Array<int32_t> partition_indexes{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(9)});
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("PartitionIndexes", m.partition_indexes);
    }
  };

  struct Group {
    std::string_view group_id{};
    NullableString member_id{};
    int32_t member_epoch = -1;
    Array<GroupTopic> topics{};

    static constexpr void describe(auto& field, auto& m) {
      field("GroupId", m.group_id);
      field("MemberId", m.member_id,
            {.versions = since(9), .nullable = since(9), .null_default = true});
      field("MemberEpoch", m.member_epoch, {.versions = since(9), .default_value = -1});
      field("Topics", m.topics, {.nullable = kAllVersions});
    }
  };

  std::string_view group_id{};
  Array<Topic> topics{};
  Array<Group> groups{};
  bool require_stable = false;

  static constexpr void describe(auto& field, auto& m) {
    field("GroupId", m.group_id, {.versions = until(7)});
    field("Topics", m.topics, {.versions = until(7), .nullable = since(2)});
    field("Groups", m.groups, {.versions = since(8)});
    field("RequireStable", m.require_stable, {.versions = since(7)});
  }
};

struct OffsetFetchResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::offset_fetch);

  struct Partition {
    int32_t partition_index = 0;
    int64_t committed_offset = 0;
    int32_t committed_leader_epoch = -1;
    NullableString metadata = "";
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("CommittedOffset", m.committed_offset);
      field("CommittedLeaderEpoch", m.committed_leader_epoch,
            {.versions = since(5), .default_value = -1});
      field("Metadata", m.metadata, {.nullable = kAllVersions});
      field("ErrorCode", m.error_code);
    }
  };

  struct Topic {
    std::string_view name{};
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  struct GroupPartition {
    int32_t partition_index = 0;
    int64_t committed_offset = 0;
    int32_t committed_leader_epoch = -1;
    NullableString metadata = "";
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("CommittedOffset", m.committed_offset);
      field("CommittedLeaderEpoch", m.committed_leader_epoch, {.default_value = -1});
      field("Metadata", m.metadata, {.nullable = kAllVersions});
      field("ErrorCode", m.error_code);
    }
  };

  struct GroupTopic {
    std::string_view name{};
    Uuid topic_id{};
    Array<GroupPartition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name, {.versions = until(9)});
      field("TopicId", m.topic_id, {.versions = since(10)});
      field("Partitions", m.partitions);
    }
  };

  struct Group {
    std::string_view group_id{};
    Array<GroupTopic> topics{};
    int16_t error_code = 0;

    static constexpr void describe(auto& field, auto& m) {
      field("GroupId", m.group_id);
      field("Topics", m.topics);
      field("ErrorCode", m.error_code);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};
  int16_t error_code = 0;
  Array<Group> groups{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms, {.versions = since(3)});
    field("Topics", m.topics, {.versions = until(7)});
    field("ErrorCode", m.error_code, {.versions = between(2, 7)});
    field("Groups", m.groups, {.versions = since(8)});
  }
};

}  // namespace weir::wire
