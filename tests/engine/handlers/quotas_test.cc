// Quotas of clients: what may be set, as Kafka 4.3.1 answers (accept/oracle); that clients which
// use more wait, on whatever core they are connected; that others do not.
#include <gtest/gtest.h>

#include <limits>

#include "engine/wire/messages/alter_client_quotas.h"
#include "engine/wire/messages/describe_client_quotas.h"
#include "engine/wire/messages/fetch.h"
#include "engine/wire/messages/metadata.h"
#include "engine/wire/messages/produce.h"
#include "tests/engine/handlers/admin_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using Alter = wire::AlterClientQuotasRequest;
using Altered = wire::AlterClientQuotasResponse;
using Describe = wire::DescribeClientQuotasRequest;
using Described = wire::DescribeClientQuotasResponse;

using Entity = std::vector<std::pair<std::string_view, wire::NullableString>>;
using AlterOp = Alter::Op;

class QuotasTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(3);
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }

  Altered::Entry alter_entry(const Entity& entity, std::vector<AlterOp> ops,
                             bool validate_only = false, int16_t version = 1) {
    std::vector<Alter::Entity> parts;
    for (const auto& [type, name] : entity) parts.push_back({type, name});
    Alter::Entry entry;
    entry.entity = {parts.data(), parts.size()};
    entry.ops = {ops.data(), ops.size()};
    Alter request;
    request.entries = {&entry, 1};
    request.validate_only = validate_only;
    const auto response = client->call<Altered>(request, version);
    EXPECT_EQ(response.entries.size(), 1u);
    EXPECT_EQ(response.entries[0].error_message.has_value(), response.entries[0].error_code != 0);
    return response.entries[0];
  }
  int alter(const Entity& entity, std::vector<AlterOp> ops, bool validate_only = false) {
    return alter_entry(entity, std::move(ops), validate_only).error_code;
  }
  void set(const Entity& entity, std::string_view key, double value) {
    EXPECT_EQ(alter(entity, {{key, value, false}}), 0);
  }

  struct Component {
    std::string_view type;
    int match_type;
    wire::NullableString match = std::nullopt;
  };
  Described describe_all(std::vector<Component> asked, bool strict = false, int16_t version = 1) {
    std::vector<Describe::Component> components;
    for (const Component& one : asked) {
      components.push_back({one.type, static_cast<int8_t>(one.match_type), one.match});
    }
    Describe request;
    request.components = {components.data(), components.size()};
    request.strict = strict;
    return client->call<Described>(request, version);
  }
  // "client-id=c user=(default): key=value", one a line, or the error.
  std::string describe(std::vector<Component> asked, bool strict = false) {
    const auto response = describe_all(std::move(asked), strict);
    if (response.error_code != 0) {
      EXPECT_TRUE(response.entries.is_null());
      return "error " + std::to_string(response.error_code);
    }
    std::string out;
    for (const auto& entry : response.entries) {
      for (const auto& part : entry.entity) {
        out += std::string(part.entity_type) + "=" +
               std::string(part.entity_name.value_or("(default)")) + " ";
      }
      for (const auto& value : entry.values) {
        out += fmt::format("{}={} ", value.key, value.value);
      }
      out.back() = '\n';
    }
    return out;
  }

  // A produce request of at least `size` bytes; the throttle time in its answer.
  int32_t produce(TestClient& from, size_t size, int16_t version = 9, int16_t acks = 1) {
    log::Buffer batch = log::make_batch(1, broker_wall_ms(), size);
    wire::ProduceRequest::Partition partition{.index = 0, .records = wire::Records(batch)};
    wire::ProduceRequest::Topic topic{.name = "t"};
    topic.partition_data = {&partition, 1};
    wire::ProduceRequest request{.acks = acks, .timeout_ms = 1000};
    request.topic_data = {&topic, 1};
    if (acks == 0) {
      from.send(request, version);
      broker->world.run_for(10 * kTestMs);
      return 0;
    }
    const auto response = from.call<wire::ProduceResponse>(request, version, 60 * kTestSecond);
    EXPECT_EQ(response.responses[0].partition_responses[0].error_code, 0);
    return response.throttle_time_ms;
  }
  struct Fetched {
    int32_t throttle_ms;
    size_t size;
    bool any_topic;
  };
  Fetched fetch(TestClient& from, int64_t offset, int32_t max_bytes = 100'000'000) {
    wire::FetchRequest::Partition partition{.partition = 0, .fetch_offset = offset,
                                            .partition_max_bytes = 100'000'000};
    wire::FetchRequest::Topic topic{.topic = "t"};
    topic.partitions = {&partition, 1};
    wire::FetchRequest request;
    request.max_wait_ms = 0;
    request.min_bytes = 1;
    request.max_bytes = max_bytes;
    request.topics = {&topic, 1};
    const auto response = from.call<wire::FetchResponse>(request, 12, 60 * kTestSecond);
    if (response.responses.empty()) return {response.throttle_time_ms, 0, false};
    return {response.throttle_time_ms, response.responses[0].partitions[0].records.size(), true};
  }
  void fill(size_t batches, size_t size) {
    for (size_t i = 0; i < batches; ++i) {
      broker->home("t", 0).append(broker->log("t", 0), log::make_batch(1, 1000, size));
    }
  }
  int64_t broker_wall_ms() { return broker->world.core(0).clock.wall_ms(); }
  int64_t now_ms() { return broker->world.core(0).clock.now().ns / kTestMs; }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;  // its client id is "test-client"
};

const Entity kClient = {{"client-id", "c"}};

TEST_F(QuotasTest, SetAndRemove) {
  for (int16_t version = 0; version <= 1; ++version) {
    const auto entry = alter_entry({{"user", "u"}, {"client-id", std::nullopt}},
                                   {{"producer_byte_rate", 1e9, false}}, false, version);
    EXPECT_EQ(entry.error_code, 0);
    ASSERT_EQ(entry.entity.size(), 2u);
    EXPECT_EQ(entry.entity[0].entity_type, "client-id");
    EXPECT_FALSE(entry.entity[0].entity_name.has_value());
    EXPECT_EQ(entry.entity[1].entity_name, "u");
    EXPECT_EQ(describe_all({}, false, version).entries.size(), 1u);
  }
  EXPECT_EQ(alter(kClient, {{"request_percentage", 5000.5, false}}, true), 0);
  EXPECT_EQ(describe({{"client-id", 0, "c"}}), "") << "validate only";
  EXPECT_EQ(alter(kClient, {{"request_percentage", 5000.5, false},
                            {"consumer_byte_rate", 1, false}}), 0);
  EXPECT_EQ(describe({{"client-id", 0, "c"}}),
            "client-id=c consumer_byte_rate=1 request_percentage=5000.5\n");
  EXPECT_EQ(alter(kClient, {{"consumer_byte_rate", 0, true}, {"producer_byte_rate", 0, true},
                            {"no_such_rate", 0, true}}), 0);
  EXPECT_EQ(describe({{"client-id", 0, "c"}}), "client-id=c request_percentage=5000.5\n");
  EXPECT_EQ(alter(kClient, {{"request_percentage", 0, true}}), 0);
  EXPECT_EQ(describe({{"client-id", 0, "c"}}), "");
  for (size_t core = 0; core < 3; ++core) {
    EXPECT_EQ(broker->catalog_of(core).client_quotas().size(), 1u);
  }
}

TEST_F(QuotasTest, Refusals) {
  const AlterOp rate{"producer_byte_rate", 1e9, false};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const struct {
    Entity entity;
    std::vector<AlterOp> ops;
  } cases[] = {
      {kClient, {{"no_such_rate", 1, false}}},
      {kClient, {{"controller_mutation_rate", 1, false}}},  // findings.md, row 1
      {kClient, {{"producer_byte_rate", 0, false}}},
      {kClient, {{"producer_byte_rate", -1, false}}},
      {kClient, {{"producer_byte_rate", 1.5, false}}},
      {kClient, {{"consumer_byte_rate", 0.5, false}}},
      {kClient, {{"producer_byte_rate", nan, false}}},
      {kClient, {{"request_percentage", nan, false}}},
      {kClient, {{"request_percentage", infinite, false}}},
      {kClient, {{"request_percentage", 0, false}}},
      {kClient, {rate, rate}},
      {kClient, {rate, {"producer_byte_rate", 0, true}}},
      {{}, {rate}},
      {{{"group", "x"}}, {rate}},
      {{{"client-id", ""}}, {rate}},
      {{{"user", ""}}, {rate}},
      {{{"ip", "10.0.0.1"}, {"user", "u"}}, {{"connection_creation_rate", 5, false}}},
      {{{"ip", "10.0.0.1"}}, {rate}},
      {{{"ip", "10.0.0.1"}}, {{"connection_creation_rate", 5, false}}},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(alter(row.entity, row.ops, true), 42);
    EXPECT_EQ(alter(row.entity, row.ops), 42);
  }
  EXPECT_EQ(describe({}), "");
  EXPECT_EQ(alter(kClient, {{"request_percentage", 0.001, false}}), 0);
}

TEST_F(QuotasTest, OneTypeTwiceTheLastCounts) {
  const auto entry = alter_entry({{"client-id", "a"}, {"client-id", "b"}},
                                 {{"producer_byte_rate", 7, false}});
  EXPECT_EQ(entry.error_code, 0);
  ASSERT_EQ(entry.entity.size(), 1u);
  EXPECT_EQ(entry.entity[0].entity_name, "b");
  EXPECT_EQ(describe({}), "client-id=b producer_byte_rate=7\n");
}

TEST_F(QuotasTest, OneEntityTwiceIsRefusedOnceAndOthersGoOn) {
  Alter::Entity names[] = {{"client-id", "a"}, {"client-id", "b"}};
  AlterOp op{"producer_byte_rate", 7, false};
  Alter::Entry entries[3];
  for (size_t i = 0; i < 3; ++i) {
    entries[i].entity = {&names[i / 2], 1};
    entries[i].ops = {&op, 1};
  }
  Alter request;
  EXPECT_TRUE(client->call<Altered>(request, 1).entries.empty());
  request.entries = {entries, 3};
  const auto response = client->call<Altered>(request, 1);
  ASSERT_EQ(response.entries.size(), 2u);
  EXPECT_EQ(response.entries[0].error_code, 42);
  EXPECT_EQ(response.entries[1].error_code, 0);
  EXPECT_EQ(describe({}), "client-id=b producer_byte_rate=7\n");
}

TEST_F(QuotasTest, Filters) {
  set({{"client-id", "c"}}, "producer_byte_rate", 1);
  set({{"client-id", std::nullopt}}, "producer_byte_rate", 2);
  set({{"user", "u"}}, "producer_byte_rate", 3);
  set({{"user", "u"}, {"client-id", "c"}}, "producer_byte_rate", 4);
  const std::string client_c = "client-id=c producer_byte_rate=1\n";
  const std::string client_any = "client-id=(default) producer_byte_rate=2\n";
  const std::string user = "user=u producer_byte_rate=3\n";
  const std::string both = "client-id=c user=u producer_byte_rate=4\n";
  EXPECT_EQ(describe({}), client_any + client_c + user + both);
  EXPECT_EQ(describe({}, true), "");
  EXPECT_EQ(describe({{"client-id", 0, "c"}}), client_c + both);
  EXPECT_EQ(describe({{"client-id", 0, "c"}}, true), client_c);
  EXPECT_EQ(describe({{"client-id", 1}}, true), client_any);
  EXPECT_EQ(describe({{"client-id", 2}}), client_any + client_c + both);
  EXPECT_EQ(describe({{"client-id", 2}}, true), client_any + client_c);
  EXPECT_EQ(describe({{"user", 0, "u"}}), user + both);
  EXPECT_EQ(describe({{"user", 0, "u"}, {"client-id", 0, "c"}}, true), both);
  EXPECT_EQ(describe({{"user", 0, "other"}}), "");
  EXPECT_EQ(describe({{"user", 1}}), "");
  EXPECT_EQ(describe({{"ip", 2}}), "");
}

TEST_F(QuotasTest, FilterRefusals) {
  EXPECT_EQ(describe({{"group", 0, "x"}}), "error 35");
  EXPECT_EQ(describe({{"", 0, "x"}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 9}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 3}}), "error 42");
  EXPECT_EQ(describe({{"client-id", -1}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 0}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 1, "x"}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 2, "x"}}), "error 42");
  EXPECT_EQ(describe({{"client-id", 0, "a"}, {"client-id", 0, "b"}}), "error 42");
  EXPECT_EQ(describe({{"ip", 0, "10.0.0.1"}, {"user", 0, "u"}}), "error 42");
}

TEST_F(QuotasTest, ProducersWaitAndAreTold) {
  set({{"client-id", "test-client"}}, "producer_byte_rate", 1000);
  // The window of 11 s may be used up at once.
  EXPECT_EQ(produce(*client, 10'000), 0);
  const int32_t throttle_ms = produce(*client, 10'000);
  EXPECT_GT(throttle_ms, 9'000);
  EXPECT_LT(throttle_ms, 10'000);
  // The connection takes nothing until then, whatever the client does.
  const int64_t before_ms = now_ms();
  EXPECT_FALSE(client->call<wire::MetadataResponse>(wire::MetadataRequest{}, 9, 60 * kTestSecond)
                   .brokers.empty());
  EXPECT_GE(now_ms() - before_ms, throttle_ms - 100);
  EXPECT_GT(produce(*client, 2'000), 1'900) << "the bucket was empty";
  EXPECT_EQ(broker->cores[0]->connection_metrics.throttles +
                broker->cores[1]->connection_metrics.throttles +
                broker->cores[2]->connection_metrics.throttles,
            2u);
}

TEST_F(QuotasTest, AQuotaHoldsForTheNodeAndNotForOthers) {
  set({{"client-id", "test-client"}}, "producer_byte_rate", 1000);
  std::vector<std::unique_ptr<TestClient>> clients;
  int32_t throttle_ms = 0;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<TestClient>(*broker));
    throttle_ms = std::max(throttle_ms, produce(*clients.back(), 3'000));
  }
  EXPECT_GT(throttle_ms, 5'000) << "together they used 18,000 bytes";
  EXPECT_EQ(fetch(*std::make_unique<TestClient>(*broker), 0).throttle_ms, 0) << "not a produce";
  set({{"client-id", "test-client"}}, "producer_byte_rate", 1e9);
  EXPECT_LE(produce(*std::make_unique<TestClient>(*broker), 3'000), 1) << "the quota was raised";
}

TEST_F(QuotasTest, ProducersWithoutAcksWaitToo) {
  set({{"client-id", std::nullopt}}, "producer_byte_rate", 1000);
  produce(*client, 20'000, 9, 0);
  const int64_t before_ms = now_ms();
  client->call<wire::MetadataResponse>(wire::MetadataRequest{}, 9, 60 * kTestSecond);
  EXPECT_GE(now_ms() - before_ms, 8'000);
}

TEST_F(QuotasTest, NobodyWaitsLongerThanClientsHavePatience) {
  set({{"client-id", "test-client"}}, "producer_byte_rate", 1);
  EXPECT_EQ(produce(*client, 100'000), kThrottleMsMax);
  const int64_t before_ms = now_ms();
  EXPECT_EQ(produce(*client, 10), kThrottleMsMax) << "the debt is still there";
  EXPECT_GE(now_ms() - before_ms, kThrottleMsMax - 100);
}

TEST_F(QuotasTest, ConsumersWaitWithEmptyHands) {
  fill(20, 1000);
  set({{"client-id", "test-client"}}, "consumer_byte_rate", 1000);
  const auto first = fetch(*client, 0);
  EXPECT_GT(first.size, 9'000u);
  EXPECT_LE(first.size, 11'000u) << "one answer is cut to a window";
  EXPECT_EQ(first.throttle_ms, 0);
  const auto second = fetch(*client, 10);
  EXPECT_FALSE(second.any_topic);
  EXPECT_GT(second.throttle_ms, 8'000);
  const auto third = fetch(*client, 10);
  EXPECT_GT(third.size, 9'000u) << "after the wait there is room for it";
  EXPECT_EQ(third.throttle_ms, 0);
}

// Kafka would send it away for ever.
TEST_F(QuotasTest, ABatchLargerThanTheWindowComesWhole) {
  fill(1, 50'000);
  set({{"client-id", "test-client"}}, "consumer_byte_rate", 1000);
  const auto first = fetch(*client, 0);
  EXPECT_GT(first.size, 50'000u);
  EXPECT_EQ(first.throttle_ms, kThrottleMsMax);
  EXPECT_FALSE(fetch(*client, 0).any_topic);
}

TEST_F(QuotasTest, WhoFindsNothingIsNotHeldUp) {
  set({{"client-id", "test-client"}}, "consumer_byte_rate", 1);
  for (int i = 0; i < 5; ++i) {
    const auto fetched = fetch(*client, 0);
    EXPECT_TRUE(fetched.any_topic);
    EXPECT_EQ(fetched.throttle_ms, 0);
  }
}

TEST_F(QuotasTest, RequestTimeIsToldAndKept) {
  // 1 µs of a core a second; a request takes ten at least.
  set({{"client-id", "test-client"}}, "request_percentage", 0.0001);
  const auto ask = [&] {
    return client->call<wire::MetadataResponse>(wire::MetadataRequest{}, 9, 60 * kTestSecond)
        .throttle_time_ms;
  };
  EXPECT_EQ(ask(), 0) << "11 µs may be used at once";
  EXPECT_EQ(ask(), kRequestThrottleMsMax);
  const int64_t before_ms = now_ms();
  EXPECT_EQ(ask(), kRequestThrottleMsMax) << "of any API";
  EXPECT_GE(now_ms() - before_ms, kRequestThrottleMsMax - 10);
}

TEST_F(QuotasTest, PipelinedRequestsWaitInLine) {
  set({{"client-id", "test-client"}}, "request_percentage", 0.0001);
  for (int32_t i = 1; i <= 4; ++i) client->send(wire::MetadataRequest{}, 9, i);
  for (int32_t i = 1; i <= 4; ++i) {
    client->expect<wire::MetadataResponse>(9, i, 60 * kTestSecond);
  }
  EXPECT_FALSE(client->closed);
}

TEST_F(QuotasTest, AThrottledConnectionCanEnd) {
  set({{"client-id", "test-client"}}, "producer_byte_rate", 1);
  EXPECT_EQ(produce(*client, 100'000), kThrottleMsMax);
  client->send(wire::MetadataRequest{}, 9, 1);
  client.reset();  // and the broker behind it, in TearDown
}

}  // namespace
}  // namespace weir::handlers
