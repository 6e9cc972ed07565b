// Proves that a Produce request is split over home cores and answered once, with Kafka's code for
// each partition, that acks=0 is never answered, and that unknown outcomes close the connection.

#include "engine/handlers/produce.h"

#include <gtest/gtest.h>

#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using model::ErrorCode;
using wire::ProduceRequest;
using wire::ProduceResponse;

constexpr int64_t kNow = 1'700'000'000'000;

struct Entry {
  int32_t partition;
  wire::Records records;
};

// A request for one topic.
struct OneTopic {
  OneTopic(std::string_view name, std::vector<Entry> entries, int16_t acks = -1) {
    for (const Entry& entry : entries) partitions.push_back({entry.partition, entry.records});
    topic.name = name;
    topic.partition_data = {partitions.data(), partitions.size()};
    request.acks = acks;
    request.timeout_ms = 1000;
    request.topic_data = {&topic, 1};
  }
  std::vector<ProduceRequest::Partition> partitions;
  ProduceRequest::Topic topic;
  ProduceRequest request;
};

class ProduceTest : public testing::Test {
 protected:
  void start(io::sim::SimOptions options = {.core_count = 2}) {
    broker = std::make_unique<TestBroker>(1, options);
    broker->add_topic("compacted", 1, {{"cleanup.policy", "compact"}});
    broker->add_topic("stamped", 1, {{"message.timestamp.type", "LogAppendTime"}});
    broker->add_topic("zipped", 2, {{"compression.type", "gzip"}});
    broker->add_topic("__consumer_offsets", 1);
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }
  ProduceResponse produce(OneTopic&& one, int16_t version = 9) {
    return client->call<ProduceResponse>(one.request, version);
  }
  ProduceResponse::Partition produce_one(std::string_view topic, const TestBuffer& sent,
                                         int16_t version = 9) {
    const auto response = produce(OneTopic(topic, {{0, wire::Bytes(sent)}}), version);
    return response.responses[0].partition_responses[0];
  }

  std::unique_ptr<TestBroker> broker;
  std::unique_ptr<TestClient> client;
  const TestBuffer batch = log::make_batch(3, kNow);
};

TEST_F(ProduceTest, EveryVersionAppendsAndAnswers) {
  start();
  for (int16_t version = 3; version <= 13; ++version) {
    OneTopic one("t", {{0, wire::Bytes(batch)}, {1, wire::Bytes(batch)}});
    one.topic.topic_id = broker->cores[0]->catalog.find("t")->id;
    const auto response = client->call<ProduceResponse>(one.request, version);
    ASSERT_EQ(response.responses.size(), 1u);
    EXPECT_EQ(response.responses[0].name, version < 13 ? "t" : "");
    const auto& partitions = response.responses[0].partition_responses;
    ASSERT_EQ(partitions.size(), 2u);
    for (const auto& partition : partitions) {
      EXPECT_EQ(partition.error_code, 0);
      EXPECT_EQ(partition.base_offset, (version - 3) * 3);
      EXPECT_EQ(partition.log_append_time_ms, -1);
      EXPECT_EQ(partition.log_start_offset, version >= 5 ? 0 : -1);
      EXPECT_FALSE(partition.error_message.has_value());
    }
  }
  EXPECT_EQ(broker->log("t", 1).batches.size(), 11u);
  EXPECT_EQ(log::BatchView(broker->log("t", 1).batches.back()).last_offset(), model::Offset(32));
}

TEST_F(ProduceTest, AnswersWhenTheLastPartitionIsDone) {
  start();
  for (auto& core : broker->cores) core->partitions.hold = true;
  OneTopic one("t", {{0, wire::Bytes(batch)}, {1, wire::Bytes(batch)}});
  client->send(one.request, 9, 7);
  broker->world.run_for(kTestSecond);
  ASSERT_EQ(broker->home("t", 0).held_count(), 1u);
  broker->home("t", 0).let_go(0);
  EXPECT_FALSE(client->receive(kTestSecond).has_value());
  broker->home("t", 1).let_go(0);
  EXPECT_EQ(client->expect<ProduceResponse>(9, 7).responses.size(), 1u);
}

TEST_F(ProduceTest, OneBadPartitionLeavesTheOthersAlone) {
  start();
  TestBuffer damaged = batch;
  damaged.back() ^= std::byte{1};
  const auto response = produce(OneTopic("t", {{0, wire::Bytes(batch)},
                                               {1, wire::Bytes(damaged)},
                                               {4, wire::Bytes(batch)},
                                               {-1, wire::Bytes(batch)},
                                               {2, std::nullopt},
                                               {3, wire::Bytes(batch)}}));
  const auto& partitions = response.responses[0].partition_responses;
  const ErrorCode expected[] = {ErrorCode::none,
                                ErrorCode::corrupt_message,
                                ErrorCode::unknown_topic_or_partition,
                                ErrorCode::unknown_topic_or_partition,
                                ErrorCode::invalid_record,
                                ErrorCode::none};
  ASSERT_EQ(partitions.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(partitions[i].error_code, static_cast<int16_t>(expected[i])) << i;
    EXPECT_EQ(partitions[i].base_offset, expected[i] == ErrorCode::none ? 0 : -1) << i;
    EXPECT_EQ(partitions[i].log_start_offset, expected[i] == ErrorCode::none ? 0 : -1) << i;
  }
}

TEST_F(ProduceTest, UnknownTopicsByNameAndById) {
  start();
  EXPECT_EQ(produce_one("nope", batch).error_code, 3);
  EXPECT_EQ(produce_one("nope", batch, 13).error_code, 100);
  EXPECT_EQ(produce_one("__consumer_offsets", batch).error_code, 17);
}

TEST_F(ProduceTest, APartitionNamedTwiceIsNotWrittenAtAllAndAnsweredOnce) {
  start();
  const auto response = produce(OneTopic(
      "t", {{0, wire::Bytes(batch)}, {1, wire::Bytes(batch)}, {0, wire::Bytes(batch)}}));
  const auto& partitions = response.responses[0].partition_responses;
  ASSERT_EQ(partitions.size(), 2u);
  EXPECT_EQ(partitions[0].index, 0);
  EXPECT_EQ(partitions[0].error_code, 42);
  EXPECT_EQ(partitions[1].index, 1);
  EXPECT_EQ(partitions[1].error_code, 0);
  EXPECT_TRUE(broker->log("t", 0).batches.empty());
}

TEST_F(ProduceTest, ATopicNamedTwiceIsAnsweredOnce) {
  start();
  for (const auto version : std::initializer_list<int16_t>{3, 12, 13}) {
    OneTopic first("t", {{2, wire::Bytes(batch)}, {0, wire::Bytes(batch)}});
    OneTopic other("stamped", {{0, wire::Bytes(batch)}});
    OneTopic again("t", {{1, wire::Bytes(batch)}, {0, wire::Bytes(batch)}});
    OneTopic empty("compacted", {});
    ProduceRequest::Topic topics[] = {empty.topic, first.topic, other.topic, again.topic};
    for (auto& topic : topics) topic.topic_id = broker->cores[0]->catalog.find(topic.name)->id;
    first.request.topic_data = {topics, 4};
    const auto response = client->call<ProduceResponse>(first.request, version);
    ASSERT_EQ(response.responses.size(), 2u) << "one per topic, none without partitions";
    const auto& partitions = response.responses[0].partition_responses;
    ASSERT_EQ(partitions.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(partitions[i].index, (std::array{2, 0, 1})[i]);
      EXPECT_EQ(partitions[i].error_code, (std::array{0, 42, 0})[i]);
    }
    EXPECT_EQ(response.responses[1].partition_responses.size(), 1u);
    EXPECT_EQ(response.responses[1].name, version < 13 ? "stamped" : "");
  }
}

TEST_F(ProduceTest, AcksMustBeKnown) {
  start();
  const auto response = produce(OneTopic("t", {{0, wire::Bytes(batch)}}, 2));
  EXPECT_EQ(response.responses[0].partition_responses[0].error_code, 21);
  EXPECT_TRUE(broker->log("t", 0).batches.empty());
}

TEST_F(ProduceTest, AcksZeroIsNeverAnswered) {
  start();
  OneTopic silent("t", {{0, wire::Bytes(batch)}}, 0);
  client->send(silent.request, 9, 1);
  client->send(silent.request, 9, 2);
  OneTopic loud("t", {{0, wire::Bytes(batch)}}, 1);
  client->send(loud.request, 9, 3);
  const auto response = client->expect<ProduceResponse>(9, 3);
  EXPECT_EQ(response.responses[0].partition_responses[0].base_offset, 6);

  OneTopic bad("nope", {{0, wire::Bytes(batch)}}, 0);
  client->send(bad.request, 9, 4);
  EXPECT_TRUE(client->wait_closed());
  EXPECT_TRUE(client->socket().received().empty());
}

TEST_F(ProduceTest, UnknownOutcomeClosesWithoutAnswer) {
  start();
  broker->home("t", 1).outcome_unknown = true;
  OneTopic one("t", {{0, wire::Bytes(batch)}, {1, wire::Bytes(batch)}});
  client->send(one.request, 9);
  EXPECT_TRUE(client->wait_closed());
  EXPECT_TRUE(client->socket().received().empty());
}

TEST_F(ProduceTest, RecordErrorsFromVersion8WithTheRealLogStart) {
  start();
  broker->log("compacted", 0).start = model::Offset(5);
  log::BatchBuilder builder;
  builder.append(base::as_bytes("k"), std::nullopt, kNow);
  builder.append(std::nullopt, std::nullopt, kNow);
  const TestBuffer keyless = log::to_buffer(builder.finish());
  for (const auto version : std::initializer_list<int16_t>{3, 5, 7, 8, 12}) {
    const auto partition = produce_one("compacted", keyless, version);
    EXPECT_EQ(partition.error_code, 87);
    EXPECT_EQ(partition.log_start_offset, version >= 5 ? 5 : -1);
    EXPECT_EQ(partition.record_errors.size(), version >= 8 ? 1u : 0u);
    EXPECT_EQ(partition.error_message.has_value(), version >= 8);
    if (version >= 8) {
      EXPECT_EQ(partition.record_errors[0].batch_index, 1);
      EXPECT_TRUE(partition.record_errors[0].batch_index_error_message.has_value());
    }
  }
}

TEST_F(ProduceTest, LogAppendTimeIsStampedAndReported) {
  start();
  const auto partition = produce_one("stamped", batch);
  EXPECT_EQ(partition.error_code, 0);
  EXPECT_GT(partition.log_append_time_ms, kNow - 1);
  const log::BatchView stored(broker->log("stamped", 0).batches[0]);
  EXPECT_TRUE(stored.is_append_time());
  EXPECT_EQ(stored.max_timestamp(), partition.log_append_time_ms);
  EXPECT_EQ(stored.crc(), stored.computed_crc());
}

TEST_F(ProduceTest, ATopicsCodecIsWhatIsStored) {
  start();
  const TestBuffer sent[] = {log::make_batch(2, kNow, 300), log::make_batch(5, kNow, 700)};
  const auto response =
      produce(OneTopic("zipped", {{0, wire::Bytes(sent[0])}, {1, wire::Bytes(sent[1])}}));
  for (int32_t i = 0; i < 2; ++i) {
    const auto& partition = response.responses[0].partition_responses[static_cast<size_t>(i)];
    EXPECT_EQ(partition.error_code, 0);
    const TestBuffer& stored = broker->log("zipped", i).batches.at(0);
    const log::BatchView view(stored);
    EXPECT_EQ(view.compression(), log::Compression::gzip);
    EXPECT_EQ(view.computed_crc(), view.crc());
    log::Inflater inflater;
    inflater.begin(view.compression(), view.records());
    TestBuffer records(10'000);
    records.resize(inflater.read(records));
    const log::BatchView original(sent[i]);
    EXPECT_TRUE(std::ranges::equal(records, original.records()));
  }
}

TEST_F(ProduceTest, TransactionalBatchesAreRefused) {
  start();
  const TestBuffer transactional = log::make_batch(1, kNow, 10,
                                                   {.producer_id = model::ProducerId(1),
                                                    .producer_epoch = model::ProducerEpoch(0),
                                                    .base_sequence = model::Sequence(0),
                                                    .transactional = true});
  EXPECT_EQ(produce_one("t", transactional, 9).error_code, 53);
  // There is no coordinator that knows a transactional id.
  for (const auto version : std::initializer_list<int16_t>{9, 10, 11, 12}) {
    OneTopic one("t", {{0, wire::Bytes(transactional)}});
    one.request.transactional_id = "tx";
    const auto response = client->call<ProduceResponse>(one.request, version);
    EXPECT_EQ(response.responses[0].partition_responses[0].error_code, 49);
  }
}

TEST_F(ProduceTest, ZstdNeedsVersion7) {
  start();
  const TestBuffer zstd = log::compressed(batch, log::Compression::zstd);
  EXPECT_EQ(produce_one("t", zstd, 6).error_code, 76);
  EXPECT_EQ(produce_one("t", zstd, 7).error_code, 0);
  EXPECT_EQ(broker->log("t", 0).batches.size(), 1u);
}

TEST_F(ProduceTest, ErrorsOfThePartitionAreHandedOn) {
  start();
  broker->home("t", 0).append_error = ErrorCode::out_of_order_sequence_number;
  const auto partition = produce_one("t", batch);
  EXPECT_EQ(partition.error_code, 45);
  EXPECT_EQ(partition.base_offset, -1);
}

TEST_F(ProduceTest, PipelinedRequestsOverlapAndKeepTheirOrder) {
  start({.core_count = 1});
  broker->home("t", 0).hold = true;
  for (int32_t i = 0; i < 20; ++i) {
    OneTopic one("t", {{i % 4, wire::Bytes(batch)}});
    client->send(one.request, 9, i);
  }
  FakePartitions& partitions = broker->home("t", 0);
  ASSERT_TRUE(broker->world.run_until([&] { return partitions.held_count() == 20; }, kTestSecond));
  int32_t next = 0;
  for (const auto& key : partitions.order) EXPECT_EQ(key.index.value(), next++ % 4);
  // Done from last to first, answered from first to last.
  for (size_t i = 20; i > 1; --i) partitions.let_go(i - 1);
  EXPECT_FALSE(client->receive(kTestSecond).has_value());
  partitions.let_go(0);
  for (int32_t i = 0; i < 20; ++i) (void)client->expect<ProduceResponse>(9, i);
}

TEST_F(ProduceTest, AClientThatLeavesDoesNotEndItsAppends) {
  start();
  broker->home("t", 0).hold = true;
  OneTopic one("t", {{0, wire::Bytes(batch)}});
  client->send(one.request, 9);
  broker->world.run_for(kTestSecond);
  client->socket().reset();
  broker->world.run_for(kTestSecond);
  broker->home("t", 0).let_go(0);
  broker->world.run_for(kTestSecond);
  EXPECT_EQ(broker->log("t", 0).batches.size(), 1u);
}

}  // namespace
}  // namespace weir::handlers
