// Proves the rules of Fetch: limits and the first batch, waiting over several home cores without
// missing min_bytes and without spinning, errors and what they do to the wait, sessions, and that
// every lease goes back after the bytes have left or the client has.

#include "engine/handlers/fetch.h"

#include <gtest/gtest.h>

#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using wire::FetchRequest;
using wire::FetchResponse;

struct Wanted {
  int32_t partition;
  int64_t offset = 0;
  int32_t size_max = 1 << 20;
};

struct Fetch {
  explicit Fetch(std::vector<Wanted> wanted, std::string_view name = "t") {
    for (const Wanted& w : wanted) {
      partitions.push_back({.partition = w.partition,
                            .fetch_offset = w.offset,
                            .partition_max_bytes = w.size_max});
    }
    topic.topic = name;
    topic.partitions = {partitions.data(), partitions.size()};
    request.topics = {&topic, 1};
    request.min_bytes = 1;
    request.max_wait_ms = 500;
  }
  std::vector<FetchRequest::Partition> partitions;
  FetchRequest::Topic topic;
  FetchRequest request;
};

size_t size_of(const FetchResponse::Partition& partition) { return partition.records.size(); }

class FetchTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<TestBroker>(1, io::sim::SimOptions{.core_count = 3});
    broker->add_topic("z", 1, {{"compression.type", "zstd"}});
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }
  void append(int32_t partition, int32_t count = 1, size_t value_size = 100) {
    broker->home("t", partition).append(broker->log("t", partition),
                                        log::make_batch(count, 1000, value_size));
  }
  FetchResponse fetch(Fetch&& f, int16_t version = 11) {
    f.topic.topic_id = broker->cores[0]->catalog.find("t")->id;
    return client->call<FetchResponse>(f.request, version);
  }
  int64_t now() const { return broker->world.now_ns(); }
  size_t leases() const {
    size_t count = 0;
    for (const auto& core : broker->cores) count += core->partitions.leases;
    return count;
  }
  size_t reads() const {
    size_t count = 0;
    for (const auto& core : broker->cores) count += core->partitions.reads;
    return count;
  }

  std::unique_ptr<TestBroker> broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(FetchTest, BytesArriveAsStoredInEveryVersion) {
  append(0, 10);
  append(0, 5);
  append(1, 3);
  TestBuffer expected;
  for (const auto& batch : broker->log("t", 0).batches) log::append(expected, batch);
  for (int16_t version = 4; version <= 18; ++version) {
    const auto response = fetch(Fetch({{0}, {1}, {2}}), version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.session_id, 0);
    ASSERT_EQ(response.responses.size(), 1u);
    const auto& partitions = response.responses[0].partitions;
    ASSERT_EQ(partitions.size(), 3u);
    ASSERT_EQ(size_of(partitions[0]), expected.size());
    EXPECT_EQ(std::memcmp(partitions[0].records.pieces[0].data(), expected.data(), expected.size()),
              0);
    EXPECT_EQ(partitions[0].high_watermark, 15);
    EXPECT_EQ(partitions[0].last_stable_offset, 15);
    EXPECT_EQ(partitions[0].log_start_offset, version >= 5 ? 0 : -1);
    EXPECT_TRUE(partitions[0].aborted_transactions.is_null());
    EXPECT_EQ(partitions[2].high_watermark, 0);
    EXPECT_EQ(size_of(partitions[2]), 0u);
    EXPECT_FALSE(partitions[2].records.null);
  }
  broker->world.run_for(kTestSecond);
  EXPECT_EQ(leases(), 0u);
}

TEST_F(FetchTest, TheFirstBatchComesWholeAndLaterOnesRespectTheLimit) {
  for (int32_t i = 0; i < 4; ++i) append(i, 10);
  const size_t batch_size = broker->log("t", 0).batches[0].size();
  Fetch tiny({{2, 0, 1}, {0, 0, 1}, {1}, {3}});
  tiny.request.max_bytes = 1;
  const auto response = fetch(std::move(tiny));
  const auto& partitions = response.responses[0].partitions;
  EXPECT_EQ(partitions[0].partition_index, 2);
  EXPECT_EQ(size_of(partitions[0]), batch_size);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(size_of(partitions[i]), 0u);
    EXPECT_EQ(partitions[i].high_watermark, 10);
  }
  // An empty partition first: the first with data is the one.
  Fetch zero({{1, 10}, {3}});
  zero.request.max_bytes = 0;
  const auto again = fetch(std::move(zero));
  EXPECT_EQ(size_of(again.responses[0].partitions[1]), batch_size);
}

TEST_F(FetchTest, WaitsUntilThereIsSomething) {
  Fetch f({{0}, {1}, {2}, {3}});
  f.request.max_wait_ms = 5000;
  client->send(f.request, 11, 1);
  broker->world.run_for(kTestSecond);
  EXPECT_FALSE(client->receive(kTestSecond).has_value());
  append(2);
  const int64_t before = now();
  const auto response = client->expect<FetchResponse>(11, 1);
  EXPECT_LT(now() - before, 100 * kTestMs);
  EXPECT_GT(size_of(response.responses[0].partitions[2]), 0u);
  for (const auto& core : broker->cores) EXPECT_EQ(core->partitions.watch_count(), 0u);
}

TEST_F(FetchTest, AnswersEmptyAtTheDeadline) {
  const int64_t before = now();
  const auto response = fetch(Fetch({{0}, {1}}));
  EXPECT_GE(now() - before, 500 * kTestMs);
  EXPECT_LT(now() - before, 600 * kTestMs);
  EXPECT_EQ(response.responses[0].partitions[0].error_code, 0);
  EXPECT_EQ(response.responses[0].partitions[0].high_watermark, 0);
  EXPECT_LE(reads(), 4u);
}

TEST_F(FetchTest, WithoutWaitOrMinimumItAnswersAtOnce) {
  for (const bool no_wait : {true, false}) {
    Fetch f({Wanted{0}});
    (no_wait ? f.request.max_wait_ms : f.request.min_bytes) = 0;
    const int64_t before = now();
    (void)fetch(std::move(f));
    EXPECT_LT(now() - before, 100 * kTestMs);
  }
}

TEST_F(FetchTest, MinBytesOverSeveralCoresIsNotMissedAndDoesNotSpin) {
  Fetch f({{0}, {1}, {2}});
  f.request.max_wait_ms = 60'000;
  f.request.min_bytes = 3000;
  client->send(f.request, 11, 1);
  size_t stored = 0;
  for (int i = 0; stored < 3000; ++i) {
    EXPECT_FALSE(client->receive(kTestSecond).has_value()) << stored;
    append(i % 2);  // most of it on two of the three cores
    stored += broker->log("t", i % 2).batches.back().size();
  }
  const int64_t before = now();
  const auto response = client->expect<FetchResponse>(11, 1);
  EXPECT_LT(now() - before, 100 * kTestMs);
  size_t size = 0;
  for (const auto& partition : response.responses[0].partitions) size += size_of(partition);
  EXPECT_EQ(size, stored);
  EXPECT_LT(reads(), 100u);
}

TEST_F(FetchTest, ErrorsEndTheWaitButUnknownPartitionsDoNot) {
  int64_t before = now();
  auto response = fetch(Fetch({{0}, {77}}));
  EXPECT_GE(now() - before, 500 * kTestMs);
  const auto& unknown = response.responses[0].partitions[1];
  EXPECT_EQ(unknown.error_code, 3);
  EXPECT_EQ(unknown.high_watermark, -1);
  EXPECT_EQ(unknown.last_stable_offset, -1);
  EXPECT_EQ(unknown.log_start_offset, -1);
  EXPECT_FALSE(unknown.records.null);
  EXPECT_FALSE(unknown.aborted_transactions.is_null());

  before = now();
  response = fetch(Fetch({Wanted{77}}));
  EXPECT_LT(now() - before, 100 * kTestMs);
  before = now();
  response = fetch(Fetch({{0}, {1, 5}}));
  EXPECT_LT(now() - before, 100 * kTestMs);
  EXPECT_EQ(response.responses[0].partitions[0].error_code, 0);
  EXPECT_EQ(response.responses[0].partitions[1].error_code, 1);
  EXPECT_TRUE(response.responses[0].partitions[1].aborted_transactions.is_null());

  // Deleted while waiting.
  Fetch f({{0}, {1}});
  f.request.max_wait_ms = 60'000;
  client->send(f.request, 11, 1);
  broker->world.run_for(kTestSecond);
  broker->log("t", 1).deleted = true;
  broker->home("t", 1).check_watches();
  EXPECT_EQ(client->expect<FetchResponse>(11, 1).responses[0].partitions[1].error_code, 3);
}

TEST_F(FetchTest, UnknownTopicsByNameAndById) {
  EXPECT_EQ(fetch(Fetch({Wanted{0}}, "nope")).responses[0].partitions[0].error_code, 3);
  Fetch f({Wanted{0}});
  f.topic.topic_id.bytes[3] = std::byte{9};
  const auto response = client->call<FetchResponse>(f.request, 13);
  EXPECT_EQ(response.responses[0].partitions[0].error_code, 100);
  EXPECT_EQ(response.responses[0].topic_id, f.topic.topic_id);
}

TEST_F(FetchTest, DuplicatesBecomeOneEntry) {
  append(0, 10);
  append(1, 10);
  Fetch f({{0}, {1}, {0, 10}});
  FetchRequest::Topic topics[] = {f.topic, f.topic};
  f.request.topics = {topics, 2};
  const auto response = fetch(std::move(f));
  ASSERT_EQ(response.responses.size(), 1u);
  const auto& partitions = response.responses[0].partitions;
  ASSERT_EQ(partitions.size(), 2u);
  EXPECT_EQ(partitions[0].partition_index, 0);
  EXPECT_EQ(size_of(partitions[0]), 0u);  // the last one asked for offset 10
  EXPECT_GT(size_of(partitions[1]), 0u);
}

TEST_F(FetchTest, ParametersThatMakeNoSense) {
  append(0);
  Fetch isolation({Wanted{0}});
  isolation.request.isolation_level = 2;
  EXPECT_EQ(fetch(std::move(isolation)).responses[0].partitions[0].error_code, 42);
  Fetch size({Wanted{0}});
  size.request.max_bytes = -1;
  EXPECT_EQ(fetch(std::move(size)).responses[0].partitions[0].error_code, 42);
  const auto response = fetch(Fetch({{0, 0, -1}, {1}}));
  EXPECT_EQ(response.responses[0].partitions[0].error_code, 42);
  Fetch committed({Wanted{0}});
  committed.request.isolation_level = 1;
  const auto empty = fetch(std::move(committed));
  EXPECT_FALSE(empty.responses[0].partitions[0].aborted_transactions.is_null());
}

TEST_F(FetchTest, SessionsAreNeverKept) {
  append(0);
  for (const auto& [id, epoch] : {std::pair{0, -1}, {0, 0}, {7, 0}, {7, -1}}) {
    Fetch f({Wanted{0}});
    f.request.session_id = id;
    f.request.session_epoch = epoch;
    const auto response = fetch(std::move(f));
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.session_id, 0);
    EXPECT_EQ(response.responses.size(), 1u);
  }
  Fetch f({Wanted{0}});
  f.request.session_id = 7;
  f.request.session_epoch = 1;
  const auto response = fetch(std::move(f));
  EXPECT_EQ(response.error_code, 70);
  EXPECT_EQ(response.responses.size(), 0u);
}

// Every home core reads a first batch whole; of all of them only the first may stay.
TEST_F(FetchTest, PartitionLimitsHoldForAllButTheFirstBatch) {
  for (int32_t i = 0; i < 4; ++i) append(i, 10);
  const auto response = fetch(Fetch({{2, 0, 1}, {0, 0, 1}, {1}, {3, 0, 1}}));
  const auto& partitions = response.responses[0].partitions;
  EXPECT_EQ(size_of(partitions[0]), broker->log("t", 2).batches[0].size());
  EXPECT_EQ(size_of(partitions[1]), 0u);
  EXPECT_EQ(size_of(partitions[2]), broker->log("t", 1).batches[0].size());
  EXPECT_EQ(size_of(partitions[3]), 0u);
}

TEST_F(FetchTest, ThereAreNoFollowers) {
  append(0);
  for (int16_t version = 4; version <= 18; ++version) {
    for (const int32_t replica : {-1, -2, 0, 99}) {
      Fetch f({{0}, {9}});
      f.request.replica_id = f.request.replica_state.replica_id = replica;
      const auto response = fetch(std::move(f), version);
      const auto& partition = response.responses[0].partitions[0];
      EXPECT_EQ(response.responses[0].partitions[1].error_code, 3);
      EXPECT_EQ(partition.error_code, replica < 0 ? 0 : 6);
      EXPECT_EQ(partition.high_watermark, replica < 0 ? 1 : -1);
      EXPECT_TRUE(partition.aborted_transactions.is_null());
      const bool told_who_leads = replica >= 0 && version >= 16;
      EXPECT_EQ(partition.current_leader.leader_id, told_who_leads ? 1 : -1);
      EXPECT_EQ(partition.current_leader.leader_epoch, told_who_leads ? 4 : -1);
    }
  }
}

TEST_F(FetchTest, OldVersionsOfZstdTopicsAndStorageErrors) {
  EXPECT_EQ(fetch(Fetch({Wanted{0}}, "z"), 9).responses[0].partitions[0].error_code, 76);
  EXPECT_EQ(fetch(Fetch({Wanted{0}}, "z"), 10).responses[0].partitions[0].error_code, 0);
  broker->home("t", 0).read_error = model::ErrorCode::kafka_storage_error;
  EXPECT_EQ(fetch(Fetch({Wanted{0}}), 5).responses[0].partitions[0].error_code, 6);
  EXPECT_EQ(fetch(Fetch({Wanted{0}}), 6).responses[0].partitions[0].error_code, 56);
}

TEST_F(FetchTest, AClientThatLeavesFreesItsWaitAndItsLeases) {
  for (const bool reset : {true, false}) {
    TestClient other(*broker);
    Fetch f({{0}, {1}, {2}});
    f.request.max_wait_ms = 60'000;
    other.send(f.request, 11);
    broker->world.run_for(kTestSecond);
    EXPECT_GT(broker->home("t", 0).watch_count(), 0u);
    reset ? other.socket().reset() : other.socket().close();
    broker->world.run_for(kTestSecond);
    for (const auto& core : broker->cores) EXPECT_EQ(core->partitions.watch_count(), 0u);
    EXPECT_EQ(leases(), 0u);
  }
  // With bytes on the way that are never read.
  TestClient other(*broker);
  other.socket().set_reading(false);
  append(0, 1, 1'000'000);
  Fetch f({Wanted{0}});
  other.send(f.request, 11);
  broker->world.run_for(kTestSecond);
  EXPECT_EQ(leases(), 1u);
  other.socket().reset();
  broker->world.run_for(kTestSecond);
  EXPECT_EQ(leases(), 0u);
}

TEST_F(FetchTest, ThousandsOfPartitionsInOneRequest) {
  std::vector<Wanted> wanted;
  for (int32_t i = 5000; i >= 0; --i) wanted.push_back({i % 2500});
  append(3);
  const auto response = fetch(Fetch(wanted));
  EXPECT_EQ(response.responses[0].partitions.size(), 2500u);
}

}  // namespace
}  // namespace weir::handlers
