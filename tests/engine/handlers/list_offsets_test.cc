// Proves that ListOffsets and OffsetForLeaderEpoch ask the right partitions and answer each of
// them, with the errors that are known before anyone is asked.

#include "engine/handlers/list_offsets.h"

#include <gtest/gtest.h>

#include "engine/wire/messages/offset_for_leader_epoch.h"
#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using wire::ListOffsetsRequest;
using wire::ListOffsetsResponse;

class ListOffsetsTest : public testing::Test {
 protected:
  ListOffsetsTest() : broker(1, {.core_count = 3}) {
    broker.start();
    client = std::make_unique<TestClient>(broker);
    for (int32_t i = 0; i < 4; ++i) {
      broker.home("t", i).append(broker.log("t", i), log::make_batch(5 + i));
    }
  }
  ListOffsetsResponse list(std::vector<ListOffsetsRequest::Partition> partitions, int16_t version,
                           std::string_view name = "t") {
    ListOffsetsRequest::Topic topic{.name = name,
                                    .partitions = {partitions.data(), partitions.size()}};
    ListOffsetsRequest request{.replica_id = -1, .topics = {&topic, 1}};
    return client->call<ListOffsetsResponse>(request, version);
  }
  TestBroker broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(ListOffsetsTest, AnswersEveryPartitionInEveryVersion) {
  for (int16_t version = 1; version <= 11; ++version) {
    const auto response = list({{.partition_index = 3, .timestamp = -1},
                                {.partition_index = 0, .timestamp = -2},
                                {.partition_index = 1, .timestamp = -1},
                                {.partition_index = 9, .timestamp = -1}},
                               version);
    const auto& partitions = response.topics[0].partitions;
    ASSERT_EQ(partitions.size(), 4u);
    EXPECT_EQ(partitions[0].offset, 8);
    EXPECT_EQ(partitions[0].leader_epoch, version >= 4 ? 4 : -1);
    EXPECT_EQ(partitions[1].offset, 0);
    EXPECT_EQ(partitions[2].offset, 6);
    EXPECT_EQ(partitions[3].error_code, 3);
    EXPECT_EQ(partitions[3].offset, -1);
    EXPECT_EQ(partitions[3].timestamp, -1);
  }
}

TEST_F(ListOffsetsTest, SpecialTimestampsNeedTheirVersions) {
  const std::pair<int64_t, int16_t> table[] = {{-3, 7}, {-4, 8}, {-5, 9}, {-6, 11}};
  for (const auto& [timestamp, first_version] : table) {
    for (int16_t version = 1; version <= 11; ++version) {
      const auto response = list({{.partition_index = 0, .timestamp = timestamp}}, version);
      EXPECT_EQ(response.topics[0].partitions[0].error_code, version < first_version ? 35 : 0)
          << timestamp << " in " << version;
    }
  }
  EXPECT_EQ(list({{.partition_index = 0, .timestamp = -7}}, 11).topics[0].partitions[0].error_code,
            35);
}

TEST_F(ListOffsetsTest, ThereIsNoTieredStorageToFindOffsetsIn) {
  for (const int64_t timestamp : {-5, -6}) {
    const auto response = list({{.partition_index = 0, .timestamp = timestamp}}, 11);
    const auto& partition = response.topics[0].partitions[0];
    EXPECT_EQ(partition.error_code, 0);
    EXPECT_EQ(partition.offset, -1);
    EXPECT_EQ(partition.timestamp, -1);
    EXPECT_EQ(partition.leader_epoch, -1);
  }
}

TEST_F(ListOffsetsTest, TheStartOfAnEmptyLogIsOfTheCurrentEpoch) {
  broker.log("t", 0).batches.clear();
  broker.log("t", 0).next = broker.log("t", 0).start = model::Offset(5);
  for (const int64_t timestamp : {-2, -4}) {
    const auto response = list({{.partition_index = 0, .timestamp = timestamp}}, 8);
    EXPECT_EQ(response.topics[0].partitions[0].offset, 5);
    EXPECT_EQ(response.topics[0].partitions[0].leader_epoch, 4);
  }
}

TEST_F(ListOffsetsTest, APartitionAskedTwiceIsAnInvalidRequestAndAnsweredOnce) {
  const auto response = list({{.partition_index = 0, .timestamp = -1},
                              {.partition_index = 1, .timestamp = -1},
                              {.partition_index = 0, .timestamp = -2}},
                             5);
  const auto& partitions = response.topics[0].partitions;
  ASSERT_EQ(partitions.size(), 2u);
  EXPECT_EQ(partitions[0].error_code, 42);
  EXPECT_EQ(partitions[1].partition_index, 1);
  EXPECT_EQ(partitions[1].error_code, 0);
}

TEST_F(ListOffsetsTest, UnknownTopicsAndEmptyRequests) {
  const auto unknown = list({{.partition_index = 0, .timestamp = -1}}, 7, "x");
  EXPECT_EQ(unknown.topics[0].partitions[0].error_code, 3);
  EXPECT_EQ(list({}, 7).topics[0].partitions.size(), 0u);
}

TEST_F(ListOffsetsTest, EpochEndsComeFromTheHomeCores) {
  using Request = wire::OffsetForLeaderEpochRequest;
  using Response = wire::OffsetForLeaderEpochResponse;
  Request::Partition partitions[] = {{.partition = 2, .leader_epoch = 4},
                                     {.partition = 7, .leader_epoch = 4}};
  Request::Topic topic{.topic = "t", .partitions = {partitions, 2}};
  for (int16_t version = 0; version <= 4; ++version) {
    const auto response = client->call<Response>(Request{.topics = {&topic, 1}}, version);
    const auto& out = response.topics[0].partitions;
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].end_offset, 7);
    EXPECT_EQ(out[0].leader_epoch, version >= 1 ? 4 : -1);
    EXPECT_EQ(out[1].error_code, 3);
    EXPECT_EQ(out[1].end_offset, -1);
  }
}

}  // namespace
}  // namespace weir::handlers
