// CreateTopics, CreatePartitions, DeleteTopics against what Kafka 4.3.1 answers (accept/oracle),
// and: the answer comes when every core serves the change.
#include <gtest/gtest.h>

#include "engine/wire/messages/create_partitions.h"
#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/delete_topics.h"
#include "tests/engine/handlers/admin_broker.h"

namespace weir::handlers {
namespace {

using wire::CreatePartitionsRequest;
using wire::CreatePartitionsResponse;
using wire::CreateTopicsRequest;
using wire::CreateTopicsResponse;
using wire::DeleteTopicsRequest;
using wire::DeleteTopicsResponse;

class TopicAdminTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(3);
    broker->settings.num_partitions = 4;
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }

  CreateTopicsResponse create(std::vector<CreateTopicsRequest::Topic> topics, int16_t version = 7,
                              bool validate_only = false, int32_t timeout_ms = 10'000) {
    CreateTopicsRequest request;
    request.topics = {topics.data(), topics.size()};
    request.timeout_ms = timeout_ms;
    request.validate_only = validate_only;
    return client->call<CreateTopicsResponse>(request, version);
  }
  int create_one(std::string_view name, int32_t partitions = 1, int16_t factor = 1,
                 int16_t version = 7) {
    const auto response = create(
        {{.name = name, .num_partitions = partitions, .replication_factor = factor}}, version);
    EXPECT_EQ(response.topics.size(), 1u);
    return response.topics[0].error_code;
  }
  int create_with(std::string_view name, wire::NullableString value, int16_t version = 7) {
    CreateTopicsRequest::Config config{.name = name, .value = value};
    CreateTopicsRequest::Topic topic{
        .name = "configured", .num_partitions = 1, .replication_factor = 1};
    topic.configs = {&config, 1};
    return create({topic}, version, version > 0).topics[0].error_code;
  }
  const catalog::Topic* find(std::string_view name, size_t core = 0) {
    return broker->catalog_of(core).find(name);
  }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(TopicAdminTest, CreatedTopicIsServedByEveryCoreAndDescribed) {
  for (int16_t version = 0; version <= 7; ++version) {
    const std::string name = "v" + std::to_string(version);
    const auto response =
        create({{.name = name, .num_partitions = 3, .replication_factor = 1}}, version);
    ASSERT_EQ(response.topics.size(), 1u);
    const auto& topic = response.topics[0];
    EXPECT_EQ(topic.error_code, 0);
    for (size_t core = 0; core < 3; ++core) {
      ASSERT_NE(find(name, core), nullptr);
      EXPECT_EQ(find(name, core)->partition_count, 3);
    }
    if (version >= 7) {
      EXPECT_EQ(topic.topic_id, find(name)->id);
    }
    if (version < 5) continue;
    EXPECT_EQ(topic.num_partitions, 3);
    EXPECT_EQ(topic.replication_factor, 1);
    ASSERT_EQ(topic.configs.size(), 33u);
    EXPECT_EQ(topic.configs[0].name, "cleanup.policy");
    EXPECT_EQ(topic.configs[0].value, "delete");
    EXPECT_EQ(topic.configs[0].config_source, 5);
  }
}

TEST_F(TopicAdminTest, PartsOfARequestFailAlone) {
  EXPECT_EQ(create_one("a"), 0);
  EXPECT_EQ(create_one("a"), 36);
  auto response = create({{.name = "b", .num_partitions = 1, .replication_factor = 1},
                          {.name = "b", .num_partitions = 0, .replication_factor = 1},
                          {.name = "d", .num_partitions = 1, .replication_factor = 1}});
  ASSERT_EQ(response.topics.size(), 2u);
  EXPECT_EQ(response.topics[0].error_code, 42);
  EXPECT_TRUE(response.topics[0].topic_id.is_zero());
  EXPECT_EQ(response.topics[0].num_partitions, -1);
  EXPECT_EQ(response.topics[1].error_code, 0);
  EXPECT_EQ(find("b"), nullptr);
  EXPECT_NE(find("d"), nullptr);
  EXPECT_TRUE(create({}).topics.empty());
  EXPECT_EQ(create({{.name = "g", .num_partitions = 1, .replication_factor = 1}}, 7, false, 0)
                .topics[0]
                .error_code,
            7);
}

TEST_F(TopicAdminTest, ValidateOnlyAnswersLikeACreateAndDoesNothing) {
  const auto response =
      create({{.name = "dry", .num_partitions = 2, .replication_factor = 1}}, 7, true);
  EXPECT_EQ(response.topics[0].error_code, 0);
  EXPECT_EQ(response.topics[0].num_partitions, 2);
  EXPECT_FALSE(response.topics[0].topic_id.is_zero());
  EXPECT_EQ(response.topics[0].configs.size(), 33u);
  EXPECT_EQ(find("dry"), nullptr);
}

TEST_F(TopicAdminTest, Counts) {
  const struct {
    int32_t partitions;
    int16_t factor;
    int error;
    int32_t expected;
  } cases[] = {{0, 1, 37, -1},      {-1, 1, 0, 4},
               {-2, 1, 37, -1},     {1, 0, 38, -1},
               {1, -1, 0, 1},       {1, -2, 38, -1},
               {1, 2, 38, -1},      {-1, -1, 0, 4},
               {10'001, 1, 44, -1}, {2'147'483'647, 1, 44, -1}};
  for (const auto& row : cases) {
    const auto response = create(
        {{.name = "counted", .num_partitions = row.partitions, .replication_factor = row.factor}},
        7, true);
    EXPECT_EQ(response.topics[0].error_code, row.error) << row.partitions << " " << row.factor;
    EXPECT_EQ(response.topics[0].num_partitions, row.expected);
  }
  // KIP-464 speaks of version 4, but brokers take the defaults in any: kafkajs asks so in 3.
  for (const auto version : std::initializer_list<int16_t>{0, 2, 3}) {
    const std::string name = "defaults" + std::to_string(version);
    EXPECT_EQ(create_one(name, -1, -1, version), 0);
    EXPECT_EQ(find(name)->partition_count, 4);
  }
  // The limit counts the whole request.
  const auto response = create({{.name = "x", .num_partitions = 6'000, .replication_factor = 1},
                                {.name = "y", .num_partitions = 6'000, .replication_factor = 1}});
  EXPECT_EQ(response.topics[0].error_code, 44);
  EXPECT_EQ(response.topics[1].error_code, 44);
}

TEST_F(TopicAdminTest, Assignments) {
  using Rows = std::vector<std::pair<int32_t, std::vector<int32_t>>>;
  const struct {
    int32_t partitions;
    int16_t factor;
    Rows rows;
    int error;
  } cases[] = {
      {-1, -1, {{0, {1}}, {1, {1}}}, 0},
      {-1, -1, {{1, {1}}, {0, {1}}}, 0},
      {2, -1, {{0, {1}}, {1, {1}}}, 42},
      {-1, 1, {{0, {1}}}, 42},
      {1, 1, {{0, {1}}}, 42},
      {-1, -1, {{0, {99}}}, 39},
      {-1, -1, {{0, {}}}, 39},
      {-1, -1, {{0, {1, 1}}}, 39},
      {-1, -1, {{1, {1}}}, 39},
      {-1, -1, {{0, {1}}, {2, {1}}}, 39},
      {-1, -1, {{0, {1}}, {0, {1}}}, 39},
      {-1, -1, {{-1, {1}}}, 39},
      {-1, -1, {{0, {-1}}}, 39},
  };
  for (const auto& row : cases) {
    std::vector<CreateTopicsRequest::Assignment> assignments;
    auto rows = row.rows;
    for (auto& [partition, brokers] : rows) {
      assignments.push_back({partition, {brokers.data(), brokers.size()}});
    }
    CreateTopicsRequest::Topic topic{
        .name = "assigned", .num_partitions = row.partitions, .replication_factor = row.factor};
    topic.assignments = {assignments.data(), assignments.size()};
    const auto response = create({topic}, 7, true);
    EXPECT_EQ(response.topics[0].error_code, row.error);
    if (row.error == 0) {
      EXPECT_EQ(response.topics[0].num_partitions, 2);
    }
  }
}

TEST_F(TopicAdminTest, NamesAndConfigs) {
  for (const std::string& name : {std::string(), std::string(".."), std::string(250, 'x'),
                                  std::string("a/b"), std::string("a\0b", 3)}) {
    EXPECT_EQ(create_one(name), 17);
  }
  EXPECT_EQ(create_one(std::string(249, 'y')), 0);
  EXPECT_EQ(create_one("__cluster_metadata"), 42);
  EXPECT_EQ(create_one("p.q"), 0);
  EXPECT_EQ(create_one("p_q"), 17);
  EXPECT_EQ(create_with("no.such.config", "1"), 40);
  EXPECT_EQ(create_with("retention.ms", std::nullopt), 40);
  EXPECT_EQ(create_with("retention.ms", ""), 40);
  EXPECT_EQ(create_with("retention.ms", " 100 "), 0);
  EXPECT_EQ(create_with("cleanup.policy", "none"), 40);
  EXPECT_EQ(create_with("message.format.version", "2.8"), 0);  // Kafka 4 refuses what it removed
  EXPECT_EQ(create_with("", "1"), 40);
}

TEST_F(TopicAdminTest, ConfigsAreKeptVerbatimAndTheLastOfTwoWins) {
  std::vector<CreateTopicsRequest::Config> configs{{"retention.ms", "1"}, {"retention.ms", " 2 "}};
  CreateTopicsRequest::Topic topic{.name = "twice", .num_partitions = 1, .replication_factor = 1};
  topic.configs = {configs.data(), configs.size()};
  const auto response = create({topic});
  for (const auto& config : response.topics[0].configs) {
    if (config.name != "retention.ms") continue;
    EXPECT_EQ(config.value, " 2 ");
    EXPECT_EQ(config.config_source, 1);
  }
  EXPECT_EQ(find("twice", 2)->config.retention_ms, 2);
}

class CreatePartitionsTest : public TopicAdminTest {
 protected:
  int grow(std::string_view name, int32_t count,
           std::optional<std::vector<std::vector<int32_t>>> rows = {}, bool check = false,
           int16_t version = 3) {
    std::vector<CreatePartitionsRequest::Assignment> assignments;
    if (rows) {
      for (auto& row : *rows) assignments.push_back({{row.data(), row.size()}});
    }
    CreatePartitionsRequest::Topic topic{.name = name, .count = count};
    topic.assignments = rows ? wire::Array<CreatePartitionsRequest::Assignment>{assignments.data(),
                                                                                assignments.size()}
                             : wire::Array<CreatePartitionsRequest::Assignment>::null();
    CreatePartitionsRequest request;
    request.topics = {&topic, 1};
    request.validate_only = check;
    const auto response = client->call<CreatePartitionsResponse>(request, version);
    EXPECT_EQ(response.results.size(), 1u);
    EXPECT_EQ(response.results[0].name, name);
    return response.results[0].error_code;
  }
};

TEST_F(CreatePartitionsTest, CountsAndAssignments) {
  EXPECT_EQ(grow("t", 3), 37);
  EXPECT_EQ(grow("t", 4), 37);
  EXPECT_EQ(grow("t", -1), 37);
  EXPECT_EQ(grow("none", 9), 3);
  EXPECT_EQ(grow("a/b", 9), 3);
  EXPECT_EQ(grow("t", 20'000, {}, true), 44);  // Kafka: -1
  EXPECT_EQ(grow("t", 6, {{{1}}}), 39);
  EXPECT_EQ(grow("t", 5, {{{99}}}), 39);
  EXPECT_EQ(grow("t", 5, std::vector<std::vector<int32_t>>(1)), 39);
  EXPECT_EQ(grow("t", 5, std::vector<std::vector<int32_t>>{}), 39);
  EXPECT_EQ(grow("t", 5, {{{1, 99}}}), 39);
  EXPECT_EQ(grow("t", 9, {}, true), 0);
  EXPECT_EQ(find("t")->partition_count, 4);
  for (int16_t version = 0; version <= 3; ++version) {
    EXPECT_EQ(grow("t", 5 + version, {{{1}}}, false, version), 0);
    EXPECT_EQ(find("t", 2)->partition_count, 5 + version);
  }
}

TEST_F(CreatePartitionsTest, SameTopicTwiceIsRefusedOnce) {
  CreatePartitionsRequest::Topic topics[3] = {
      {.name = "t", .count = 5}, {.name = "t", .count = 6}, {.name = "none", .count = 5}};
  for (auto& topic : topics) {
    topic.assignments = wire::Array<CreatePartitionsRequest::Assignment>::null();
  }
  CreatePartitionsRequest request;
  request.topics = {topics, 3};
  const auto response = client->call<CreatePartitionsResponse>(request, 3);
  ASSERT_EQ(response.results.size(), 2u);
  EXPECT_EQ(response.results[0].error_code, 42);
  EXPECT_EQ(response.results[1].error_code, 3);
}

class DeleteTopicsTest : public TopicAdminTest {
 protected:
  DeleteTopicsResponse remove(std::vector<DeleteTopicsRequest::Topic> topics, int16_t version = 6) {
    DeleteTopicsRequest request;
    std::vector<std::string_view> names;
    for (const auto& topic : topics) names.push_back(topic.name.value_or(""));
    request.topics = {topics.data(), topics.size()};
    request.topic_names = {names.data(), names.size()};
    return client->call<DeleteTopicsResponse>(request, version);
  }
};

TEST_F(DeleteTopicsTest, ByNameInEveryVersion) {
  for (int16_t version = 0; version <= 6; ++version) {
    const std::string name = "v" + std::to_string(version);
    EXPECT_EQ(create_one(name), 0);
    const base::Uuid id = find(name)->id;
    const auto response =
        remove({{.name = name, .topic_id = {}}, {.name = "none", .topic_id = {}}}, version);
    ASSERT_EQ(response.responses.size(), 2u);
    EXPECT_EQ(response.responses[0].error_code, 0);
    EXPECT_EQ(response.responses[0].topic_id, version >= 6 ? id : base::Uuid{});
    EXPECT_EQ(response.responses[1].error_code, 3);
    for (size_t core = 0; core < 3; ++core) EXPECT_EQ(find(name, core), nullptr);
    EXPECT_EQ(remove({{.name = name, .topic_id = {}}}, version).responses[0].error_code, 3);
  }
}

TEST_F(DeleteTopicsTest, ByIdAndContradictions) {
  EXPECT_EQ(create_one("a"), 0);
  EXPECT_EQ(create_one("b"), 0);
  const base::Uuid a = find("a")->id;
  const base::Uuid b = find("b")->id;
  base::Uuid unknown;
  unknown.bytes.fill(std::byte{9});
  EXPECT_EQ(remove({{std::nullopt, unknown}}).responses[0].error_code, 100);
  EXPECT_EQ(remove({{.name = std::nullopt, .topic_id = {}}}).responses[0].error_code, 42);
  EXPECT_EQ(remove({{"a", a}}).responses[0].error_code, 42);
  auto response = remove({{std::nullopt, a}, {std::nullopt, a}});
  ASSERT_EQ(response.responses.size(), 1u);
  EXPECT_EQ(response.responses[0].error_code, 42);
  response = remove({{"a", {}}, {std::nullopt, a}});
  ASSERT_EQ(response.responses.size(), 1u);
  EXPECT_EQ(response.responses[0].error_code, 42);
  EXPECT_EQ(response.responses[0].name, "a");
  EXPECT_EQ(response.responses[0].topic_id, a);
  response = remove({{std::nullopt, b}});
  EXPECT_EQ(response.responses[0].error_code, 0);
  EXPECT_EQ(response.responses[0].name, "b");
  EXPECT_NE(find("a"), nullptr);
  EXPECT_EQ(find("b"), nullptr);
}

TEST_F(DeleteTopicsTest, SwitchedOff) {
  broker->settings.delete_topic_enable = false;
  EXPECT_EQ(remove({{"t", {}}}, 6).responses[0].error_code, 73);
  EXPECT_EQ(remove({{"t", {}}}, 2).responses[0].error_code, 42);
  EXPECT_NE(find("t"), nullptr);
}

}  // namespace
}  // namespace weir::handlers
