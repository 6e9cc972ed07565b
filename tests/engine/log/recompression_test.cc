// Topics with a compression.type of their own: every codec into every other, the same records,
// under a right CRC, with both sides of the limits of size; nothing changes where nothing is asked.
#include <gtest/gtest.h>

#include "engine/log/batch_validator.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

using model::ErrorCode;

constexpr Compression kAll[] = {Compression::none, Compression::gzip, Compression::snappy,
                                Compression::lz4, Compression::zstd};

Buffer inflated(std::span<const std::byte> batch_bytes) {
  const BatchView batch(batch_bytes);
  if (batch.compression() == Compression::none) return to_buffer(batch.records());
  Inflater inflater;
  Buffer out(size_t{8} << 20);
  inflater.begin(batch.compression(), batch.records());
  out.resize(inflater.read(out));
  EXPECT_EQ(inflater.status(), InflateStatus::end);
  return out;
}

class RecompressionTest : public testing::Test {
 protected:
  BatchVerdict validate(Buffer& batch) { return validator.validate(batch, rules); }
  void ask(Compression compression, int32_t level = 0) {
    rules.compression = CompressionTarget{compression, level};
  }

  BatchValidator validator;
  BatchRules rules{.now_ms = 1'700'000'000'000};
};

TEST_F(RecompressionTest, EveryCodecIntoEveryOther) {
  for (const int32_t count : {1, 3, 3000}) {  // the last is larger than all windows and blocks
    const Buffer plain = make_batch(count, 1'700'000'000'000, 100,
                                    {.producer_id = model::ProducerId(7),
                                     .producer_epoch = model::ProducerEpoch(2),
                                     .base_sequence = model::Sequence(5)});
    const Buffer records = to_buffer(BatchView(plain).records());
    for (const Compression from : kAll) {
      for (const Compression to : kAll) {
        Buffer batch = compressed(plain, from);
        const Buffer before = batch;
        ask(to, to == Compression::gzip ? -1 : 3);
        const BatchVerdict verdict = validate(batch);
        ASSERT_EQ(verdict.error, ErrorCode::none) << verdict.message;
        EXPECT_EQ(verdict.recompressed, from != to);
        const BatchView stored(verdict.batch);
        EXPECT_EQ(stored.size(), verdict.batch.size());
        EXPECT_EQ(stored.compression(), to);
        EXPECT_EQ(stored.computed_crc(), stored.crc());
        EXPECT_EQ(stored.record_count(), count);
        EXPECT_EQ(stored.producer_id(), model::ProducerId(7));
        EXPECT_EQ(stored.base_sequence(), model::Sequence(5));
        EXPECT_EQ(stored.max_timestamp(), BatchView(plain).max_timestamp());
        EXPECT_EQ(inflated(verdict.batch), records);
        if (from == to) {
          EXPECT_EQ(batch, before);
        }
        // What was stored is what a producer may send.
        Buffer again = to_buffer(verdict.batch);
        EXPECT_EQ(BatchValidator().validate(again, {.now_ms = rules.now_ms}).error,
                  ErrorCode::none);
      }
    }
  }
}

TEST_F(RecompressionTest, EveryLevelOfTheSettings) {
  const Buffer plain = make_batch(500, 1'700'000'000'000, 100);
  const struct {
    Compression compression;
    std::vector<int32_t> levels;
  } cases[] = {{Compression::gzip, {-1, 1, 9}},
               {Compression::lz4, {1, 2, 9, 12, 17}},
               {Compression::zstd, {-131072, -1, 0, 3, 19, 22}}};
  for (const auto& row : cases) {
    for (const int32_t level : row.levels) {
      Buffer batch = plain;
      ask(row.compression, level);
      const BatchVerdict verdict = validate(batch);
      ASSERT_EQ(verdict.error, ErrorCode::none) << level;
      if (level > -1000) {  // below, zstd hardly looks for anything
        EXPECT_LT(verdict.batch.size(), plain.size());
      }
      EXPECT_EQ(inflated(verdict.batch), to_buffer(BatchView(plain).records())) << level;
    }
  }
}

TEST_F(RecompressionTest, TheLimitHoldsForWhatIsStored) {
  const Buffer plain = make_batch(1, 1'700'000'000'000, 1000);
  Buffer batch = compressed(plain, Compression::gzip);
  ask(Compression::none);
  rules.batch_size_max = plain.size();
  EXPECT_EQ(validate(batch).error, ErrorCode::none);
  rules.batch_size_max = plain.size() - 1;
  BatchVerdict verdict = validate(batch);
  EXPECT_EQ(verdict.error, ErrorCode::message_too_large);
  EXPECT_FALSE(verdict.with_log_start_offset);
  rules.batch_size_max = 1'000'000;
  rules.segment_size = plain.size();
  EXPECT_EQ(validate(batch).error, ErrorCode::none);
  rules.segment_size = plain.size() - 1;
  verdict = validate(batch);
  EXPECT_EQ(verdict.error, ErrorCode::record_list_too_large);
  // What the producer sent counts as well.
  Buffer large = plain;
  ask(Compression::gzip);
  rules = {.batch_size_max = plain.size() - 1,
           .now_ms = rules.now_ms,
           .compression = rules.compression};
  EXPECT_EQ(validate(large).error, ErrorCode::message_too_large);
}

TEST_F(RecompressionTest, BombsStopAtTheLimit) {
  const Buffer plain = make_batch(1, 1'700'000'000'000, size_t{3} << 20);
  Buffer batch = compressed(plain, Compression::zstd);
  ask(Compression::none);
  EXPECT_EQ(validate(batch).error, ErrorCode::message_too_large);
  ask(Compression::gzip, -1);
  EXPECT_EQ(validate(batch).error, ErrorCode::none) << "it is small again";
}

TEST_F(RecompressionTest, WhatWouldLookLikeABombStaysAsSent) {
  const Buffer plain = make_batch(1, 1'700'000'000'000, size_t{8} << 20);
  rules.batch_size_max = size_t{16} << 20;
  ask(Compression::zstd);
  Buffer batch = plain;
  const BatchVerdict verdict = validate(batch);
  ASSERT_EQ(verdict.error, ErrorCode::none);
  EXPECT_FALSE(verdict.recompressed);
  EXPECT_EQ(to_buffer(verdict.batch), plain);
  const Buffer half = make_batch(1, 1'700'000'000'000, size_t{3} << 20);
  batch = half;
  EXPECT_TRUE(validate(batch).recompressed) << "so much is always believed";
}

TEST_F(RecompressionTest, TheValidatorIsReused) {
  ask(Compression::zstd);
  Buffer small = make_batch(1);
  Buffer large = make_batch(100, 1'700'000'000'000, 9'000);
  const Buffer records = to_buffer(BatchView(small).records());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(validate(large).error, ErrorCode::none);
    EXPECT_EQ(inflated(validate(small).batch), records);
  }
}

TEST_F(RecompressionTest, AppendTimeAndMaximumAreRightInWhatIsStored) {
  Buffer batch = make_batch(3);
  rules.append_time = true;
  rules.now_ms = 1'800'000'000'000;
  ask(Compression::lz4);
  const BatchVerdict verdict = validate(batch);
  ASSERT_TRUE(verdict.recompressed);
  const BatchView stored(verdict.batch);
  EXPECT_TRUE(stored.is_append_time());
  EXPECT_EQ(stored.max_timestamp(), 1'800'000'000'000);
  EXPECT_EQ(stored.computed_crc(), stored.crc());
}

TEST_F(RecompressionTest, RefusedBatchesAreNotCompressed) {
  Buffer batch = make_batch(3);
  set_field<int32_t>(batch, batch_position::kRecordCount, 4);
  ask(Compression::gzip);
  EXPECT_EQ(validate(batch).error, ErrorCode::invalid_record);
}

}  // namespace
}  // namespace weir::log
