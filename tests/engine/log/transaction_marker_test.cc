// Proves the marker to the byte, as Kafka writes and sarama reads it (CASES C11), and that nothing
// else passes for one.
#include "engine/log/transaction_marker.h"

#include <gtest/gtest.h>

#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

MarkerBatch marker(bool commit, int32_t coordinator_epoch) {
  MarkerBatch batch;
  encode_marker({.commit = commit, .coordinator_epoch = coordinator_epoch}, model::ProducerId(9),
                model::ProducerEpoch(3), 1'700'000'000'000, batch);
  return batch;
}

TEST(TransactionMarker, is_one_record_with_key_and_value_of_fixed_form) {
  const MarkerBatch bytes = marker(true, 0x01020304);
  const BatchView batch(bytes);
  EXPECT_EQ(batch.size(), bytes.size());
  EXPECT_EQ(batch.computed_crc(), batch.crc());
  EXPECT_EQ(batch.attributes(), 0x30);
  EXPECT_EQ(batch.base_sequence().value(), -1);
  EXPECT_EQ(batch.producer_id().value(), 9);
  EXPECT_EQ(batch.producer_epoch().value(), 3);
  EXPECT_EQ(batch.record_count(), 1);
  EXPECT_EQ(batch.last_offset_delta(), 0);
  EXPECT_EQ(batch.base_timestamp(), 1'700'000'000'000);
  EXPECT_EQ(batch.max_timestamp(), 1'700'000'000'000);
  const uint8_t record[] = {32, 0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 1, 2, 3, 4, 0};
  EXPECT_TRUE(std::ranges::equal(batch.records(), std::as_bytes(std::span(record))));
}

TEST(TransactionMarker, is_read_back) {
  for (const bool commit : {false, true}) {
    const MarkerBatch bytes = marker(commit, 77);
    const auto found = read_marker(BatchView(bytes));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->commit, commit);
    EXPECT_EQ(found->coordinator_epoch, 77);
  }
}

TEST(TransactionMarker, nothing_else_is_one) {
  EXPECT_FALSE(read_marker(BatchView(make_batch(1))).has_value());
  Buffer other_type = to_buffer(marker(true, 1));
  other_type[kBatchHeaderSize + 8] = std::byte{2};
  EXPECT_FALSE(read_marker(BatchView(other_type)).has_value());
  for (const size_t key_size : {0u, 3u, 4u}) {
    for (const size_t value_size : {0u, 5u, 6u}) {
      BatchBuilder builder({.transactional = true, .control = true});
      const Buffer key(key_size), value(value_size);
      builder.append(key, value, 0);
      const auto batch = to_buffer(builder.finish());
      EXPECT_EQ(read_marker(BatchView(batch)).has_value(), key_size == 4 && value_size == 6);
    }
  }
}

}  // namespace
}  // namespace weir::log
