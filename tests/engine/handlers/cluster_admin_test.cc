// What tools ask about the cluster, against what Kafka 4.3.1 answers (accept/oracle): resources
// with settings, elections, reassignments, the metadata quorum, features. One node has one answer
// to each.
#include <gtest/gtest.h>

#include "engine/wire/messages/alter_partition_reassignments.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/describe_quorum.h"
#include "engine/wire/messages/elect_leaders.h"
#include "engine/wire/messages/list_config_resources.h"
#include "engine/wire/messages/update_features.h"
#include "tests/engine/handlers/admin_broker.h"

namespace weir::handlers {
namespace {

using Elections = wire::ElectLeadersResponse;
using Quorum = wire::DescribeQuorumResponse;
using Reassignments = wire::AlterPartitionReassignmentsResponse;

class ClusterAdminTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(1);
    broker->add_topic("__consumer_offsets", 2);
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }

  // "name/type" of each, or the error.
  std::vector<std::string> resources(std::vector<int8_t> types, int16_t version = 1) {
    wire::ListConfigResourcesRequest request;
    request.resource_types = {types.data(), types.size()};
    const auto response = client->call<wire::ListConfigResourcesResponse>(request, version);
    std::vector<std::string> out;
    if (response.error_code != 0) out.push_back("error " + std::to_string(response.error_code));
    for (const auto& resource : response.config_resources) {
      out.push_back(std::string(resource.resource_name) + "/" +
                    std::to_string(resource.resource_type));
    }
    return out;
  }

  Elections elect(int8_t type, std::string_view topic, std::vector<int32_t> partitions,
                  int16_t version = 2) {
    wire::ElectLeadersRequest::Topic row{topic, {partitions.data(), partitions.size()}};
    wire::ElectLeadersRequest request;
    request.election_type = type;
    request.topic_partitions = {&row, 1};
    return client->call<Elections>(request, version);
  }

  Reassignments::Partition reassign(std::string_view topic, int32_t partition,
                                    std::optional<std::vector<int32_t>> replicas,
                                    int16_t version = 1) {
    wire::AlterPartitionReassignmentsRequest::Partition row{.partition_index = partition};
    if (replicas) row.replicas = {replicas->data(), replicas->size()};
    wire::AlterPartitionReassignmentsRequest::Topic topic_row{topic, {&row, 1}};
    wire::AlterPartitionReassignmentsRequest request;
    request.topics = {&topic_row, 1};
    const auto response = client->call<Reassignments>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_TRUE(response.allow_replication_factor_change);
    EXPECT_EQ(response.responses.size(), 1u);
    EXPECT_EQ(response.responses[0].name, topic);
    EXPECT_EQ(response.responses[0].partitions[0].partition_index, partition);
    return response.responses[0].partitions[0];
  }

  Quorum quorum(std::string_view topic, std::vector<int32_t> partitions, int16_t version = 2) {
    std::vector<wire::DescribeQuorumRequest::Partition> rows;
    for (const int32_t index : partitions) rows.push_back({.partition_index = index});
    wire::DescribeQuorumRequest::Topic topic_row{topic, {rows.data(), rows.size()}};
    wire::DescribeQuorumRequest request;
    request.topics = {&topic_row, 1};
    return client->call<Quorum>(request, version);
  }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(ClusterAdminTest, ResourcesWithSettings) {
  using Names = std::vector<std::string>;
  const Names everything = {"1/8", "1/4", "__consumer_offsets/2", "t/2"};
  EXPECT_EQ(resources({}), everything);
  EXPECT_EQ(resources({2, 4, 8, 16, 32}), everything);
  EXPECT_EQ(resources({2}), (Names{"__consumer_offsets/2", "t/2"}));
  EXPECT_EQ(resources({4}), (Names{"1/4"}));
  EXPECT_EQ(resources({8}), (Names{"1/8"}));
  EXPECT_EQ(resources({16}), Names{});
  EXPECT_EQ(resources({32}), Names{});
  EXPECT_EQ(resources({4, 4}), (Names{"1/4"}));
  for (const int type : {0, 1, 3, 33, 99, -1}) {
    EXPECT_EQ(resources({2, static_cast<int8_t>(type)}), (Names{"error 35"})) << type;
  }
  EXPECT_EQ(resources({2, 99}, 0), Names{}) << "version 0 lists client metrics";
}

TEST_F(ClusterAdminTest, TheOnlyReplicaLeadsAlready) {
  for (int16_t version = 0; version <= 2; ++version) {
    const auto response = elect(0, "t", {0, 3}, version);
    EXPECT_EQ(response.error_code, 0);
    ASSERT_EQ(response.replica_election_results.size(), 1u);
    EXPECT_EQ(response.replica_election_results[0].topic, "t");
    ASSERT_EQ(response.replica_election_results[0].partition_result.size(), 2u);
    for (const auto& partition : response.replica_election_results[0].partition_result) {
      EXPECT_EQ(partition.error_code, 84);
      EXPECT_TRUE(partition.error_message.has_value());
    }
  }
  const auto code = [&](int8_t type, std::string_view topic, int32_t partition) {
    const auto response = elect(type, topic, {partition});
    EXPECT_EQ(response.replica_election_results[0].partition_result[0].partition_id, partition);
    return std::pair<int, int>{
        response.error_code, response.replica_election_results[0].partition_result[0].error_code};
  };
  using Codes = std::pair<int, int>;
  EXPECT_EQ(code(1, "t", 0), (Codes{0, 84}));
  EXPECT_EQ(code(0, "t", 4), (Codes{0, 3}));
  EXPECT_EQ(code(0, "t", -1), (Codes{0, 3}));
  EXPECT_EQ(code(0, "none", 0), (Codes{0, 3}));
  EXPECT_EQ(code(2, "t", 0), (Codes{42, 42}));
  EXPECT_EQ(code(-1, "t", 0), (Codes{42, 42}));
}

TEST_F(ClusterAdminTest, ElectionsOfAllAndOfNothing) {
  wire::ElectLeadersRequest request;
  EXPECT_EQ(client->call<Elections>(request, 2).replica_election_results.size(), 0u);
  request.topic_partitions = wire::Array<wire::ElectLeadersRequest::Topic>::null();
  const auto all = client->call<Elections>(request, 2);
  ASSERT_EQ(all.replica_election_results.size(), 2u);
  EXPECT_EQ(all.replica_election_results[1].topic, "t");
  EXPECT_TRUE(all.replica_election_results[1].partition_result.empty());
  request.election_type = 2;
  const auto refused = client->call<Elections>(request, 2);
  EXPECT_EQ(refused.error_code, 42);
  EXPECT_TRUE(refused.replica_election_results.empty());
}

TEST_F(ClusterAdminTest, TheOnlyNodeHasEveryReplica) {
  for (int16_t version = 0; version <= 1; ++version) {
    EXPECT_EQ(reassign("t", 3, std::vector{1}, version).error_code, 0);
    EXPECT_EQ(reassign("t", 3, std::nullopt, version).error_code, 85);
  }
  EXPECT_FALSE(reassign("t", 0, std::vector{1}).error_message.has_value());
  for (const auto& replicas : std::vector<std::vector<int32_t>>{
           {}, {99}, {1, 99}, {1, 1}, {-1}, {0}}) {
    const auto answer = reassign("t", 0, replicas);
    EXPECT_EQ(answer.error_code, 39);
    EXPECT_TRUE(answer.error_message.has_value());
  }
  EXPECT_EQ(reassign("t", 4, std::vector{1}).error_code, 3);
  EXPECT_EQ(reassign("t", -1, std::vector{1}).error_code, 3);
  EXPECT_EQ(reassign("none", 0, std::vector{1}).error_code, 3);
  EXPECT_EQ(reassign("none", 0, std::nullopt).error_code, 3);
  wire::AlterPartitionReassignmentsRequest nothing;
  nothing.allow_replication_factor_change = false;
  const auto response = client->call<Reassignments>(nothing, 1);
  EXPECT_TRUE(response.responses.empty());
  EXPECT_FALSE(response.allow_replication_factor_change);
}

TEST_F(ClusterAdminTest, TheMetadataLogHasOneVoter) {
  for (int16_t version = 0; version <= 2; ++version) {
    const auto response = quorum("__cluster_metadata", {0}, version);
    EXPECT_EQ(response.error_code, 0);
    ASSERT_EQ(response.topics.size(), 1u);
    const auto& partition = response.topics[0].partitions[0];
    EXPECT_EQ(partition.error_code, 0);
    EXPECT_EQ(partition.leader_id, 1);
    EXPECT_EQ(partition.leader_epoch, 4);
    EXPECT_EQ(partition.high_watermark, 17);
    ASSERT_EQ(partition.current_voters.size(), 1u);
    EXPECT_EQ(partition.current_voters[0].replica_id, 1);
    EXPECT_EQ(partition.current_voters[0].log_end_offset, 17);
    EXPECT_EQ(partition.current_voters[0].last_fetch_timestamp > 0, version >= 1);
    EXPECT_TRUE(partition.observers.empty());
    ASSERT_EQ(response.nodes.size(), version >= 2 ? 1u : 0u);
    if (version < 2) continue;
    EXPECT_EQ(response.nodes[0].listeners[0].host, "127.0.0.1");
    EXPECT_EQ(response.nodes[0].listeners[0].port, 9092);
  }
}

TEST_F(ClusterAdminTest, TheMetadataLogGrowsWithTheCatalog) {
  wire::CreateTopicsRequest::Topic topic{.name = "new", .num_partitions = 1,
                                         .replication_factor = 1};
  wire::CreateTopicsRequest create;
  create.topics = {&topic, 1};
  create.timeout_ms = 1000;
  EXPECT_EQ(client->call<wire::CreateTopicsResponse>(create, 7).topics[0].error_code, 0);
  EXPECT_EQ(quorum("__cluster_metadata", {0}).topics[0].partitions[0].high_watermark, 18);
}

TEST_F(ClusterAdminTest, OtherPartitionsHaveNoQuorum) {
  for (const auto& [topic, partitions] :
       std::vector<std::pair<std::string_view, std::vector<int32_t>>>{
           {"__cluster_metadata", {1}}, {"__cluster_metadata", {0, 1}}, {"t", {0}}}) {
    const auto response = quorum(topic, partitions);
    EXPECT_EQ(response.error_code, 0);
    ASSERT_EQ(response.topics[0].partitions.size(), partitions.size());
    for (const auto& partition : response.topics[0].partitions) {
      EXPECT_EQ(partition.error_code, 3);
      EXPECT_TRUE(partition.current_voters.empty());
    }
    EXPECT_TRUE(response.nodes.empty());
  }
  EXPECT_TRUE(client->call<Quorum>(wire::DescribeQuorumRequest{}, 2).topics.empty());
}

TEST_F(ClusterAdminTest, FeaturesMayOnlyBeWhatTheyAre) {
  for (int16_t version = 0; version <= 2; ++version) {
    wire::UpdateFeaturesRequest request;
    auto response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_FALSE(response.error_message.has_value());
    wire::UpdateFeaturesRequest::FeatureUpdate update{.feature = "transaction.version",
                                                      .max_version_level = 1};
    request.feature_updates = {&update, 1};
    response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 95);
    EXPECT_TRUE(response.error_message.has_value());
    EXPECT_TRUE(response.results.empty());
    update.max_version_level = 2;
    response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.results.size(), version < 2 ? 1u : 0u);
    if (version > 0) {
      for (const int8_t type : {int8_t{0}, int8_t{4}}) {
        update.upgrade_type = type;
        response = client->call<wire::UpdateFeaturesResponse>(request, version);
        EXPECT_EQ(response.error_code, 95);
      }
      update.upgrade_type = 1;
    }
    update.feature = "group.version";
    response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 95);
    update.max_version_level = 1;
    response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    update.feature = "share.version";
    response = client->call<wire::UpdateFeaturesResponse>(request, version);
    EXPECT_EQ(response.error_code, 95);
  }
}

}  // namespace
}  // namespace weir::handlers
