// Proves that DeleteRecords asks the right partitions and answers each of them, with the errors
// that are known before anyone is asked.

#include "engine/handlers/delete_records.h"

#include <gtest/gtest.h>

#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using wire::DeleteRecordsRequest;
using wire::DeleteRecordsResponse;

class DeleteRecordsTest : public testing::Test {
 protected:
  DeleteRecordsTest() : broker(1, {.core_count = 3}) {
    broker.start();
    client = std::make_unique<TestClient>(broker);
    for (int32_t i = 0; i < 4; ++i) {
      broker.home("t", i).append(broker.log("t", i), log::make_batch(5 + i));
    }
  }
  DeleteRecordsResponse cut(std::vector<DeleteRecordsRequest::Partition> partitions,
                            int16_t version, std::string_view name = "t") {
    DeleteRecordsRequest::Topic topic{.name = name,
                                      .partitions = {partitions.data(), partitions.size()}};
    DeleteRecordsRequest request{.topics = {&topic, 1}, .timeout_ms = 1'000};
    return client->call<DeleteRecordsResponse>(request, version);
  }
  TestBroker broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(DeleteRecordsTest, AnswersEveryPartitionInEveryVersion) {
  for (int16_t version = 0; version <= 2; ++version) {
    const auto response = cut({{.partition_index = 3, .offset = -1},
                               {.partition_index = 0, .offset = 2},
                               {.partition_index = 9, .offset = 0},
                               {.partition_index = -1, .offset = 0},
                               {.partition_index = 1, .offset = 7}},
                              version);
    ASSERT_EQ(response.topics.size(), 1u);
    const auto& partitions = response.topics[0].partitions;
    ASSERT_EQ(partitions.size(), 5u);
    EXPECT_EQ(partitions[0].low_watermark, 8);
    EXPECT_EQ(partitions[1].low_watermark, 2);
    for (const size_t i : {2u, 3u}) {
      EXPECT_EQ(partitions[i].error_code, 3);
      EXPECT_EQ(partitions[i].low_watermark, -1);
    }
    EXPECT_EQ(partitions[4].error_code, 1);
    EXPECT_EQ(partitions[4].low_watermark, -1);
  }
}

TEST_F(DeleteRecordsTest, NothingAskedNothingAnswered) {
  DeleteRecordsRequest request{.topics = {}, .timeout_ms = 0};
  EXPECT_EQ(client->call<DeleteRecordsResponse>(request, 2).topics.size(), 0u);
  EXPECT_EQ(cut({}, 2).topics[0].partitions.size(), 0u);
  EXPECT_EQ(
      cut({{.partition_index = 0, .offset = 0}}, 2, "none").topics[0].partitions[0].error_code, 3);
}

}  // namespace
}  // namespace weir::handlers
