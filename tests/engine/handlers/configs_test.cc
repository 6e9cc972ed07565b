// DescribeConfigs, IncrementalAlterConfigs and AlterConfigs against what Kafka 4.3.1 answers
// (accept/oracle): values, sources, types, synonyms, errors of each kind of resource; changes are
// seen by every core at once.
#include <gtest/gtest.h>

#include <map>

#include "engine/wire/messages/alter_configs.h"
#include "engine/wire/messages/describe_configs.h"
#include "engine/wire/messages/incremental_alter_configs.h"
#include "engine/wire/messages/list_config_resources.h"
#include "tests/engine/handlers/admin_broker.h"

namespace weir::handlers {
namespace {

using wire::DescribeConfigsRequest;
using wire::DescribeConfigsResponse;
using wire::IncrementalAlterConfigsRequest;
using wire::IncrementalAlterConfigsResponse;

struct Op {
  int kind;
  std::string_view name;
  wire::NullableString value;
};

class ConfigsTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(2);
    broker->add_topic("compacted", 1,
                      {{"cleanup.policy", "compact"}, {"retention.ms", "604800000"}});
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }
  DescribeConfigsResponse::Result describe(int type, std::string_view name,
                                           std::vector<std::string_view> keys = {},
                                           int16_t version = 4, bool all_details = false) {
    DescribeConfigsRequest::Resource resource{.resource_type = static_cast<int8_t>(type),
                                              .resource_name = name};
    resource.configuration_keys = {keys.data(), keys.size()};
    DescribeConfigsRequest request;
    request.resources = {&resource, 1};
    request.include_synonyms = all_details;
    request.include_documentation = all_details;
    const auto response = client->call<DescribeConfigsResponse>(request, version);
    EXPECT_EQ(response.results.size(), 1u);
    EXPECT_EQ(response.results[0].resource_type, type);
    EXPECT_EQ(response.results[0].resource_name, name);
    return response.results[0];
  }
  // "value/source", then " <- name=value/source" for each synonym.
  std::string shown(int type, std::string_view name, std::string_view key) {
    const auto result = describe(type, name, {key}, 4, true);
    if (result.error_code != 0 || result.configs.size() != 1) return "none";
    const auto& config = result.configs[0];
    const auto text = [](const wire::NullableString& value) {
      return std::string(value.value_or("null"));
    };
    std::string out = text(config.value) + "/" + std::to_string(config.config_source);
    for (const auto& synonym : config.synonyms) {
      out += " <- " + std::string(synonym.name) + "=" + text(synonym.value) + "/" +
             std::to_string(synonym.source);
    }
    return out;
  }
  int alter(int type, std::string_view name, std::vector<Op> ops, bool validate_only = false,
            int16_t version = 1) {
    std::vector<IncrementalAlterConfigsRequest::Config> configs;
    for (const Op& op : ops) configs.push_back({op.name, static_cast<int8_t>(op.kind), op.value});
    IncrementalAlterConfigsRequest::Resource resource{.resource_type = static_cast<int8_t>(type),
                                                      .resource_name = name};
    resource.configs = {configs.data(), configs.size()};
    IncrementalAlterConfigsRequest request;
    request.resources = {&resource, 1};
    request.validate_only = validate_only;
    const auto response = client->call<IncrementalAlterConfigsResponse>(request, version);
    EXPECT_EQ(response.responses.size(), 1u);
    EXPECT_EQ(response.responses[0].resource_name, name);
    return response.responses[0].error_code;
  }

  // AlterConfigs; the kinds of the ops are not looked at.
  int replace(int type, std::string_view name, std::vector<Op> ops, bool validate_only = false,
              int16_t version = 2) {
    std::vector<wire::AlterConfigsRequest::Config> configs;
    for (const Op& op : ops) configs.push_back({op.name, op.value});
    wire::AlterConfigsRequest::Resource resource{static_cast<int8_t>(type), name, {}};
    resource.configs = {configs.data(), configs.size()};
    wire::AlterConfigsRequest request;
    request.resources = {&resource, 1};
    request.validate_only = validate_only;
    const auto response = client->call<wire::AlterConfigsResponse>(request, version);
    EXPECT_EQ(response.responses.size(), 1u);
    EXPECT_EQ(response.responses[0].resource_name, name);
    EXPECT_EQ(response.responses[0].resource_type, type);
    EXPECT_EQ(response.responses[0].error_message.has_value(),
              response.responses[0].error_code != 0);
    return response.responses[0].error_code;
  }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(ConfigsTest, TopicInEveryVersion) {
  for (int16_t version = 0; version <= 4; ++version) {
    const auto result = describe(2, "compacted", {}, version);
    EXPECT_EQ(result.error_code, 0);
    ASSERT_EQ(result.configs.size(), 33u);
    for (const auto& config : result.configs) {
      EXPECT_FALSE(config.read_only);
      EXPECT_FALSE(config.is_sensitive);
      const bool set = config.name == "cleanup.policy" || config.name == "retention.ms";
      if (version == 0) {
        EXPECT_EQ(config.is_default, !set);
      }
      if (version >= 1) {
        EXPECT_EQ(config.config_source, set ? 1 : 5) << config.name;
      }
      if (version >= 3) {
        EXPECT_NE(config.config_type, 0);
      }
    }
  }
}

TEST_F(ConfigsTest, KeysSynonymsDocumentation) {
  EXPECT_EQ(describe(2, "t", {"retention.ms", "segment.bytes", "none"}).configs.size(), 2u);
  EXPECT_EQ(shown(2, "compacted", "cleanup.policy"),
            "compact/1 <- cleanup.policy=compact/1 <- log.cleanup.policy=delete/5");
  // Defaults of times come from hours, so their broker settings in ms are not set.
  EXPECT_EQ(shown(2, "compacted", "retention.ms"), "604800000/1 <- retention.ms=604800000/1");
  for (const std::string_view name : {"segment.ms", "retention.ms"}) {
    EXPECT_EQ(shown(2, "t", name), "604800000/5");
  }
  EXPECT_EQ(shown(2, "t", "segment.jitter.ms"), "0/5");
  EXPECT_EQ(shown(2, "t", "flush.ms"), "9223372036854775807/5");
  EXPECT_EQ(shown(2, "t", "max.message.bytes"), "1048588/5 <- message.max.bytes=1048588/5");
  EXPECT_EQ(shown(2, "t", "remote.storage.enable"), "false/5");
  EXPECT_TRUE(describe(2, "t", {"cleanup.policy"}, 4, true).configs[0].documentation);
  EXPECT_FALSE(describe(2, "t", {"cleanup.policy"}).configs[0].documentation);
}

TEST_F(ConfigsTest, Brokers) {
  EXPECT_EQ(shown(4, "1", "num.partitions"), "1/5 <- num.partitions=1/5");
  EXPECT_EQ(shown(4, "1", "advertised.listeners"), "null/5");
  for (const std::string_view name :
       {"log.retention.ms", "log.roll.ms", "log.roll.jitter.ms", "log.flush.interval.ms"}) {
    EXPECT_EQ(shown(4, "1", name), "null/5");
  }
  for (const std::string_view name : {"auto.create.topics.enable",
                                      "broker.id",
                                      "default.replication.factor",
                                      "delete.topic.enable",
                                      "fetch.max.bytes",
                                      "inter.broker.protocol.version",
                                      "listeners",
                                      "log.cleanup.policy",
                                      "log.dirs",
                                      "log.retention.bytes",
                                      "log.retention.hours",
                                      "log.retention.minutes",
                                      "log.retention.ms",
                                      "log.roll.hours",
                                      "log.segment.bytes",
                                      "max.connections",
                                      "message.max.bytes",
                                      "min.insync.replicas",
                                      "node.id",
                                      "num.partitions",
                                      "offsets.retention.minutes",
                                      "offsets.topic.num.partitions",
                                      "process.roles",
                                      "sasl.enabled.mechanisms",
                                      "socket.request.max.bytes",
                                      "transaction.max.timeout.ms",
                                      "transactional.id.expiration.ms",
                                      "unclean.leader.election.enable",
                                      "group.min.session.timeout.ms"}) {
    const auto result = describe(4, "1", {name});
    ASSERT_EQ(result.configs.size(), 1u) << name;
    EXPECT_NE(result.configs[0].config_type, 0);
  }
  EXPECT_EQ(describe(4, "1", {"log.dirs"}).configs[0].config_type, 7);
  EXPECT_EQ(describe(4, "1", {"offsets.retention.minutes"}).configs[0].config_type, 3);
  EXPECT_TRUE(describe(4, "1", {"num.partitions"}).configs[0].read_only);
  EXPECT_FALSE(describe(4, "1", {"log.retention.ms"}).configs[0].read_only);
  EXPECT_EQ(describe(4, "").error_code, 0);
  EXPECT_TRUE(describe(4, "").configs.empty());
}

TEST_F(ConfigsTest, OtherResources) {
  const struct {
    int type;
    std::string_view name;
    int error;
  } cases[] = {{2, "none", 3}, {2, "a/b", 17}, {2, "", 17},  {4, "99", 42}, {4, "abc", 42},
               {8, "1", 0},    {8, "99", 42},  {0, "x", 42}, {1, "x", 42},  {7, "x", 42},
               {16, "m", 0},   {16, "", 42},   {32, "", 42}};
  for (const auto& row : cases) {
    const auto result = describe(row.type, row.name);
    EXPECT_EQ(result.error_code, row.error) << row.type << row.name;
    EXPECT_TRUE(result.configs.empty());
  }
}

// Any group has the settings of groups, set or not, whether there is such a group or not.
TEST_F(ConfigsTest, Groups) {
  constexpr std::string_view kSession = "consumer.session.timeout.ms";
  EXPECT_EQ(describe(32, "g").configs.size(), 3u);
  EXPECT_EQ(shown(32, "g", kSession).substr(0, 7), "45000/5");
  EXPECT_EQ(alter(32, "g", {{0, kSession, "50000"}}), 0);
  EXPECT_EQ(shown(32, "g", kSession).substr(0, 7), "50000/8");
  EXPECT_EQ(shown(32, "h", kSession).substr(0, 7), "45000/5");
  for (size_t core = 0; core < 2; ++core) {
    EXPECT_EQ(broker->catalog_of(core).group_overrides("g").size(), 1u);
  }
  EXPECT_EQ(alter(32, "g", {{0, kSession, "44999"}}), 40);
  EXPECT_EQ(alter(32, "g", {{2, kSession, "50000"}}), 40);
  EXPECT_EQ(alter(32, "g", {{0, "consumer.heartbeat.interval.ms", "x"}}), 40);
  EXPECT_EQ(alter(32, "g", {{0, kSession, "60000"}}, true), 0);  // validate only
  EXPECT_EQ(shown(32, "g", kSession).substr(0, 7), "50000/8");
  int8_t group_type = 32;
  const auto listed = client->call<wire::ListConfigResourcesResponse>(
      wire::ListConfigResourcesRequest{.resource_types = {&group_type, 1}}, 1);
  ASSERT_EQ(listed.config_resources.size(), 1u);
  EXPECT_EQ(listed.config_resources[0].resource_name, "g");
  EXPECT_EQ(listed.config_resources[0].resource_type, 32);
  EXPECT_EQ(alter(32, "g", {{1, kSession, std::nullopt}}), 0);
  EXPECT_TRUE(broker->catalog_of(1).group_configs().empty());
}

TEST_F(ConfigsTest, AlterTopic) {
  EXPECT_EQ(alter(2, "t", {{0, "retention.ms", "1000000"}, {2, "cleanup.policy", "compact"}}), 0);
  EXPECT_EQ(shown(2, "t", "cleanup.policy").substr(0, 16), "delete,compact/1");
  EXPECT_TRUE(broker->catalog_of(1).find("t")->config.compacts());
  EXPECT_EQ(alter(2, "t", {{3, "cleanup.policy", "delete"}, {1, "retention.ms", std::nullopt}}), 0);
  EXPECT_EQ(shown(2, "t", "cleanup.policy").substr(0, 9), "compact/1");
  EXPECT_EQ(shown(2, "t", "retention.ms").substr(0, 11), "604800000/5");
  EXPECT_EQ(alter(2, "t", {{3, "cleanup.policy", "compact"}}), 0);
  EXPECT_EQ(shown(2, "t", "cleanup.policy").substr(0, 2), "/1");
  EXPECT_EQ(alter(2, "t", {{0, "retention.ms", "5"}}, true), 0);  // validate only
  EXPECT_EQ(shown(2, "t", "retention.ms").substr(0, 11), "604800000/5");
}

TEST_F(ConfigsTest, AlterRefusals) {
  const struct {
    int type;
    std::string_view name;
    std::vector<Op> ops;
    int error;
  } cases[] = {
      {2, "t", {{2, "retention.ms", "1"}}, 40},
      {2, "t", {{2, "cleanup.policy", "bad"}}, 40},
      {2, "t", {{0, "no.such.config", "1"}}, 40},
      {2, "t", {{1, "no.such.config", std::nullopt}}, 0},
      {2, "t", {{0, "retention.ms", "abc"}}, 40},
      {2, "t", {{0, "retention.ms", std::nullopt}}, 42},
      {2, "t", {{0, "retention.ms", ""}}, 40},
      {2, "t", {{0, "retention.ms", "1"}, {0, "retention.ms", "2"}}, 42},
      {2, "t", {{1, "segment.jitter.ms", "5"}}, 0},
      {2, "t", {}, 0},
      {2, "t", {{4, "retention.ms", "1"}}, 42},  // Kafka: -1, and its controller stalls
      {2, "t", {{-1, "retention.ms", "1"}}, 42},
      {2, "none", {{0, "retention.ms", "1"}}, 3},
      {2, "a/b", {{0, "retention.ms", "1"}}, 17},
      {2, "", {{0, "retention.ms", "1"}}, 42},
      {4, "1", {{0, "num.partitions", "3"}}, 42},
      {4, "", {{0, "log.cleaner.threads", "2"}}, 42},
      {4, "", {{0, "log.cleaner.dedupe.buffer.size", "1"}}, 42},
      {4, "1", {{0, "message.max.bytes", "x"}}, 42},
      {4, "99", {{0, "message.max.bytes", "1"}}, 42},
      {4, "abc", {{0, "message.max.bytes", "1"}}, 42},
      {8, "1", {{0, "kafka", "DEBUG"}}, 40},
      {32, "g", {{0, "none", "1"}}, 40},
      {32, "", {{0, "none", "1"}}, 42},
      {16, "m", {{0, "interval.ms", "1"}}, 42},
      {0, "x", {{0, "a", "b"}}, 42},
      {99, "x", {{0, "a", "b"}}, 42},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(alter(row.type, row.name, row.ops, true), row.error) << row.type << row.name;
    EXPECT_EQ(alter(row.type, row.name, row.ops), row.error) << row.type << row.name;
  }
  EXPECT_TRUE(broker->catalog_of(0).find("t")->overrides.empty());
}

TEST_F(ConfigsTest, SameResourceTwiceIsRefusedTwiceAndOthersGoOn) {
  IncrementalAlterConfigsRequest::Config config{"retention.ms", 0, "1"};
  IncrementalAlterConfigsRequest::Resource resources[3] = {
      {2, "t", {&config, 1}}, {2, "t", {&config, 1}}, {2, "compacted", {&config, 1}}};
  IncrementalAlterConfigsRequest request;
  request.resources = {resources, 3};
  const auto response = client->call<IncrementalAlterConfigsResponse>(request, 1);
  ASSERT_EQ(response.responses.size(), 3u);
  EXPECT_EQ(response.responses[0].error_code, 42);
  EXPECT_EQ(response.responses[1].error_code, 42);
  EXPECT_EQ(response.responses[2].error_code, 0);
}

TEST_F(ConfigsTest, BrokerDefaultsReachTopicsAndTheirSources) {
  EXPECT_EQ(alter(4, "", {{0, "log.retention.ms", "9"}}), 0);
  EXPECT_EQ(shown(2, "t", "retention.ms"), "9/3 <- log.retention.ms=9/3");
  EXPECT_EQ(shown(4, "", "log.retention.ms"), "9/3 <- log.retention.ms=9/3");
  EXPECT_EQ(alter(4, "1", {{0, "log.retention.ms", "8"}}), 0);
  EXPECT_EQ(shown(2, "t", "retention.ms").substr(0, 3), "8/2");
  EXPECT_EQ(broker->catalog_of(1).find("t")->config.retention_ms, 8);
  EXPECT_EQ(broker->catalog_of(1).find("compacted")->config.retention_ms, 604'800'000);
  EXPECT_EQ(alter(4, "1", {{1, "log.retention.ms", std::nullopt}}), 0);
  EXPECT_EQ(broker->catalog_of(1).find("t")->config.retention_ms, 9);
}

TEST_F(ConfigsTest, SettingsOfCompactionChangeWhileTheBrokerRuns) {
  constexpr std::string_view kRate = "log.cleaner.io.max.bytes.per.second";
  const std::string unset = shown(4, "1", kRate);
  EXPECT_EQ(alter(4, "", {{0, kRate, "5000000"}}), 0);
  EXPECT_EQ(shown(4, "1", kRate).substr(0, 9), "5000000/3");
  EXPECT_EQ(alter(4, "1", {{0, kRate, "1"}, {0, "log.cleaner.backoff.ms", "10"}}), 0);
  EXPECT_EQ(shown(4, "1", kRate).substr(0, 3), "1/2");
  EXPECT_FALSE(describe(4, "1", {kRate}).configs[0].read_only);
  for (const size_t core : {size_t{0}, size_t{1}}) {
    partition::CleanerConfig config;
    broker->catalog_of(core).apply_overrides(config);
    EXPECT_EQ(config, (partition::CleanerConfig{.backoff_ms = 10, .bytes_per_second = 1}));
  }
  EXPECT_EQ(alter(4, "1", {{1, kRate, std::nullopt}}), 0);
  EXPECT_EQ(alter(4, "", {{1, kRate, std::nullopt}}), 0);
  EXPECT_EQ(shown(4, "1", kRate), unset);
}

TEST_F(ConfigsTest, ReplaceResetsWhatIsNotNamed) {
  for (int16_t version = 0; version <= 2; ++version) {
    EXPECT_EQ(alter(2, "t", {{0, "retention.ms", "5"}, {0, "segment.ms", "6"}}), 0);
    EXPECT_EQ(replace(2, "t", {{0, "retention.ms", "7"}}, true, version), 0);
    EXPECT_EQ(broker->catalog_of(1).find("t")->config.retention_ms, 5) << "validate only";
    EXPECT_EQ(replace(2, "t", {{0, "retention.ms", "7"}}, false, version), 0);
    EXPECT_EQ(shown(2, "t", "retention.ms"), "7/1 <- retention.ms=7/1");
    EXPECT_EQ(shown(2, "t", "segment.ms"), "604800000/5");
  }
  EXPECT_EQ(replace(2, "t", {}), 0);
  EXPECT_TRUE(broker->catalog_of(1).find("t")->overrides.empty());
  EXPECT_EQ(alter(4, "", {{0, "log.retention.ms", "9"}}), 0);
  EXPECT_EQ(replace(4, "", {{0, "log.segment.bytes", "2000000"}}), 0);
  EXPECT_EQ(shown(4, "", "log.retention.ms"), "none");
  EXPECT_EQ(shown(2, "t", "segment.bytes").substr(0, 9), "2000000/3");
}

TEST_F(ConfigsTest, ReplaceRefusals) {
  EXPECT_EQ(alter(2, "t", {{0, "segment.ms", "6"}}), 0);
  const struct {
    int type;
    std::string_view name;
    std::vector<Op> ops;
    int error;
  } cases[] = {
      {2, "t", {{0, "no.such.config", "1"}}, 40},
      {2, "t", {{0, "retention.ms", "x"}}, 40},
      {2, "t", {{0, "retention.ms", std::nullopt}}, 42},
      {2, "t", {{0, "retention.ms", "1"}, {0, "retention.ms", "2"}}, 42},
      {2, "none", {{0, "retention.ms", "1"}}, 3},
      {2, "a/b", {{0, "retention.ms", "1"}}, 17},
      {2, "", {{0, "retention.ms", "1"}}, 42},
      {4, "1", {{0, "num.partitions", "3"}}, 42},
      {4, "99", {{0, "message.max.bytes", "1"}}, 42},
      {8, "1", {{0, "kafka", "DEBUG"}}, 42},
      {16, "m", {{0, "interval.ms", "1"}}, 42},
      {32, "g", {{0, "none", "1"}}, 40},
      {0, "x", {{0, "a", "b"}}, 42},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(replace(row.type, row.name, row.ops, true), row.error) << row.type << row.name;
    EXPECT_EQ(replace(row.type, row.name, row.ops), row.error) << row.type << row.name;
  }
  EXPECT_EQ(broker->catalog_of(0).find("t")->overrides.size(), 1u);
}

// Kafka never answers this one.
TEST_F(ConfigsTest, ReplacingOneResourceTwiceIsRefused) {
  wire::AlterConfigsRequest::Config config{"retention.ms", "1"};
  wire::AlterConfigsRequest::Resource resources[2] = {{2, "t", {&config, 1}},
                                                      {2, "t", {&config, 1}}};
  wire::AlterConfigsRequest request;
  request.resources = {resources, 2};
  const auto response = client->call<wire::AlterConfigsResponse>(request, 2);
  ASSERT_EQ(response.responses.size(), 2u);
  EXPECT_EQ(response.responses[0].error_code, 42);
  EXPECT_EQ(response.responses[1].error_code, 42);
}

}  // namespace
}  // namespace weir::handlers
