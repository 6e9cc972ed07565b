// Changes through the writer: the answer comes when every core serves the change; validation at
// core 0; conflicting changes in order; a full disk refuses and keeps the old state; a broken disk
// stops changes.
#include "engine/catalog/catalog_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/catalog/change_rules.h"
#include "engine/catalog/producer_ids.h"
#include "engine/model/limits.h"
#include "tests/engine/catalog/catalog_support.h"

namespace weir::catalog {
namespace {

using model::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CatalogWriterTest : public testing::Test {
 protected:
  explicit CatalogWriterTest() : world(1, {.core_count = 3}), node(world) {
    EXPECT_TRUE(node.start());
  }
  void TearDown() override { world.run_for(kTestSecond); }  // the last frontier may be on its way
  ErrorCode create(std::string name, int32_t partitions, Overrides overrides = {},
                   uint16_t from = 0) {
    ChangeRequest request;
    fill_create(request, std::move(name), partitions, std::move(overrides));
    EXPECT_TRUE(node.change(request, from));
    last_message = request.error_message;
    last_id = request.topic_id;
    last_serial = request.serial;
    return request.error;
  }
  ErrorCode remove(std::string name) {
    ChangeRequest request;
    request.kind = ChangeRequest::Kind::delete_topic;
    request.name = std::move(name);
    EXPECT_TRUE(node.change(request));
    return request.error;
  }

  io::sim::SimWorld world;
  TestNode node;
  std::string last_message;
  base::Uuid last_id;
  model::TopicSerial last_serial{};
};

TEST_F(CatalogWriterTest, AnswerMeansThatEveryCoreServesTheTopic) {
  node.cores[2]->delay_ns = kTestSecond;  // the slowest core decides
  const int64_t before = world.now_ns();
  EXPECT_EQ(create("clicks", 12, {{"retention.ms", "1000"}}, 1), ErrorCode::none);
  EXPECT_GE(world.now_ns() - before, kTestSecond);
  for (const auto& core : node.cores) {
    const Topic* topic = core->catalog.find("clicks");
    ASSERT_NE(topic, nullptr);
    EXPECT_EQ(topic->id, last_id);
    EXPECT_EQ(topic->serial, last_serial);
    EXPECT_EQ(topic->config.retention_ms, 1000);
    EXPECT_THAT(core->events, ElementsAre("created clicks"));
    EXPECT_EQ(core->catalog.find(last_id), topic);
    EXPECT_EQ(core->catalog.find(last_serial), topic);
  }
}

TEST_F(CatalogWriterTest, RefusesWhatTheRulesForbid) {
  EXPECT_EQ(create("a.b", 1), ErrorCode::none);
  EXPECT_EQ(create("a.b", 1), ErrorCode::topic_already_exists);
  EXPECT_EQ(create("a_b", 1), ErrorCode::invalid_topic_exception);
  EXPECT_THAT(last_message, HasSubstr("a.b"));  // names the rival
  EXPECT_EQ(create("../x", 1), ErrorCode::invalid_topic_exception);
  EXPECT_EQ(create("c", 0), ErrorCode::invalid_partitions);
  EXPECT_EQ(create("c", 10'001), ErrorCode::policy_violation);
  EXPECT_EQ(create("c", 10'000), ErrorCode::none);
  EXPECT_EQ(create("d", 1, {{"no.such", "1"}}), ErrorCode::invalid_config);
  EXPECT_THAT(last_message, HasSubstr("no.such"));
  EXPECT_EQ(create("d", 1, {{"segment.ms", "0"}}), ErrorCode::invalid_config);
  EXPECT_EQ(remove("nothing"), ErrorCode::unknown_topic_or_partition);
  EXPECT_EQ(node.catalog().topic_count(), 2u);
  EXPECT_EQ(node.catalog().partition_count(), 10'001);
}

TEST_F(CatalogWriterTest, RacingCreatesOfOneNameHaveOneWinner) {
  ChangeRequest requests[3];
  for (uint16_t i = 0; i < 3; ++i) {
    fill_create(requests[i], "raced", 1 + i);
    node.send(requests[i], i);
  }
  world.run_for(kTestSecond);
  int created = 0;
  for (const ChangeRequest& request : requests) {
    ASSERT_FALSE(request.away());
    if (request.error == ErrorCode::none) ++created;
    EXPECT_TRUE(request.error == ErrorCode::none ||
                request.error == ErrorCode::topic_already_exists);
  }
  EXPECT_EQ(created, 1);
}

TEST_F(CatalogWriterTest, ManyChangesShareRecordsAndEachIsAnswered) {
  std::vector<std::unique_ptr<ChangeRequest>> requests;
  for (int i = 0; i < 600; ++i) {
    requests.push_back(std::make_unique<ChangeRequest>());
    fill_create(*requests.back(), "topic-" + std::to_string(i), 2);
    node.send(*requests.back(), static_cast<uint16_t>(i % 3));
  }
  world.run_for(kTestSecond);
  for (const auto& request : requests) {
    ASSERT_FALSE(request->away());
    EXPECT_EQ(request->error, ErrorCode::none);
  }
  for (const auto& core : node.cores) EXPECT_EQ(core->catalog.topic_count(), 600u);
}

TEST_F(CatalogWriterTest, DeletedAndCreatedAgainIsAnotherTopic) {
  EXPECT_EQ(create("t", 3), ErrorCode::none);
  const base::Uuid first_id = last_id;
  const model::TopicSerial first_serial = last_serial;
  EXPECT_EQ(remove("t"), ErrorCode::none);
  EXPECT_EQ(node.catalog(2).find("t"), nullptr);
  EXPECT_EQ(create("t", 1), ErrorCode::none);
  EXPECT_NE(last_id, first_id);
  EXPECT_GT(last_serial, first_serial);
  EXPECT_EQ(node.catalog().find(first_serial), nullptr);
  EXPECT_EQ(node.catalog().find(first_id), nullptr);
  EXPECT_THAT(node.cores[1]->events, ElementsAre("created t", "deleted t", "created t"));
}

TEST_F(CatalogWriterTest, PartitionsOnlyGrow) {
  EXPECT_EQ(create("t", 3), ErrorCode::none);
  for (const auto& [count, expected] : {std::pair{3, ErrorCode::invalid_partitions},
                                        {2, ErrorCode::invalid_partitions},
                                        {20'000, ErrorCode::policy_violation},
                                        {5, ErrorCode::none}}) {
    ChangeRequest request;
    request.kind = ChangeRequest::Kind::create_partitions;
    request.name = "t";
    request.partition_count = count;
    EXPECT_TRUE(node.change(request));
    EXPECT_EQ(request.error, expected) << count;
  }
  EXPECT_EQ(node.catalog(1).find("t")->partition_count, 5);
  EXPECT_THAT(node.cores[1]->events, ElementsAre("created t", "partitions t 3 5"));
}

TEST_F(CatalogWriterTest, InternalTopicsStay) {
  ChangeRequest request;
  fill_internal_topic(node.catalog().settings(), "__consumer_offsets", request);
  EXPECT_TRUE(node.change(request));
  EXPECT_EQ(request.error, ErrorCode::none);
  const Topic* topic = node.catalog(1).find("__consumer_offsets");
  ASSERT_NE(topic, nullptr);
  EXPECT_TRUE(topic->internal);
  EXPECT_TRUE(topic->config.compacts());
  EXPECT_EQ(topic->partition_count, 50);
  EXPECT_EQ(remove("__consumer_offsets"), ErrorCode::invalid_topic_exception);
}

TEST_F(CatalogWriterTest, ConfigChangesReachTopicsThatAreTouchedOnly) {
  EXPECT_EQ(create("own", 1, {{"retention.ms", "5000"}}), ErrorCode::none);
  EXPECT_EQ(create("default", 1), ErrorCode::none);
  const ConfigOp op{.kind = 0, .name = "log.retention.ms", .value = "7000"};
  ChangeRequest request;
  request.kind = ChangeRequest::Kind::alter_broker_config;
  request.ops = {op};
  EXPECT_TRUE(node.change(request));
  EXPECT_EQ(request.error, ErrorCode::none) << request.error_message;
  EXPECT_EQ(node.catalog(2).find("own")->config.retention_ms, 5000);
  EXPECT_EQ(node.catalog(2).find("default")->config.retention_ms, 7000);
  EXPECT_THAT(node.cores[2]->events,
              ElementsAre("created own", "created default", "config default", "broker config"));

  ChangeRequest topic_request;
  topic_request.kind = ChangeRequest::Kind::alter_topic_config;
  topic_request.name = "own";
  topic_request.ops = {ConfigOp{.kind = 1, .name = "retention.ms", .value = {}}};
  EXPECT_TRUE(node.change(topic_request));
  EXPECT_EQ(topic_request.error, ErrorCode::none);
  EXPECT_EQ(node.catalog(2).find("own")->config.retention_ms, 7000);
  EXPECT_EQ(node.cores[2]->events.back(), "config own");
}

TEST_F(CatalogWriterTest, FullDiskRefusesAndKeepsTheOldState) {
  EXPECT_EQ(create("before", 1), ErrorCode::none);
  world.run_for(kTestSecond);
  const auto file = world.disk().content("/data/catalog.log");
  world.disk().set_size_bytes(world.disk().used_bytes());
  std::string big = "0:1";
  while (big.size() < 30'000) big += ",0:1";
  EXPECT_EQ(create("during", 1, {{"leader.replication.throttled.replicas", big}}),
            ErrorCode::kafka_storage_error);
  EXPECT_EQ(node.catalog().find("during"), nullptr);
  EXPECT_FALSE(node.writer->broken());
  world.disk().set_size_bytes(uint64_t{1} << 30);
  EXPECT_EQ(create("after", 1), ErrorCode::none);
  EXPECT_EQ(summary(node.catalog(1)), "after:1{} before:1{}");
  EXPECT_TRUE(node.stop());
  const auto now = read_log(world.disk().content("/data/catalog.log"), "catalog.log");
  ASSERT_TRUE(now) << now.error().detail;
  EXPECT_EQ(now->image.changes.size(), 2u);
}

TEST_F(CatalogWriterTest, FullDiskTakesChangesWhileThereIsAReserve) {
  EXPECT_EQ(create("before", 1), ErrorCode::none);
  partition::Config config;
  config.reserve_bytes = partition::SpaceReserve::kStep;
  partition::Metrics metrics;
  log::SegmentPool pool(world.core(0), "/data/pool", {});
  partition::SpaceReserve reserve(world.core(0), config, metrics, pool, "/data");
  node.writer->use_reserve(reserve);
  reserve.start();
  world.run_for(kTestSecond);
  ASSERT_EQ(reserve.held(), partition::SpaceReserve::kStep);
  world.disk().set_size_bytes(world.disk().used_bytes());
  EXPECT_EQ(remove("before"), ErrorCode::none);
  EXPECT_EQ(reserve.held(), 0u);
  EXPECT_EQ(summary(node.catalog(1)), "");
  world.disk().set_size_bytes(world.disk().used_bytes());
  std::string big = "0:1";
  while (big.size() < 30'000) big += ",0:1";
  EXPECT_EQ(create("during", 1, {{"leader.replication.throttled.replicas", big}}),
            ErrorCode::kafka_storage_error);
  EXPECT_FALSE(node.writer->broken());
  world.disk().set_size_bytes(uint64_t{1} << 30);
  EXPECT_EQ(create("after", 1), ErrorCode::none);
  reserve.stop();
  world.run_for(kTestSecond);
  EXPECT_TRUE(reserve.closed());
}

TEST_F(CatalogWriterTest, BrokenDiskStopsChangesButNotReads) {
  EXPECT_EQ(create("before", 1), ErrorCode::none);
  world.run_for(kTestSecond);
  world.faults().write_error = 1;
  EXPECT_EQ(create("during", 1), ErrorCode::kafka_storage_error);
  world.faults().write_error = 0;
  EXPECT_TRUE(node.writer->broken());
  EXPECT_EQ(create("after", 1), ErrorCode::kafka_storage_error);
  EXPECT_NE(node.catalog(1).find("before"), nullptr);
  EXPECT_TRUE(node.stop());
}

// Asks for ids one after the other.
struct IdTaker {
  explicit IdTaker(ProducerIds& source) : ids(source) { wait.bind<&IdTaker::on_id>(*this); }
  void on_id(ProducerIds::Wait& answered) {
    EXPECT_EQ(answered.error, ErrorCode::none);
    taken.push_back(answered.id.value());
    if (taken.size() < wanted) ids.allocate(wait);
  }
  ProducerIds& ids;
  ProducerIds::Wait wait;
  std::vector<int64_t> taken;
  size_t wanted = 0;
};

TEST_F(CatalogWriterTest, ProducerIdsNeverRepeatOnAnyCoreOrAfterARestart) {
  std::vector<int64_t> all;
  {
    std::vector<std::unique_ptr<ProducerIds>> sources;
    std::vector<std::unique_ptr<IdTaker>> takers;
    for (uint16_t i = 0; i < 3; ++i) {
      sources.push_back(std::make_unique<ProducerIds>(world.core(i)));
      takers.push_back(std::make_unique<IdTaker>(*sources.back()));
      takers.back()->wanted = 1'500;
      takers.back()->ids.allocate(takers.back()->wait);
    }
    world.run_for(10 * kTestSecond);
    for (const auto& taker : takers) {
      EXPECT_EQ(taker->taken.size(), 1'500u);
      all.insert(all.end(), taker->taken.begin(), taker->taken.end());
    }
    EXPECT_TRUE(node.stop());
  }
  node.writer.reset();
  node.cores.clear();
  world.crash(io::sim::CrashKind::power_cut);
  world.restart(1);
  TestNode again(world);
  ASSERT_TRUE(again.start());
  ProducerIdBlock block;
  EXPECT_TRUE(again.reserve(block));
  EXPECT_GT(block.first.value(), *std::ranges::max_element(all));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_TRUE(again.stop());
}

}  // namespace
}  // namespace weir::catalog
