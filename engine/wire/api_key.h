#pragma once
// The APIs this engine knows, in one table: numbers, names, version ranges.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::wire {

enum class ApiKey : int16_t {
  produce = 0,
  fetch = 1,
  list_offsets = 2,
  metadata = 3,
  offset_commit = 8,
  offset_fetch = 9,
  find_coordinator = 10,
  join_group = 11,
  heartbeat = 12,
  leave_group = 13,
  sync_group = 14,
  describe_groups = 15,
  list_groups = 16,
  api_versions = 18,
  create_topics = 19,
  delete_topics = 20,
  delete_records = 21,
  init_producer_id = 22,
  offset_for_leader_epoch = 23,
  add_partitions_to_txn = 24,
  add_offsets_to_txn = 25,
  end_txn = 26,
  write_txn_markers = 27,
  txn_offset_commit = 28,
  describe_configs = 32,
  alter_configs = 33,
  alter_replica_log_dirs = 34,
  describe_log_dirs = 35,
  create_partitions = 37,
  delete_groups = 42,
  elect_leaders = 43,
  incremental_alter_configs = 44,
  alter_partition_reassignments = 45,
  list_partition_reassignments = 46,
  offset_delete = 47,
  describe_client_quotas = 48,
  alter_client_quotas = 49,
  describe_quorum = 55,
  update_features = 57,
  describe_cluster = 60,
  describe_producers = 61,
  describe_transactions = 65,
  list_transactions = 66,
  consumer_group_heartbeat = 68,
  consumer_group_describe = 69,
  list_config_resources = 74,
  describe_topic_partitions = 75,
};

inline constexpr int16_t kNeverFlexible = 0x7fff;

// One API. Messages of versions min_version..max_version have a description and a codec. What is
// advertised starts lower for Produce: librdkafka turns compression off unless 0 is in the range.
struct ApiInfo {
  ApiKey key;
  std::string_view name;  // as in Kafka: "Produce"
  int16_t min_version;
  int16_t max_version;
  int16_t min_advertised_version;
  int16_t first_flexible_version;  // kNeverFlexible where there is none
  bool served;                     // false: described, not answered, not advertised

  [[nodiscard]] constexpr bool has_version(int16_t version) const {
    return version >= min_version && version <= max_version;
  }
  [[nodiscard]] constexpr bool is_flexible(int16_t version) const {
    return version >= first_flexible_version;
  }
};

// Sorted by key.
inline constexpr std::array kApis = {
    ApiInfo{ApiKey::produce, "Produce", 3, 13, 0, 9, true},
    ApiInfo{ApiKey::fetch, "Fetch", 4, 18, 4, 12, true},
    ApiInfo{ApiKey::list_offsets, "ListOffsets", 1, 11, 1, 6, true},
    ApiInfo{ApiKey::metadata, "Metadata", 0, 13, 0, 9, true},
    ApiInfo{ApiKey::offset_commit, "OffsetCommit", 1, 10, 1, 8, true},
    ApiInfo{ApiKey::offset_fetch, "OffsetFetch", 1, 10, 1, 6, true},
    ApiInfo{ApiKey::find_coordinator, "FindCoordinator", 0, 6, 0, 3, true},
    ApiInfo{ApiKey::join_group, "JoinGroup", 0, 9, 0, 6, true},
    ApiInfo{ApiKey::heartbeat, "Heartbeat", 0, 4, 0, 4, true},
    ApiInfo{ApiKey::leave_group, "LeaveGroup", 0, 5, 0, 4, true},
    ApiInfo{ApiKey::sync_group, "SyncGroup", 0, 5, 0, 4, true},
    ApiInfo{ApiKey::describe_groups, "DescribeGroups", 0, 6, 0, 5, true},
    ApiInfo{ApiKey::list_groups, "ListGroups", 0, 5, 0, 3, true},
    ApiInfo{ApiKey::api_versions, "ApiVersions", 0, 4, 0, 3, true},
    ApiInfo{ApiKey::create_topics, "CreateTopics", 0, 7, 0, 5, true},
    ApiInfo{ApiKey::delete_topics, "DeleteTopics", 0, 6, 0, 4, true},
    ApiInfo{ApiKey::delete_records, "DeleteRecords", 0, 2, 0, 2, true},
    ApiInfo{ApiKey::init_producer_id, "InitProducerId", 0, 5, 0, 2, true},
    ApiInfo{ApiKey::offset_for_leader_epoch, "OffsetForLeaderEpoch", 0, 4, 0, 4, true},
    ApiInfo{ApiKey::add_partitions_to_txn, "AddPartitionsToTxn", 0, 5, 0, 3, true},
    ApiInfo{ApiKey::add_offsets_to_txn, "AddOffsetsToTxn", 0, 4, 0, 3, true},
    ApiInfo{ApiKey::end_txn, "EndTxn", 0, 5, 0, 3, true},
    ApiInfo{ApiKey::write_txn_markers, "WriteTxnMarkers", 0, 2, 0, 1, true},
    ApiInfo{ApiKey::txn_offset_commit, "TxnOffsetCommit", 0, 5, 0, 3, true},
    ApiInfo{ApiKey::describe_configs, "DescribeConfigs", 0, 4, 0, 4, true},
    ApiInfo{ApiKey::alter_configs, "AlterConfigs", 0, 2, 0, 2, true},
    ApiInfo{ApiKey::alter_replica_log_dirs, "AlterReplicaLogDirs", 0, 2, 0, 2, true},
    ApiInfo{ApiKey::describe_log_dirs, "DescribeLogDirs", 0, 4, 0, 2, true},
    ApiInfo{ApiKey::create_partitions, "CreatePartitions", 0, 3, 0, 2, true},
    ApiInfo{ApiKey::delete_groups, "DeleteGroups", 0, 2, 0, 2, true},
    ApiInfo{ApiKey::elect_leaders, "ElectLeaders", 0, 2, 0, 2, true},
    ApiInfo{ApiKey::incremental_alter_configs, "IncrementalAlterConfigs", 0, 1, 0, 1, true},
    ApiInfo{ApiKey::alter_partition_reassignments, "AlterPartitionReassignments", 0, 1, 0, 0,
            true},
    ApiInfo{ApiKey::list_partition_reassignments, "ListPartitionReassignments", 0, 0, 0, 0, true},
    ApiInfo{ApiKey::offset_delete, "OffsetDelete", 0, 0, 0, kNeverFlexible, true},
    ApiInfo{ApiKey::describe_client_quotas, "DescribeClientQuotas", 0, 1, 0, 1, true},
    ApiInfo{ApiKey::alter_client_quotas, "AlterClientQuotas", 0, 1, 0, 1, true},
    ApiInfo{ApiKey::describe_quorum, "DescribeQuorum", 0, 2, 0, 0, true},
    ApiInfo{ApiKey::update_features, "UpdateFeatures", 0, 2, 0, 0, true},
    ApiInfo{ApiKey::describe_cluster, "DescribeCluster", 0, 2, 0, 0, true},
    ApiInfo{ApiKey::describe_producers, "DescribeProducers", 0, 0, 0, 0, true},
    ApiInfo{ApiKey::describe_transactions, "DescribeTransactions", 0, 0, 0, 0, true},
    ApiInfo{ApiKey::list_transactions, "ListTransactions", 0, 2, 0, 0, true},
    ApiInfo{ApiKey::consumer_group_heartbeat, "ConsumerGroupHeartbeat", 0, 1, 0, 0, true},
    ApiInfo{ApiKey::consumer_group_describe, "ConsumerGroupDescribe", 0, 1, 0, 0, true},
    ApiInfo{ApiKey::list_config_resources, "ListConfigResources", 0, 1, 0, 0, true},
    ApiInfo{ApiKey::describe_topic_partitions, "DescribeTopicPartitions", 0, 0, 0, 0, true},
};

inline constexpr int16_t kApiKeyMax = static_cast<int16_t>(kApis.back().key);
inline constexpr int16_t kVersionsPerApiMax = 20;

static_assert(std::ranges::adjacent_find(kApis, std::ranges::greater_equal{}, &ApiInfo::key) ==
              kApis.end());
static_assert(std::ranges::all_of(kApis, [](const ApiInfo& api) {
  return 0 <= api.min_advertised_version && api.min_advertised_version <= api.min_version &&
         api.min_version <= api.max_version && api.max_version < kVersionsPerApiMax &&
         api.first_flexible_version >= 0;
}));

namespace api_key_detail {

// Key -> index in kApis, -1 for a key that is not there.
inline constexpr auto kIndexByKey = [] {
  std::array<int8_t, static_cast<size_t>(kApiKeyMax) + 1> index{};
  index.fill(-1);
  for (size_t i = 0; i < kApis.size(); ++i) {
    index[static_cast<size_t>(kApis[i].key)] = static_cast<int8_t>(i);
  }
  return index;
}();

}  // namespace api_key_detail

// nullptr for a key without a row: any int16 a client may send is a valid argument.
[[nodiscard]] constexpr const ApiInfo* find_api(int16_t key) {
  if (key < 0 || key > kApiKeyMax) return nullptr;
  const int8_t index = api_key_detail::kIndexByKey[static_cast<size_t>(key)];
  return index < 0 ? nullptr : &kApis[static_cast<size_t>(index)];
}

// Every enumerator has a row.
[[nodiscard]] constexpr const ApiInfo& api_info(ApiKey key) {
  return *find_api(static_cast<int16_t>(key));
}

[[nodiscard]] constexpr std::string_view name(ApiKey key) { return api_info(key).name; }

}  // namespace weir::wire
