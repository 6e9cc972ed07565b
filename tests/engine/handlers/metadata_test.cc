// Metadata against what Kafka 4.3.1 answers (accept/oracle, metadata.*), in every version;
// auto-creation is there in the first answer, on every core.
#include "engine/handlers/metadata.h"

#include <gtest/gtest.h>

#include "engine/wire/messages/describe_cluster.h"
#include "engine/wire/messages/init_producer_id.h"
#include "engine/wire/messages/list_partition_reassignments.h"
#include "tests/engine/handlers/admin_broker.h"

namespace weir::handlers {
namespace {

using model::ErrorCode;
using wire::MetadataRequest;
using wire::MetadataResponse;

class MetadataTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(2);
    broker->add_topic("__consumer_offsets", 2);
    broker->settings.num_partitions = 3;
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }
  MetadataResponse ask(std::vector<MetadataRequest::Topic> topics, int16_t version,
                       bool create = false, bool operations = false) {
    MetadataRequest request;
    request.topics = {topics.data(), topics.size()};
    request.allow_auto_topic_creation = create;
    request.include_topic_authorized_operations = operations;
    request.include_cluster_authorized_operations = operations;
    return client->call<MetadataResponse>(request, version);
  }
  MetadataResponse::Topic ask_one(std::string_view name, int16_t version, bool create = false) {
    const auto response = ask({{.topic_id = {}, .name = name}}, version, create);
    EXPECT_EQ(response.topics.size(), 1u);
    return response.topics[0];
  }
  base::Uuid id_of(std::string_view name) { return broker->catalog_of(0).find(name)->id; }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(MetadataTest, AllTopicsInEveryVersion) {
  for (int16_t version = 0; version <= 13; ++version) {
    MetadataRequest request;
    if (version > 0) request.topics = wire::Array<MetadataRequest::Topic>::null();
    const auto response = client->call<MetadataResponse>(request, version);
    ASSERT_EQ(response.brokers.size(), 1u);
    EXPECT_EQ(response.brokers[0].node_id, 1);
    EXPECT_EQ(response.brokers[0].host, "127.0.0.1");  // what the client connected to
    EXPECT_EQ(response.brokers[0].port, 9092);
    if (version >= 1) {
      EXPECT_EQ(response.controller_id, 1);
    }
    if (version >= 2) {
      EXPECT_EQ(response.cluster_id, "test");
    }
    ASSERT_EQ(response.topics.size(), 2u);
    const auto& topic = response.topics[1];
    EXPECT_EQ(topic.name, "t");
    EXPECT_EQ(topic.partitions.size(), 4u);
    EXPECT_EQ(topic.topic_id, version >= 10 ? id_of("t") : base::Uuid{});
    EXPECT_EQ(response.topics[0].is_internal, version >= 1);
    const auto& partition = topic.partitions[3];
    EXPECT_EQ(partition.partition_index, 3);
    EXPECT_EQ(partition.leader_id, 1);
    EXPECT_EQ(partition.leader_epoch, version >= 7 ? 4 : -1);
    ASSERT_EQ(partition.replica_nodes.size(), 1u);
    EXPECT_EQ(partition.isr_nodes[0], 1);
    EXPECT_TRUE(partition.offline_replicas.empty() && !partition.offline_replicas.is_null());
  }
}

TEST_F(MetadataTest, EmptyListIsNoTopicsFromVersion1On) {
  for (int16_t version = 1; version <= 13; ++version) {
    EXPECT_TRUE(ask({}, version).topics.empty());
  }
}

TEST_F(MetadataTest, UnknownTopicIsNotCreatedUnlessAsked) {
  for (int16_t version = 4; version <= 13; ++version) {
    const auto topic = ask_one("none", version);
    EXPECT_EQ(topic.error_code, 3);
    EXPECT_TRUE(topic.partitions.empty());
    EXPECT_TRUE(topic.topic_id.is_zero());
  }
  EXPECT_EQ(broker->catalog_of(0).find("none"), nullptr);
}

TEST_F(MetadataTest, AutoCreationIsInTheFirstAnswer) {
  for (int16_t version = 0; version <= 13; ++version) {
    const std::string name = "auto-" + std::to_string(version);
    const auto topic = ask_one(name, version, true);
    EXPECT_EQ(topic.error_code, 0);
    EXPECT_EQ(topic.partitions.size(), 3u);
    for (size_t core = 0; core < 2; ++core) {
      ASSERT_NE(broker->catalog_of(core).find(name), nullptr);
    }
    if (version >= 10) {
      EXPECT_EQ(topic.topic_id, id_of(name));
    }
  }
}

TEST_F(MetadataTest, BrokerSettingTurnsAutoCreationOff) {
  broker->settings.auto_create_topics_enable = false;
  EXPECT_EQ(ask_one("none", 9, true).error_code, 3);
  EXPECT_EQ(broker->catalog_of(0).find("none"), nullptr);
}

TEST_F(MetadataTest, InternalTopicIsCreatedWithItsOwnSettings) {
  const auto topic = ask_one("__transaction_state", 9, true);
  EXPECT_EQ(topic.error_code, 0);
  EXPECT_TRUE(topic.is_internal);
  EXPECT_EQ(topic.partitions.size(), 50u);
  EXPECT_TRUE(broker->catalog_of(1).find("__transaction_state")->config.compacts());
}

TEST_F(MetadataTest, InvalidNamesAndCollisions) {
  for (const bool create : {false, true}) {
    for (const std::string& name :
         {std::string(), std::string("."), std::string(".."), std::string(250, 'x'),
          std::string("a/b"), std::string("t\xC3\xA9"), std::string("a b"),
          std::string("a\0b", 3)}) {
      const auto topic = ask_one(name, 9, create);
      EXPECT_EQ(topic.error_code, 17) << name;
      EXPECT_EQ(topic.name, name);
    }
  }
  EXPECT_EQ(ask_one("a.b", 9, true).error_code, 0);
  EXPECT_EQ(ask_one("a_b", 9, true).error_code, 3);
}

TEST_F(MetadataTest, NamedTwiceIsAnsweredOnce) {
  EXPECT_EQ(ask({{{}, "t"}, {{}, "t"}}, 9).topics.size(), 1u);
  EXPECT_EQ(ask({{{}, "new"}, {{}, "new"}}, 9, true).topics.size(), 1u);
}

TEST_F(MetadataTest, Ids) {
  base::Uuid unknown;
  unknown.bytes.fill(std::byte{9});
  for (const int16_t version : {int16_t{10}, int16_t{11}}) {  // not served in these versions
    const auto response = ask({{id_of("t"), std::nullopt}, {{}, "t"}}, version);
    ASSERT_EQ(response.topics.size(), 2u);
    for (const auto& topic : response.topics) EXPECT_EQ(topic.error_code, 42);
    EXPECT_TRUE(response.brokers.empty());
  }
  for (const int16_t version : {int16_t{12}, int16_t{13}}) {
    auto response = ask({{id_of("t"), std::nullopt}, {unknown, std::nullopt}}, version);
    ASSERT_EQ(response.topics.size(), 2u);
    EXPECT_EQ(response.topics[0].name, "t");
    EXPECT_EQ(response.topics[0].error_code, 0);
    EXPECT_EQ(response.topics[1].name, std::nullopt);
    EXPECT_EQ(response.topics[1].error_code, 100);
    EXPECT_EQ(response.topics[1].topic_id, unknown);
    response = ask({{{}, std::nullopt}}, version);  // Kafka: -1 and no brokers
    EXPECT_EQ(response.topics[0].error_code, 42);
    EXPECT_EQ(response.brokers.size(), 1u);
    EXPECT_EQ(ask({{id_of("t"), "t"}, {{}, "u"}}, version).topics.size(), 1u);
  }
}

TEST_F(MetadataTest, AuthorizedOperationsWhereAsked) {
  for (int16_t version = 8; version <= 13; ++version) {
    auto response = ask({{{}, "t"}, {{}, "none"}}, version, false, true);
    EXPECT_EQ(response.topics[0].topic_authorized_operations, 3576);
    EXPECT_EQ(response.topics[1].topic_authorized_operations, 3576);
    EXPECT_EQ(response.cluster_authorized_operations, version <= 10 ? 8096 : INT32_MIN);
    response = ask({{{}, "t"}}, version);
    EXPECT_EQ(response.topics[0].topic_authorized_operations, INT32_MIN);
    EXPECT_EQ(response.cluster_authorized_operations, INT32_MIN);
  }
}

TEST_F(MetadataTest, AdvertisedAddressReplacesTheOneConnectedTo) {
  broker->node.advertised = {"broker.example", 19092};
  const auto response = ask({}, 9);
  EXPECT_EQ(response.brokers[0].host, "broker.example");
  EXPECT_EQ(response.brokers[0].port, 19092);
}

TEST_F(MetadataTest, DescribeCluster) {
  for (int16_t version = 0; version <= 2; ++version) {
    wire::DescribeClusterRequest request;
    request.include_cluster_authorized_operations = true;
    const auto response = client->call<wire::DescribeClusterResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.cluster_id, "test");
    EXPECT_EQ(response.controller_id, 1);
    ASSERT_EQ(response.brokers.size(), 1u);
    EXPECT_EQ(response.brokers[0].port, 9092);
    EXPECT_EQ(response.cluster_authorized_operations, 8096);
  }
  for (const auto& [type, error] : {std::pair{0, 115}, {2, 114}, {3, 115}}) {
    wire::DescribeClusterRequest request;
    request.endpoint_type = static_cast<int8_t>(type);
    const auto response = client->call<wire::DescribeClusterResponse>(request, 1);
    EXPECT_EQ(response.error_code, error);
    EXPECT_TRUE(response.brokers.empty());
  }
}

TEST_F(MetadataTest, NoReassignmentsEver) {
  const auto response = client->call<wire::ListPartitionReassignmentsResponse>(
      wire::ListPartitionReassignmentsRequest{}, 0);
  EXPECT_EQ(response.error_code, 0);
  EXPECT_TRUE(response.topics.empty());
}

TEST_F(MetadataTest, ProducerIdsAreNewEachTime) {
  int64_t last = -1;
  for (int16_t version = 0; version <= 5; ++version) {
    wire::InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    const auto response = client->call<wire::InitProducerIdResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_GT(response.producer_id, last);
    EXPECT_EQ(response.producer_epoch, 0);
    last = response.producer_id;
  }
  const struct {
    wire::NullableString transactional_id;
    int64_t producer_id;
    int16_t epoch;
    int error;
  } cases[] = {{"", -1, -1, 42},
               {"tx", -1, -1, 0},
               {std::nullopt, 5, -1, 42},
               {std::nullopt, -1, 5, 42},
               {std::nullopt, 5, 5, 0}};
  for (const auto& row : cases) {
    wire::InitProducerIdRequest request;
    request.transactional_id = row.transactional_id;
    request.producer_id = row.producer_id;
    request.producer_epoch = row.epoch;
    const auto response = client->call<wire::InitProducerIdResponse>(request, 4);
    EXPECT_EQ(response.error_code, row.error);
    EXPECT_EQ(response.producer_epoch, row.error == 0 ? 0 : -1);
  }
}

}  // namespace
}  // namespace weir::handlers
