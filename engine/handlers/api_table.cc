#include "engine/handlers/api_table.h"

#include <algorithm>
#include <array>

#include "engine/handlers/add_offsets_to_txn.h"
#include "engine/handlers/add_partitions_to_txn.h"
#include "engine/handlers/alter_client_quotas.h"
#include "engine/handlers/alter_configs.h"
#include "engine/handlers/alter_partition_reassignments.h"
#include "engine/handlers/alter_replica_log_dirs.h"
#include "engine/handlers/api_versions.h"
#include "engine/handlers/consumer_group_describe.h"
#include "engine/handlers/consumer_group_heartbeat.h"
#include "engine/handlers/create_partitions.h"
#include "engine/handlers/create_topics.h"
#include "engine/handlers/delete_groups.h"
#include "engine/handlers/delete_records.h"
#include "engine/handlers/delete_topics.h"
#include "engine/handlers/describe_client_quotas.h"
#include "engine/handlers/describe_cluster.h"
#include "engine/handlers/describe_configs.h"
#include "engine/handlers/describe_groups.h"
#include "engine/handlers/describe_log_dirs.h"
#include "engine/handlers/describe_producers.h"
#include "engine/handlers/describe_quorum.h"
#include "engine/handlers/describe_topic_partitions.h"
#include "engine/handlers/describe_transactions.h"
#include "engine/handlers/elect_leaders.h"
#include "engine/handlers/end_txn.h"
#include "engine/handlers/fetch.h"
#include "engine/handlers/find_coordinator.h"
#include "engine/handlers/heartbeat.h"
#include "engine/handlers/init_producer_id.h"
#include "engine/handlers/join_group.h"
#include "engine/handlers/leave_group.h"
#include "engine/handlers/list_config_resources.h"
#include "engine/handlers/list_groups.h"
#include "engine/handlers/list_offsets.h"
#include "engine/handlers/list_partition_reassignments.h"
#include "engine/handlers/list_transactions.h"
#include "engine/handlers/metadata.h"
#include "engine/handlers/offset_commit.h"
#include "engine/handlers/offset_delete.h"
#include "engine/handlers/offset_fetch.h"
#include "engine/handlers/offset_for_leader_epoch.h"
#include "engine/handlers/produce.h"
#include "engine/handlers/sync_group.h"
#include "engine/handlers/txn_offset_commit.h"
#include "engine/handlers/update_features.h"
#include "engine/handlers/write_txn_markers.h"

namespace weir::handlers {

namespace {

using wire::ApiKey;

constexpr std::array kRows = {
    ApiRow{ApiKey::produce, &start_produce, true},
    ApiRow{ApiKey::fetch, &start_fetch},
    ApiRow{ApiKey::list_offsets, &start_list_offsets},
    ApiRow{ApiKey::metadata, &start_metadata},
    ApiRow{ApiKey::offset_commit, &start_offset_commit},
    ApiRow{ApiKey::offset_fetch, &start_offset_fetch},
    ApiRow{ApiKey::find_coordinator, &start_find_coordinator},
    ApiRow{ApiKey::join_group, &start_join_group},
    ApiRow{ApiKey::heartbeat, &start_heartbeat},
    ApiRow{ApiKey::leave_group, &start_leave_group},
    ApiRow{ApiKey::sync_group, &start_sync_group},
    ApiRow{ApiKey::describe_groups, &start_describe_groups},
    ApiRow{ApiKey::list_groups, &start_list_groups},
    ApiRow{ApiKey::api_versions, &start_api_versions},
    ApiRow{ApiKey::create_topics, &start_create_topics},
    ApiRow{ApiKey::delete_topics, &start_delete_topics},
    ApiRow{ApiKey::delete_records, &start_delete_records},
    ApiRow{ApiKey::init_producer_id, &start_init_producer_id},
    ApiRow{ApiKey::offset_for_leader_epoch, &start_offset_for_leader_epoch},
    ApiRow{ApiKey::add_partitions_to_txn, &start_add_partitions_to_txn},
    ApiRow{ApiKey::add_offsets_to_txn, &start_add_offsets_to_txn},
    ApiRow{ApiKey::end_txn, &start_end_txn},
    ApiRow{ApiKey::write_txn_markers, &start_write_txn_markers},
    ApiRow{ApiKey::txn_offset_commit, &start_txn_offset_commit},
    ApiRow{ApiKey::describe_configs, &start_describe_configs},
    ApiRow{ApiKey::alter_configs, &start_alter_configs},
    ApiRow{ApiKey::alter_replica_log_dirs, &start_alter_replica_log_dirs},
    ApiRow{ApiKey::describe_log_dirs, &start_describe_log_dirs},
    ApiRow{ApiKey::create_partitions, &start_create_partitions},
    ApiRow{ApiKey::delete_groups, &start_delete_groups},
    ApiRow{ApiKey::elect_leaders, &start_elect_leaders},
    ApiRow{ApiKey::incremental_alter_configs, &start_incremental_alter_configs},
    ApiRow{ApiKey::alter_partition_reassignments, &start_alter_partition_reassignments},
    ApiRow{ApiKey::list_partition_reassignments, &start_list_partition_reassignments},
    ApiRow{ApiKey::offset_delete, &start_offset_delete},
    ApiRow{ApiKey::describe_client_quotas, &start_describe_client_quotas},
    ApiRow{ApiKey::alter_client_quotas, &start_alter_client_quotas},
    ApiRow{ApiKey::describe_quorum, &start_describe_quorum},
    ApiRow{ApiKey::update_features, &start_update_features},
    ApiRow{ApiKey::describe_cluster, &start_describe_cluster},
    ApiRow{ApiKey::describe_producers, &start_describe_producers},
    ApiRow{ApiKey::describe_transactions, &start_describe_transactions},
    ApiRow{ApiKey::list_transactions, &start_list_transactions},
    ApiRow{ApiKey::consumer_group_heartbeat, &start_consumer_group_heartbeat},
    ApiRow{ApiKey::consumer_group_describe, &start_consumer_group_describe},
    ApiRow{ApiKey::list_config_resources, &start_list_config_resources},
    ApiRow{ApiKey::describe_topic_partitions, &start_describe_topic_partitions},
};

// Described as served and started here: one is not without the other.
static_assert(std::ranges::all_of(wire::kApis, [](const wire::ApiInfo& api) {
  return api.served == (std::ranges::find(kRows, api.key, &ApiRow::key) != kRows.end());
}));

constexpr size_t kKeyCount = static_cast<size_t>(wire::kApiKeyMax) + 1;

constexpr std::array<const ApiRow*, kKeyCount> kRowByKey = [] {
  std::array<const ApiRow*, kKeyCount> rows{};
  for (const ApiRow& row : kRows) rows[static_cast<size_t>(row.key)] = &row;
  return rows;
}();

}  // namespace

const ApiRow* find_row(ApiKey key) {
  const auto index = static_cast<int16_t>(key);
  return index < 0 || index > wire::kApiKeyMax ? nullptr : kRowByKey[static_cast<size_t>(index)];
}

}  // namespace weir::handlers
