#pragma once
// Every message in one list, for code that treats them alike: tests, fuzzing, generated docs.
// Heavy; nothing on the path of a request includes it.

#include <cstddef>

#include "engine/wire/api_key.h"
#include "engine/wire/messages/add_offsets_to_txn.h"
#include "engine/wire/messages/add_partitions_to_txn.h"
#include "engine/wire/messages/alter_client_quotas.h"
#include "engine/wire/messages/alter_configs.h"
#include "engine/wire/messages/alter_partition_reassignments.h"
#include "engine/wire/messages/alter_replica_log_dirs.h"
#include "engine/wire/messages/api_versions.h"
#include "engine/wire/messages/consumer_group_describe.h"
#include "engine/wire/messages/consumer_group_heartbeat.h"
#include "engine/wire/messages/create_partitions.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/delete_groups.h"
#include "engine/wire/messages/delete_records.h"
#include "engine/wire/messages/delete_topics.h"
#include "engine/wire/messages/describe_client_quotas.h"
#include "engine/wire/messages/describe_cluster.h"
#include "engine/wire/messages/describe_configs.h"
#include "engine/wire/messages/describe_groups.h"
#include "engine/wire/messages/describe_log_dirs.h"
#include "engine/wire/messages/describe_producers.h"
#include "engine/wire/messages/describe_quorum.h"
#include "engine/wire/messages/describe_topic_partitions.h"
#include "engine/wire/messages/describe_transactions.h"
#include "engine/wire/messages/elect_leaders.h"
#include "engine/wire/messages/end_txn.h"
#include "engine/wire/messages/fetch.h"
#include "engine/wire/messages/find_coordinator.h"
#include "engine/wire/messages/heartbeat.h"
#include "engine/wire/messages/incremental_alter_configs.h"
#include "engine/wire/messages/init_producer_id.h"
#include "engine/wire/messages/join_group.h"
#include "engine/wire/messages/leave_group.h"
#include "engine/wire/messages/list_config_resources.h"
#include "engine/wire/messages/list_groups.h"
#include "engine/wire/messages/list_offsets.h"
#include "engine/wire/messages/list_partition_reassignments.h"
#include "engine/wire/messages/list_transactions.h"
#include "engine/wire/messages/metadata.h"
#include "engine/wire/messages/offset_commit.h"
#include "engine/wire/messages/offset_delete.h"
#include "engine/wire/messages/offset_fetch.h"
#include "engine/wire/messages/offset_for_leader_epoch.h"
#include "engine/wire/messages/produce.h"
#include "engine/wire/messages/sync_group.h"
#include "engine/wire/messages/txn_offset_commit.h"
#include "engine/wire/messages/update_features.h"
#include "engine/wire/messages/write_txn_markers.h"
#include "engine/wire/records/consumer_group.h"
#include "engine/wire/records/group_metadata.h"
#include "engine/wire/records/offset_commit.h"
#include "engine/wire/records/transaction_state.h"

namespace weir::wire {

template <class... Messages>
struct MessageList {
  static constexpr size_t kCount = sizeof...(Messages);

  // Calls visit.template operator()<M>() for each, in order.
  static constexpr void for_each(auto&& visit) { (visit.template operator()<Messages>(), ...); }

  // Calls it for the message of an api key; false if there is none.
  static constexpr bool for_key(ApiKey key, auto&& visit) {
    const auto try_one = [&]<class M>() {
      if (M::kInfo.key != static_cast<int16_t>(key)) return false;
      visit.template operator()<M>();
      return true;
    };
    return (try_one.template operator()<Messages>() || ...);
  }
};

using AllRequests = MessageList<
    ProduceRequest,
    FetchRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteRecordsRequest,
    InitProducerIdRequest,
    OffsetForLeaderEpochRequest,
    AddPartitionsToTxnRequest,
    AddOffsetsToTxnRequest,
    EndTxnRequest,
    WriteTxnMarkersRequest,
    TxnOffsetCommitRequest,
    DescribeConfigsRequest,
    AlterConfigsRequest,
    AlterReplicaLogDirsRequest,
    DescribeLogDirsRequest,
    CreatePartitionsRequest,
    DeleteGroupsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    OffsetDeleteRequest,
    DescribeClientQuotasRequest,
    AlterClientQuotasRequest,
    DescribeQuorumRequest,
    UpdateFeaturesRequest,
    DescribeClusterRequest,
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupDescribeRequest,
    ListConfigResourcesRequest,
    DescribeTopicPartitionsRequest>;

using AllResponses = MessageList<
    ProduceResponse,
    FetchResponse,
    ListOffsetsResponse,
    MetadataResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
    FindCoordinatorResponse,
    JoinGroupResponse,
    HeartbeatResponse,
    LeaveGroupResponse,
    SyncGroupResponse,
    DescribeGroupsResponse,
    ListGroupsResponse,
    ApiVersionsResponse,
    CreateTopicsResponse,
    DeleteTopicsResponse,
    DeleteRecordsResponse,
    InitProducerIdResponse,
    OffsetForLeaderEpochResponse,
    AddPartitionsToTxnResponse,
    AddOffsetsToTxnResponse,
    EndTxnResponse,
    WriteTxnMarkersResponse,
    TxnOffsetCommitResponse,
    DescribeConfigsResponse,
    AlterConfigsResponse,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsResponse,
    CreatePartitionsResponse,
    DeleteGroupsResponse,
    ElectLeadersResponse,
    IncrementalAlterConfigsResponse,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsResponse,
    OffsetDeleteResponse,
    DescribeClientQuotasResponse,
    AlterClientQuotasResponse,
    DescribeQuorumResponse,
    UpdateFeaturesResponse,
    DescribeClusterResponse,
    DescribeProducersResponse,
    DescribeTransactionsResponse,
    ListTransactionsResponse,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupDescribeResponse,
    ListConfigResourcesResponse,
    DescribeTopicPartitionsResponse>;

using AllRecords =
    MessageList<OffsetCommitKey, OffsetCommitValue, GroupMetadataKey, GroupMetadataValue,
                TransactionLogKey, TransactionLogValue,
                ConsumerGroupMetadataKey,
                ConsumerGroupMetadataValue,
                ConsumerGroupPartitionMetadataKey,
                ConsumerGroupMemberMetadataKey,
                ConsumerGroupMemberMetadataValue,
                ConsumerGroupTargetAssignmentMetadataKey,
                ConsumerGroupTargetAssignmentMetadataValue,
                ConsumerGroupTargetAssignmentMemberKey,
                ConsumerGroupTargetAssignmentMemberValue,
                ConsumerGroupCurrentMemberAssignmentKey,
                ConsumerGroupCurrentMemberAssignmentValue,
                ConsumerGroupRegularExpressionKey,
                ConsumerGroupRegularExpressionValue>;

static_assert(AllRequests::kCount == kApis.size() && AllResponses::kCount == kApis.size());

}  // namespace weir::wire
