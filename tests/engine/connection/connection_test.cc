// Proves what a client sees of a connection: the same answers however its bytes are cut, in order,
// requests behind a waiting one unprocessed, and a closed socket for what is no request, for
// slowness, for a full table; and that no client can make the broker keep what it does not read.

#include "engine/connection/connection.h"

#include <gtest/gtest.h>

#include "engine/wire/messages/api_versions.h"
#include "engine/wire/messages/fetch.h"
#include "engine/wire/messages/list_offsets.h"
#include "engine/wire/messages/produce.h"
#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using wire::ApiVersionsRequest;
using wire::ApiVersionsResponse;
using wire::FetchRequest;
using wire::FetchResponse;
using wire::ListOffsetsRequest;
using wire::ListOffsetsResponse;

class ConnectionTest : public testing::Test {
 protected:
  void start(io::sim::SimOptions options = {}) {
    broker = std::make_unique<TestBroker>(1, options);
    broker->connection_config = config;
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }
  void append(const TestBuffer& bytes) { stream.insert(stream.end(), bytes.begin(), bytes.end()); }
  TestBuffer api_versions(int32_t id) { return client->frame(ApiVersionsRequest{}, 0, id); }
  TestBuffer fetch(int32_t id, int32_t wait_ms) {
    FetchRequest::Partition partition{.partition_max_bytes = 1 << 20};
    FetchRequest::Topic topic{.topic = "t", .partitions = {&partition, 1}};
    FetchRequest request{.max_wait_ms = wait_ms, .min_bytes = 1, .topics = {&topic, 1}};
    return client->frame(request, 11, id);
  }
  TestBuffer raw(std::initializer_list<int> bytes) {
    TestBuffer out;
    for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
    return out;
  }
  connection::Metrics& metrics() { return broker->cores[0]->connection_metrics; }
  size_t memory_used() { return broker->cores[0]->acceptor.budget().size_used(); }
  int64_t now() { return broker->world.now_ns(); }

  connection::Config config;
  std::unique_ptr<TestBroker> broker;
  std::unique_ptr<TestClient> client;
  TestBuffer stream;
};

TEST_F(ConnectionTest, AHundredRequestsInOneSegmentAreAnsweredInOrder) {
  start();
  for (int32_t i = 0; i < 100; ++i) append(api_versions(i));
  client->send_bytes(stream);
  for (int32_t i = 0; i < 100; ++i) (void)client->expect<ApiVersionsResponse>(0, i);
  EXPECT_EQ(memory_used(), 0u);
}

TEST_F(ConnectionTest, OneByteSegmentsGiveTheSameAnswers) {
  start();
  for (int32_t i = 0; i < 5; ++i) append(api_versions(i));
  for (const std::byte byte : stream) {
    client->send_bytes({&byte, 1});
    broker->world.run_for(kTestMs);
  }
  for (int32_t i = 0; i < 5; ++i) (void)client->expect<ApiVersionsResponse>(0, i);
}

TEST_F(ConnectionTest, AThousandPipelinedRequestsAreHeldBackNotDropped) {
  start();
  for (int32_t i = 0; i < 1000; ++i) append(i % 3 == 0 ? fetch(i, 0) : api_versions(i));
  client->send_bytes(stream);
  for (int32_t i = 0; i < 1000; ++i) {
    if (i % 3 == 0) (void)client->expect<FetchResponse>(11, i);
    else (void)client->expect<ApiVersionsResponse>(0, i);
  }
  EXPECT_EQ(memory_used(), 0u);
}

TEST_F(ConnectionTest, WhatComesBehindAWaitingFetchIsNotProcessed) {
  start();
  append(fetch(1, 2000));
  const TestBuffer batch = log::make_batch(1);
  wire::ProduceRequest::Partition partition{.index = 1, .records = wire::Bytes(batch)};
  wire::ProduceRequest::Topic topic{.name = "t", .partition_data = {&partition, 1}};
  append(client->frame(wire::ProduceRequest{.acks = -1, .topic_data = {&topic, 1}}, 9, 2));
  client->send_bytes(stream);
  EXPECT_FALSE(client->receive(kTestSecond).has_value());
  EXPECT_TRUE(broker->log("t", 1).batches.empty());
  (void)client->expect<FetchResponse>(11, 1);
  (void)client->expect<wire::ProduceResponse>(9, 2);
}

TEST_F(ConnectionTest, WhatIsNoRequestClosesAfterEarlierAnswers) {
  start();
  const TestBuffer cases[] = {
      raw({0, 0, 0, 10, 0, 99, 0, 0, 0, 0, 0, 1, 0xff, 0xff}),      // unknown api
      raw({0, 0, 0, 10, 0, 3, 0, 99, 0, 0, 0, 1, 0xff, 0xff}),      // unknown version
      raw({0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 1, 0xff, 0xff}),       // Produce 2: advertised only
      raw({0, 0, 0, 10, 0, 1, 0, 4, 0, 0, 0, 1, 0xff, 0xff}),       // Fetch without a body
      raw({0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0x7f, 0xff}),      // client id beyond the frame
      raw({0, 0, 0, 9}), raw({0xff, 0xff, 0xff, 0xff}), raw({0x7f, 0xff, 0xff, 0xff}),
      raw({'G', 'E', 'T', ' ', '/', ' ', 'H'}), raw({0x16, 3, 1, 2, 0, 1, 0})};
  for (const TestBuffer& bad : cases) {
    TestClient other(*broker);
    TestBuffer bytes = other.frame(ApiVersionsRequest{}, 0, 5);
    bytes.insert(bytes.end(), bad.begin(), bad.end());
    other.send_bytes(bytes);
    (void)other.expect<ApiVersionsResponse>(0, 5);
    EXPECT_TRUE(other.wait_closed(kTestSecond));
    EXPECT_TRUE(other.socket().received().empty());
  }
  EXPECT_EQ(memory_used(), 0u);
  // Nobody else is harmed.
  client->send_bytes(api_versions(1));
  (void)client->expect<ApiVersionsResponse>(0, 1);
}

TEST_F(ConnectionTest, HalfClosedClientsGetTheirAnswers) {
  start();
  append(api_versions(1));
  append(fetch(2, 60'000));
  append(api_versions(3));
  client->send_bytes(stream);
  client->socket().finish_sending();
  (void)client->expect<ApiVersionsResponse>(0, 1);
  (void)client->expect<FetchResponse>(11, 2);  // without waiting
  (void)client->expect<ApiVersionsResponse>(0, 3);
  EXPECT_TRUE(client->wait_closed());
}

TEST_F(ConnectionTest, AResetAtEveryByteReleasesEverything) {
  start();
  append(api_versions(1));
  append(fetch(2, 60'000));
  append(api_versions(3));
  for (size_t size = 0; size <= stream.size(); ++size) {
    for (const bool reset : {true, false}) {
      TestClient other(*broker);
      other.send_bytes(std::span(stream).first(size));
      broker->world.run_for(10 * kTestMs);
      reset ? other.socket().reset() : other.socket().close();
      broker->world.run_for(kTestSecond);
      ASSERT_EQ(broker->cores[0]->acceptor.connection_count(), 1u) << size;
      ASSERT_EQ(memory_used(), 0u) << size;
    }
  }
}

TEST_F(ConnectionTest, IdleAndSlowClientsAreClosed) {
  config.idle_ms_max = 100'000;
  start();
  int64_t before = now();
  EXPECT_TRUE(client->wait_closed(200 * kTestSecond));
  EXPECT_NEAR(static_cast<double>(now() - before), 100e9, 2e9);

  TestClient half_length(*broker);
  half_length.send_bytes(raw({0, 0, 0}));
  before = now();
  EXPECT_TRUE(half_length.wait_closed(200 * kTestSecond));
  EXPECT_NEAR(static_cast<double>(now() - before), 10e9, 1e9);

  // One byte every ten seconds.
  TestClient slow(*broker);
  const TestBuffer request = slow.frame(ApiVersionsRequest{}, 0, 5);
  slow.send_bytes(std::span(request).first(8));
  before = now();
  for (size_t i = 8; i < request.size() && !slow.closed; ++i) {
    broker->world.run_for(10 * kTestSecond);
    slow.send_bytes(std::span(request).subspan(i, 1));
  }
  EXPECT_TRUE(slow.closed);
  EXPECT_LT(now() - before, 60 * kTestSecond);
  EXPECT_EQ(metrics().timeouts, 3u);
}

TEST_F(ConnectionTest, AReaderThatNeverReadsIsClosed) {
  io::sim::SimOptions options;
  options.faults.network_delay_ns = 5 * kTestMs;
  start(options);
  broker->home("t", 0).append(broker->log("t", 0), log::make_batch(1, 1000, 500'000));
  client->socket().set_reading(false);
  for (int32_t i = 0; i < 200; ++i) append(fetch(i, 0));
  client->send_bytes(stream);
  broker->world.run_for(10 * kTestSecond);
  EXPECT_LE(broker->home("t", 0).leases, 4u);  // 2 MB wait to be sent, not 100
  broker->world.run_for(60 * kTestSecond);
  EXPECT_EQ(metrics().timeouts, 1u);
  EXPECT_EQ(broker->cores[0]->acceptor.connection_count(), 0u);
  EXPECT_EQ(broker->home("t", 0).leases, 0u);
  EXPECT_EQ(memory_used(), 0u);
}

TEST_F(ConnectionTest, LargeRequestsWaitForMemory) {
  config.memory_size_max = 4 << 20;
  config.request_size_max = 3 << 20;
  start();
  broker->world.faults().short_transfer = 0;
  broker->home("t", 0).hold = true;
  const TestBuffer batch = log::make_batch(1, 1'700'000'000'000, 1'000'000);
  wire::ProduceRequest::Partition partition{.index = 0, .records = wire::Bytes(batch)};
  wire::ProduceRequest::Topic topic{.name = "t", .partition_data = {&partition, 1}};
  const wire::ProduceRequest request{.acks = -1, .topic_data = {&topic, 1}};
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int32_t i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<TestClient>(*broker));
    clients.back()->send(request, 9, i);
  }
  broker->world.run_for(5 * kTestSecond);
  FakePartitions& partitions = broker->home("t", 0);
  EXPECT_GE(partitions.held_count(), 2u);
  EXPECT_LE(partitions.held_count(), 3u);
  EXPECT_LE(memory_used(), size_t{4} << 20);
  EXPECT_GT(metrics().memory_waits, 0u);
  // Small requests are still served.
  client->send_bytes(api_versions(1));
  (void)client->expect<ApiVersionsResponse>(0, 1);
  partitions.hold = false;
  while (partitions.held_count() > 0) partitions.let_go(0);
  for (int32_t i = 0; i < 8; ++i)
    (void)clients[static_cast<size_t>(i)]->expect<wire::ProduceResponse>(9, i);
  EXPECT_EQ(broker->log("t", 0).batches.size(), 8u);
  EXPECT_EQ(memory_used(), 0u);
}

TEST_F(ConnectionTest, LimitsOfConnections) {
  config.connections_per_address_max = 3;
  start();
  TestClient second(*broker);
  TestClient third(*broker);
  TestClient fourth(*broker);
  EXPECT_TRUE(fourth.wait_closed(kTestSecond));
  EXPECT_EQ(metrics().refused, 1u);
  second.socket().close();
  broker->world.run_for(kTestSecond);
  TestClient fifth(*broker);
  fifth.send(ApiVersionsRequest{}, 0, 3);
  (void)fifth.expect<ApiVersionsResponse>(0, 3);
}

TEST_F(ConnectionTest, StoppingAnswersWhatIsInFlight) {
  start();
  client->send_bytes(fetch(1, 60'000));
  broker->world.run_for(kTestSecond);
  broker->cores[0]->acceptor.stop(broker->cores[0]->stopped_op);
  (void)client->expect<FetchResponse>(11, 1);
  EXPECT_TRUE(client->wait_closed());
  EXPECT_TRUE(broker->world.run_until([&] { return broker->cores[0]->stopped; }, kTestSecond));
}

TEST_F(ConnectionTest, ResetsAtRandomNeverLeakOrMixAnswers) {
  io::sim::SimOptions options{.core_count = 2};
  options.faults.reset = 0.01;
  options.faults.short_transfer = 0.5;
  options.faults.accept_error = 0.05;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    broker = std::make_unique<TestBroker>(seed, options);
    broker->start();
    for (int round = 0; round < 20; ++round) {
      client = std::make_unique<TestClient>(*broker);
      stream.clear();
      for (int32_t i = 0; i < 30; ++i) append(i % 5 == 0 ? fetch(i, 50) : api_versions(i));
      client->send_bytes(stream);
      for (int32_t i = 0; i < 30; ++i) {
        const auto response = client->receive();
        if (!response) break;
        EXPECT_EQ(base::load_be<int32_t>(response->data()), i);
      }
      client.reset();
    }
    broker->world.run_for(kTestSecond);
    for (const auto& core : broker->cores) {
      EXPECT_EQ(core->acceptor.connection_count(), 0u);
      EXPECT_EQ(core->acceptor.budget().size_used(), 0u);
    }
    broker.reset();
  }
}

}  // namespace
}  // namespace weir::handlers
