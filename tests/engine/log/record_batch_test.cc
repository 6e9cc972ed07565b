// Proves that what BatchBuilder writes is format 2 to the byte, that readers get back what was
// written, and that read_record() accepts nothing whose lengths do not add up.

#include "engine/log/record_batch.h"

#include <gtest/gtest.h>

#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

TEST(RecordBatch, BuilderWritesFormat2ToTheByte) {
  BatchBuilder builder({.base_offset = model::Offset(7), .leader_epoch = 3});
  builder.append(base::as_bytes("k"), base::as_bytes("v"), 1000);
  const auto batch = builder.finish();
  const unsigned char expected_start[] = {
      0, 0, 0, 0, 0, 0, 0, 7,           // base offset
      0, 0, 0, 58,                      // length
      0, 0, 0, 3,                       // leader epoch
      2};                               // magic
  const unsigned char expected_end[] = {
      0, 0,                             // attributes
      0, 0, 0, 0,                       // last offset delta
      0, 0, 0, 0, 0, 0, 3, 0xe8,        // base timestamp
      0, 0, 0, 0, 0, 0, 3, 0xe8,        // max timestamp
      255, 255, 255, 255, 255, 255, 255, 255,  // producer id
      255, 255, 255, 255, 255, 255,     // epoch, sequence
      0, 0, 0, 1,                       // record count
      16, 0, 0, 0, 2, 'k', 2, 'v', 0};  // one record
  ASSERT_EQ(batch.size(), 70u);
  EXPECT_EQ(std::memcmp(batch.data(), expected_start, sizeof(expected_start)), 0);
  EXPECT_EQ(std::memcmp(batch.data() + kBatchCrcStart, expected_end, sizeof(expected_end)), 0);
  EXPECT_EQ(BatchView(batch).crc(), BatchView(batch).computed_crc());
}

TEST(RecordBatch, RecordsComeBackAsWritten) {
  BatchBuilder builder;
  const RecordHeader headers[] = {{"h1", base::as_bytes("x")}, {"h2", std::nullopt}};
  builder.append(std::nullopt, base::as_bytes("value"), 500, headers);
  builder.append(base::as_bytes("key"), std::nullopt, 400);
  const auto bytes = builder.finish();
  const BatchView batch(bytes);
  EXPECT_EQ(batch.record_count(), 2);
  EXPECT_EQ(batch.base_timestamp(), 500);
  EXPECT_EQ(batch.max_timestamp(), 500);
  EXPECT_EQ(batch.last_offset(), model::Offset(1));

  auto rest = batch.records();
  Record record;
  ASSERT_TRUE(read_record(rest, record));
  EXPECT_FALSE(record.key.has_value());
  EXPECT_EQ(base::as_text(*record.value), "value");
  EXPECT_EQ(record.header_count, 2);
  auto header_bytes = record.headers;
  RecordHeader header;
  ASSERT_TRUE(read_record_header(header_bytes, header));
  EXPECT_EQ(header.key, "h1");
  EXPECT_EQ(base::as_text(*header.value), "x");
  ASSERT_TRUE(read_record_header(header_bytes, header));
  EXPECT_EQ(header.key, "h2");
  EXPECT_FALSE(header.value.has_value());
  ASSERT_TRUE(read_record(rest, record));
  EXPECT_EQ(record.timestamp_delta, -100);
  EXPECT_EQ(record.offset_delta, 1);
  EXPECT_FALSE(record.value.has_value());
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(read_record(rest, record));
}

TEST(RecordBatch, EveryPrefixOfARecordIsRefused) {
  const Buffer batch = make_batch(1);
  const auto records = BatchView(batch).records();
  for (size_t size = 0; size < records.size(); ++size) {
    auto part = records.first(size);
    Record record;
    EXPECT_FALSE(read_record(part, record)) << size;
  }
}

TEST(RecordBatch, StartsWithBatchLooksAtMagicAndLength) {
  Buffer batch = make_batch(3);
  EXPECT_TRUE(starts_with_batch(batch));
  EXPECT_FALSE(starts_with_batch(std::span(batch).first(batch.size() - 1)));
  EXPECT_FALSE(starts_with_batch(std::span(batch).first(kBatchHeaderSize - 1)));
  Buffer other = batch;
  other[batch_position::kMagic] = std::byte{1};
  EXPECT_FALSE(starts_with_batch(other));
  for (const int32_t length : {-1, 0, 48, INT32_MIN, INT32_MAX}) {
    base::store_be(batch.data() + batch_position::kLength, length);
    EXPECT_FALSE(starts_with_batch(batch)) << length;
  }
}

TEST(RecordBatch, SequenceWrapsToZero) {
  const Buffer batch = make_batch(
      3, 0, 1,
      {.producer_id = model::ProducerId(1), .base_sequence = model::Sequence(INT32_MAX - 1)});
  EXPECT_EQ(BatchView(batch).last_sequence(), model::Sequence(0));
}

TEST(RecordBatch, SettingOffsetAndEpochLeavesTheCrcRight) {
  Buffer batch = make_batch(3);
  set_base_offset(batch, model::Offset(1'000'000'000'000));
  set_leader_epoch(batch, 12);
  EXPECT_EQ(BatchView(batch).base_offset(), model::Offset(1'000'000'000'000));
  EXPECT_EQ(BatchView(batch).leader_epoch(), 12);
  EXPECT_EQ(BatchView(batch).crc(), BatchView(batch).computed_crc());
}

}  // namespace
}  // namespace weir::log
