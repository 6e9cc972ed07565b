// DescribeLogDirs and AlterReplicaLogDirs against what Kafka 4.3.1 answers (accept/oracle): sizes
// are asked of the partitions' home cores, what is not there is left out, and the only directory is
// where everything is.
#include <gtest/gtest.h>

#include "engine/wire/messages/alter_replica_log_dirs.h"
#include "engine/wire/messages/describe_log_dirs.h"
#include "tests/engine/handlers/admin_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using model::ErrorCode;
using wire::AlterReplicaLogDirsRequest;
using wire::AlterReplicaLogDirsResponse;
using wire::DescribeLogDirsRequest;
using wire::DescribeLogDirsResponse;

class LogDirsTest : public testing::Test {
 protected:
  void SetUp() override {
    broker = std::make_unique<AdminBroker>(3);
    broker->add_topic("empty", 2);
    broker->start();
    client = std::make_unique<TestClient>(*broker);
  }
  void TearDown() override {
    client.reset();
    broker.reset();
  }

  // Gives a partition a batch; its size.
  int64_t fill(const std::string& topic, int32_t partition) {
    auto batch = log::make_batch(3);
    const auto size = static_cast<int64_t>(batch.size());
    broker->home(topic, partition).append(broker->log(topic, partition), std::move(batch));
    return size;
  }

  struct Asked {
    std::string_view topic;
    std::vector<int32_t> partitions;
  };
  DescribeLogDirsResponse::LogDir describe(std::vector<Asked> asked, int16_t version = 4) {
    std::vector<DescribeLogDirsRequest::Topic> topics;
    for (Asked& one : asked) {
      topics.push_back({one.topic, {one.partitions.data(), one.partitions.size()}});
    }
    DescribeLogDirsRequest request;
    request.topics = {topics.data(), topics.size()};
    return send(request, version);
  }
  DescribeLogDirsResponse::LogDir describe_all(int16_t version = 4) {
    DescribeLogDirsRequest request;
    request.topics = wire::Array<DescribeLogDirsRequest::Topic>::null();
    return send(request, version);
  }
  ErrorCode alter(std::string_view path, std::string_view topic, int32_t partition,
                  int16_t version = 2) {
    AlterReplicaLogDirsRequest::Topic row{topic, {&partition, 1}};
    AlterReplicaLogDirsRequest::Dir dir{path, {&row, 1}};
    AlterReplicaLogDirsRequest request;
    request.dirs = {&dir, 1};
    const auto response = client->call<AlterReplicaLogDirsResponse>(request, version);
    EXPECT_EQ(response.results.size(), 1u);
    EXPECT_EQ(response.results[0].topic_name, topic);
    EXPECT_EQ(response.results[0].partitions[0].partition_index, partition);
    return static_cast<ErrorCode>(response.results[0].partitions[0].error_code);
  }

  std::unique_ptr<AdminBroker> broker;
  std::unique_ptr<TestClient> client;

 private:
  DescribeLogDirsResponse::LogDir send(const DescribeLogDirsRequest& request, int16_t version) {
    const auto response = client->call<DescribeLogDirsResponse>(request, version);
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.results.size(), 1u);
    EXPECT_EQ(response.results[0].log_dir, "/data");
    EXPECT_EQ(response.results[0].error_code, 0);
    return response.results[0];
  }
};

TEST_F(LogDirsTest, SizesOfNamedPartitionsInEveryVersion) {
  const int64_t size = fill("t", 2);
  for (int16_t version = 0; version <= 4; ++version) {
    const auto dir = describe({{"t", {2, 0}}}, version);
    ASSERT_EQ(dir.topics.size(), 1u);
    EXPECT_EQ(dir.topics[0].name, "t");
    ASSERT_EQ(dir.topics[0].partitions.size(), 2u);
    EXPECT_EQ(dir.topics[0].partitions[0].partition_index, 2);
    EXPECT_EQ(dir.topics[0].partitions[0].partition_size, size);
    EXPECT_EQ(dir.topics[0].partitions[1].partition_index, 0);
    EXPECT_EQ(dir.topics[0].partitions[1].partition_size, 0);
    EXPECT_EQ(dir.topics[0].partitions[0].offset_lag, 0);
    EXPECT_FALSE(dir.topics[0].partitions[0].is_future_key);
    if (version < 4) {
      EXPECT_EQ(dir.total_bytes, -1);
    } else {
      EXPECT_GT(dir.usable_bytes, 0);
      EXPECT_GE(dir.total_bytes, dir.usable_bytes);
    }
  }
}

TEST_F(LogDirsTest, NullIsEverythingAndEmptyIsNothing) {
  const int64_t size = fill("empty", 1);
  const auto dir = describe_all();
  ASSERT_EQ(dir.topics.size(), 2u);
  EXPECT_EQ(dir.topics[0].name, "empty");
  EXPECT_EQ(dir.topics[0].partitions[1].partition_size, size);
  EXPECT_EQ(dir.topics[1].name, "t");
  EXPECT_EQ(dir.topics[1].partitions.size(), 4u);
  EXPECT_EQ(describe({}).topics.size(), 0u);
}

TEST_F(LogDirsTest, WhatIsNotThereIsLeftOut) {
  EXPECT_EQ(describe({{"none", {0}}}).topics.size(), 0u);
  EXPECT_EQ(describe({{"t", {}}}).topics.size(), 0u);
  EXPECT_EQ(describe({{"t", {-1, 4}}}).topics.size(), 0u);
  const auto dir = describe({{"t", {3, 4, 3}}, {"t", {3, 1}}});
  ASSERT_EQ(dir.topics.size(), 2u);
  ASSERT_EQ(dir.topics[0].partitions.size(), 1u);
  EXPECT_EQ(dir.topics[0].partitions[0].partition_index, 3);
  ASSERT_EQ(dir.topics[1].partitions.size(), 1u);
  EXPECT_EQ(dir.topics[1].partitions[0].partition_index, 1);
}

TEST_F(LogDirsTest, APartitionThatGoesMeanwhileIsLeftOut) {
  broker->log("t", 1).deleted = true;
  const auto dir = describe({{"t", {0, 1}}});
  ASSERT_EQ(dir.topics[0].partitions.size(), 1u);
  EXPECT_EQ(dir.topics[0].partitions[0].partition_index, 0);
}

TEST_F(LogDirsTest, EverythingIsInTheOnlyDirectory) {
  for (int16_t version = 0; version <= 2; ++version) {
    EXPECT_EQ(alter("/data", "t", 3, version), ErrorCode::none);
    EXPECT_EQ(alter("/no/such/dir", "t", 0, version), ErrorCode::log_dir_not_found);
  }
  EXPECT_EQ(alter("data", "t", 0), ErrorCode::log_dir_not_found);
  EXPECT_EQ(alter("/no/such/dir", "none", 0), ErrorCode::log_dir_not_found);
  EXPECT_EQ(alter("/data", "none", 0), ErrorCode::replica_not_available);
  EXPECT_EQ(alter("/data", "t", 4), ErrorCode::replica_not_available);
  EXPECT_EQ(alter("/data", "t", -1), ErrorCode::replica_not_available);
  EXPECT_EQ(client->call<AlterReplicaLogDirsResponse>(AlterReplicaLogDirsRequest{}, 2)
                .results.size(),
            0u);
}

TEST_F(LogDirsTest, TheLastDirectoryOfAPartitionCounts) {
  int32_t partitions[] = {0, 1};
  AlterReplicaLogDirsRequest::Topic rows[] = {{"t", {partitions, 2}}, {"t", {partitions, 1}}};
  AlterReplicaLogDirsRequest::Dir dirs[] = {{"/data", {&rows[0], 1}}, {"/other", {&rows[1], 1}}};
  AlterReplicaLogDirsRequest request;
  request.dirs = {dirs, 2};
  const auto response = client->call<AlterReplicaLogDirsResponse>(request, 2);
  ASSERT_EQ(response.results.size(), 1u);
  ASSERT_EQ(response.results[0].partitions.size(), 2u);
  EXPECT_EQ(response.results[0].partitions[0].error_code, 57);
  EXPECT_EQ(response.results[0].partitions[1].error_code, 0);
}

}  // namespace
}  // namespace weir::handlers
