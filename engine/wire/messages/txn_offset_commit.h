#pragma once
// TxnOffsetCommit 0-5: offsets that a group has consumed once the transaction commits. From version
// 5 on it adds the group's offsets to the transaction itself (KIP-890).

#include <cstdint>
#include <string_view>

#include "engine/wire/schema.h"

namespace weir::wire {

struct TxnOffsetCommitRequest {
  static constexpr MessageInfo kInfo = request_info(ApiKey::txn_offset_commit);

  struct Partition {
    int32_t partition_index = 0;
    int64_t committed_offset = 0;
    int32_t committed_leader_epoch = -1;
    NullableString committed_metadata = "";

    static constexpr void describe(auto& field, auto& m) {
      field("PartitionIndex", m.partition_index);
      field("CommittedOffset", m.committed_offset);
      field("CommittedLeaderEpoch", m.committed_leader_epoch,
            {.versions = since(2), .default_value = -1});
      field("CommittedMetadata", m.committed_metadata, {.nullable = kAllVersions});
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

  std::string_view transactional_id{};
  std::string_view group_id{};
  int64_t producer_id = 0;
  int16_t producer_epoch = 0;
  int32_t generation_id = -1;
  std::string_view member_id{};
  NullableString group_instance_id{};
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("TransactionalId", m.transactional_id);
    field("GroupId", m.group_id);
    field("ProducerId", m.producer_id);
    field("ProducerEpoch", m.producer_epoch);
    field("GenerationId", m.generation_id, {.versions = since(3), .default_value = -1});
    field("MemberId", m.member_id, {.versions = since(3)});
    field("GroupInstanceId", m.group_instance_id,
          {.versions = since(3), .nullable = since(3), .null_default = true});
    field("Topics", m.topics);
  }
};

struct TxnOffsetCommitResponse {
  static constexpr MessageInfo kInfo = response_info(ApiKey::txn_offset_commit);

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
    Array<Partition> partitions{};

    static constexpr void describe(auto& field, auto& m) {
      field("Name", m.name);
      field("Partitions", m.partitions);
    }
  };

  int32_t throttle_time_ms = 0;
  Array<Topic> topics{};

  static constexpr void describe(auto& field, auto& m) {
    field("ThrottleTimeMs", m.throttle_time_ms);
    field("Topics", m.topics);
  }
};

}  // namespace weir::wire
