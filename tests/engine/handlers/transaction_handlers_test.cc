// Proves how what a coordinator says is said in each version of each API (CASES C98): clients know
// PRODUCER_FENCED and TRANSACTION_ABORTABLE only from some version on, and Produce never says 90.
#include <gtest/gtest.h>

#include "engine/wire/messages/add_offsets_to_txn.h"
#include "engine/wire/messages/add_partitions_to_txn.h"
#include "engine/wire/messages/end_txn.h"
#include "engine/wire/messages/init_producer_id.h"
#include "engine/wire/messages/produce.h"
#include "tests/engine/handlers/test_broker.h"
#include "tests/engine/log/batch_support.h"

namespace weir::handlers {
namespace {

using model::ErrorCode;

class TransactionHandlersTest : public testing::Test {
 protected:
  TransactionHandlersTest() {
    broker.add_topic("__transaction_state", 2);
    broker.add_topic("__consumer_offsets", 2);
    broker.start();
    client = std::make_unique<TestClient>(broker);
  }
  void says(ErrorCode error, ErrorCode claim_error = ErrorCode::none) {
    for (auto& core : broker.cores) {
      core->coordinator.error = error;
      core->coordinator.claim_error = claim_error;
    }
  }
  int produce(int16_t version) {
    const TestBuffer batch = log::make_batch(1, 1'700'000'000'000, 10,
                                             {.producer_id = model::ProducerId(1),
                                              .producer_epoch = model::ProducerEpoch(0),
                                              .base_sequence = model::Sequence(0),
                                              .transactional = true});
    wire::ProduceRequest::Partition partition;
    partition.records = wire::Records(wire::Bytes(batch));
    wire::ProduceRequest::Topic topic;
    topic.name = "t";
    topic.partition_data = {&partition, 1};
    wire::ProduceRequest request;
    request.transactional_id = "x";
    request.acks = -1;
    request.topic_data = {&topic, 1};
    const auto response = client->call<wire::ProduceResponse>(request, version);
    return response.responses[0].partition_responses[0].error_code;
  }

  TestBroker broker;
  std::unique_ptr<TestClient> client;
};

TEST_F(TransactionHandlersTest, Produce) {
  for (int16_t version = 3; version <= 12; ++version) {
    SCOPED_TRACE(version);
    says(ErrorCode::none);
    EXPECT_EQ(produce(version), 0);
    says(ErrorCode::producer_fenced);
    EXPECT_EQ(produce(version), 47);
    says(ErrorCode::invalid_producer_id_mapping);
    EXPECT_EQ(produce(version), 49);
    says(ErrorCode::concurrent_transactions);
    EXPECT_EQ(produce(version), version >= 12 ? 51 : 19);
    says(ErrorCode::none, ErrorCode::transaction_abortable);
    EXPECT_EQ(produce(version), version >= 11 ? 120 : 48);
  }
}

TEST_F(TransactionHandlersTest, FencedByVersion) {
  says(ErrorCode::producer_fenced);
  for (int16_t version = 0; version <= 5; ++version) {
    SCOPED_TRACE(version);
    wire::InitProducerIdRequest init;
    init.transactional_id = "x";
    EXPECT_EQ(client->call<wire::InitProducerIdResponse>(init, version).error_code,
              version >= 4 ? 90 : 47);
    wire::EndTxnRequest end;
    end.transactional_id = "x";
    EXPECT_EQ(client->call<wire::EndTxnResponse>(end, version).error_code, version >= 2 ? 90 : 47);
    if (version > 4) continue;
    wire::AddOffsetsToTxnRequest offsets;
    offsets.transactional_id = "x";
    EXPECT_EQ(client->call<wire::AddOffsetsToTxnResponse>(offsets, version).error_code,
              version >= 2 ? 90 : 47);
  }
}

TEST_F(TransactionHandlersTest, PartitionsAreAddedAllOrNone) {
  int32_t indexes[] = {0, 9};
  wire::AddPartitionsToTxnRequest::Topic topic{.name = "t", .partitions = {indexes, 2}};
  wire::AddPartitionsToTxnRequest request;
  request.v3_and_below_transactional_id = "x";
  request.v3_and_below_topics = {&topic, 1};
  const auto response = client->call<wire::AddPartitionsToTxnResponse>(request, 3);
  const auto& results = response.results_by_topic_v3_and_below[0].results_by_partition;
  EXPECT_EQ(results[0].partition_error_code, 55);
  EXPECT_EQ(results[1].partition_error_code, 3);
}

}  // namespace
}  // namespace weir::handlers
