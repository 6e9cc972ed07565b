// Proves that BatchValidator accepts what real producers send, in all codecs, changes exactly the
// fields it may, and answers each malformed batch with its code, without reading past it or
// inflating a bomb.

#include "engine/log/batch_validator.h"

#include <gtest/gtest.h>

#include "io/base/random.h"
#include "io/base/varint.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

using model::ErrorCode;

constexpr Compression kAllCodecs[] = {Compression::none, Compression::gzip, Compression::snappy,
                                      Compression::lz4, Compression::zstd};

class BatchValidatorTest : public testing::Test {
 protected:
  // Validates a copy of exactly the size given, so that a sanitizer sees any read past it.
  ErrorCode error_of(const Buffer& batch) {
    copy_ = batch;
    copy_.shrink_to_fit();
    verdict_ = validator_.validate(copy_, rules_);
    return verdict_.error;
  }

  BatchValidator validator_;
  BatchRules rules_{.now_ms = kNow};
  Buffer copy_;
  BatchVerdict verdict_;
};

TEST_F(BatchValidatorTest, AcceptsEveryCodecUnchanged) {
  const Buffer batch = make_batch(1000, kNow, 100);
  for (const Compression codec : kAllCodecs) {
    const Buffer sent = compressed(batch, codec);
    ASSERT_EQ(error_of(sent), ErrorCode::none) << static_cast<int>(codec) << verdict_.message;
    EXPECT_EQ(copy_, sent);
    EXPECT_EQ(verdict_.record_count, 1000);
    EXPECT_EQ(verdict_.max_timestamp, kNow + 999);
    EXPECT_EQ(verdict_.batch.size(), sent.size());
  }
}

TEST_F(BatchValidatorTest, AcceptsXerialSnappyAndJoinedFrames) {
  const Buffer batch = make_batch(2000, kNow, 100);
  const auto records = BatchView(batch).records();
  EXPECT_EQ(error_of(with_records(batch, Compression::snappy, snappy_xerial(records))),
            ErrorCode::none);
  const auto half = records.size() / 2;
  for (const Compression codec : {Compression::gzip, Compression::lz4, Compression::zstd}) {
    Buffer joined = compress(codec, records.first(half));
    append(joined, compress(codec, records.subspan(half)));
    EXPECT_EQ(error_of(with_records(batch, codec, joined)), ErrorCode::none)
        << static_cast<int>(codec) << verdict_.message;
  }
}

TEST_F(BatchValidatorTest, AcceptsHeadersNullsAndLargeValues) {
  BatchBuilder builder;
  const RecordHeader headers[] = {{"", std::nullopt}, {"name", base::as_bytes("\xff\xfe")}};
  const std::string large(300'000, 'x');
  builder.append(std::nullopt, std::nullopt, kNow, headers);
  builder.append(base::as_bytes(""), base::as_bytes(large), kNow - 1'000'000'000, headers);
  builder.append(base::as_bytes(large), base::as_bytes(""), -1);
  const Buffer batch = to_buffer(builder.finish());
  for (const Compression codec : kAllCodecs) {
    EXPECT_EQ(error_of(compressed(batch, codec)), ErrorCode::none)
        << static_cast<int>(codec) << verdict_.message;
  }
}

TEST_F(BatchValidatorTest, FramingErrorsHaveKafkasCodes) {
  const Buffer good = make_batch(3);
  EXPECT_EQ(error_of({}), ErrorCode::invalid_record);
  EXPECT_EQ(error_of(to_buffer(std::span(good).first(16))), ErrorCode::invalid_record);
  EXPECT_EQ(error_of(to_buffer(std::span(good).first(good.size() - 1))),
            ErrorCode::invalid_record);
  Buffer two = good;
  append(two, good);
  EXPECT_EQ(error_of(two), ErrorCode::invalid_record);
  Buffer trailing = good;
  trailing.push_back(std::byte{0});
  EXPECT_EQ(error_of(trailing), ErrorCode::invalid_record);

  const auto with_magic = [&](int8_t magic) {
    Buffer batch = good;
    batch[batch_position::kMagic] = static_cast<std::byte>(magic);
    return batch;
  };
  EXPECT_EQ(error_of(with_magic(0)), ErrorCode::invalid_record);
  EXPECT_EQ(error_of(with_magic(1)), ErrorCode::invalid_record);
  EXPECT_EQ(error_of(with_magic(3)), ErrorCode::corrupt_message);
  EXPECT_EQ(error_of(with_magic(-1)), ErrorCode::corrupt_message);

  for (const int32_t length : {INT32_MIN, -1, 0, 13, 48}) {
    Buffer batch = good;
    base::store_be(batch.data() + batch_position::kLength, length);
    EXPECT_EQ(error_of(batch), ErrorCode::corrupt_message) << length;
    EXPECT_FALSE(verdict_.with_log_start_offset);
  }
  Buffer batch = good;
  base::store_be(batch.data() + batch_position::kLength, INT32_MAX);
  EXPECT_EQ(error_of(batch), ErrorCode::invalid_record);
}

TEST_F(BatchValidatorTest, EveryFlippedBitIsNoticed) {
  const Buffer good = make_batch(3);
  for (size_t i = 0; i < good.size() * 8; ++i) {
    Buffer batch = good;
    batch[i / 8] ^= static_cast<std::byte>(1 << (i % 8));
    const size_t byte = i / 8;
    // The leader epoch is the partition's to set and not under the CRC.
    if (byte >= batch_position::kLeaderEpoch && byte < batch_position::kMagic) continue;
    EXPECT_NE(error_of(batch), ErrorCode::none) << byte;
  }
}

TEST_F(BatchValidatorTest, SizeIsCheckedBeforeTheCrc) {
  Buffer batch = make_batch(3);
  rules_.batch_size_max = batch.size();
  EXPECT_EQ(error_of(batch), ErrorCode::none);
  rules_.batch_size_max = batch.size() - 1;
  batch.back() ^= std::byte{1};
  EXPECT_EQ(error_of(batch), ErrorCode::message_too_large);
  rules_.batch_size_max = batch.size();
  EXPECT_EQ(error_of(batch), ErrorCode::corrupt_message);
  rules_.segment_size = batch.size() - 1;
  EXPECT_EQ(error_of(make_batch(3)), ErrorCode::record_list_too_large);
}

TEST_F(BatchValidatorTest, HeaderFieldsMustMakeSense) {
  const Buffer good = make_batch(3);
  const auto changed = [&](size_t position, auto value) {
    Buffer batch = good;
    set_field(batch, position, value);
    return error_of(batch);
  };
  EXPECT_EQ(changed(batch_position::kBaseOffset, int64_t{1}), ErrorCode::invalid_record);
  EXPECT_TRUE(verdict_.with_log_start_offset);
  for (const int32_t count : {INT32_MIN, -1, 0, 1, 2, 4, INT32_MAX}) {
    EXPECT_EQ(changed(batch_position::kRecordCount, count), ErrorCode::invalid_record) << count;
    const ErrorCode expected = count == 2 ? ErrorCode::none : ErrorCode::invalid_record;
    EXPECT_EQ(changed(batch_position::kLastOffsetDelta, count), expected) << count;
  }
  EXPECT_EQ(changed(batch_position::kProducerId, int64_t{-2}), ErrorCode::invalid_record);
  EXPECT_EQ(changed(batch_position::kProducerId, int64_t{5}), ErrorCode::invalid_record);
  for (const int attributes : {0x05, 0x06, 0x07, 0x20, 0x10, 0x40}) {
    EXPECT_EQ(changed(batch_position::kAttributes, static_cast<int16_t>(attributes)),
              ErrorCode::invalid_record)
        << attributes;
  }
  EXPECT_EQ(changed(batch_position::kAttributes, int16_t{0x100}), ErrorCode::none);
}

TEST_F(BatchValidatorTest, AHugeCountAloneCostsNothing) {
  for (const Compression codec : kAllCodecs) {
    Buffer batch = compressed(make_batch(3), codec);
    base::store_be(batch.data() + batch_position::kLastOffsetDelta, INT32_MAX - 1);
    set_field(batch, batch_position::kRecordCount, INT32_MAX);
    EXPECT_EQ(error_of(batch), ErrorCode::invalid_record);
  }
}

TEST_F(BatchValidatorTest, ZstdNeedsVersion7) {
  rules_.zstd_allowed = false;
  const Buffer batch = make_batch(3);
  EXPECT_EQ(error_of(compressed(batch, Compression::zstd)),
            ErrorCode::unsupported_compression_type);
  EXPECT_EQ(error_of(compressed(batch, Compression::lz4)), ErrorCode::none);
}

// One record with the given bytes after its length, in a batch whose CRC is right.
Buffer batch_of_record(std::initializer_list<int> record) {
  Buffer batch = make_batch(1);
  Buffer bytes;
  for (const int byte : record) bytes.push_back(static_cast<std::byte>(byte));
  return with_records(batch, Compression::none, bytes);
}

TEST_F(BatchValidatorTest, MalformedRecordsAreRefused) {
  EXPECT_EQ(error_of(batch_of_record({12, 0, 0, 0, 1, 1, 0})), ErrorCode::none);
  const std::initializer_list<int> bad[] = {
      {14, 0, 0, 0, 1, 1, 0},           // longer than the batch
      {10, 0, 0, 0, 1, 1, 0},           // shorter than its fields
      {14, 0, 0, 0, 1, 1, 0, 0},        // bytes left over
      {0},                              // empty
      {1, 0, 0, 0, 1, 1, 0},            // negative length
      {12, 0, 0, 2, 1, 1, 0},           // offset delta 1 in the first record
      {12, 0, 0, 0, 3, 1, 0},           // key length -2
      {12, 0, 0, 0, 1, 3, 0},           // value length -2
      {12, 0, 0, 0, 1, 1, 1},           // header count -1
      {12, 0, 0, 0, 1, 1, 2},           // a header that is not there
      {16, 0, 0, 0, 1, 1, 2, 1, 1},     // header key null
      {12, 0, 0, 0, 200, 1, 1, 0},      // key beyond the record
      {0x8c, 0x80, 0x80, 0x80, 0x80, 0},              // length varint too long
      {0x8c, 0, 0, 0, 0, 1, 1, 0},                    // length in two bytes where one does
      {14, 0, 0x80, 0, 0, 1, 1, 0},                   // timestamp delta, the same
      {14, 0, 0, 0, 1, 1, 0x80, 0},                   // header count, the same
      {12, 0, 0, 0, 1, 1, 0, 12, 0, 0, 2, 1, 1, 0}};  // one record more than the count
  for (const auto& record : bad) {
    EXPECT_EQ(error_of(batch_of_record(record)), ErrorCode::invalid_record);
    EXPECT_TRUE(verdict_.with_log_start_offset);
  }
}

TEST_F(BatchValidatorTest, OffsetsMustCountFromZero) {
  Buffer records;
  for (const int delta : {0, 5}) {
    for (const int byte : {12, 0, 0, delta * 2, 1, 1, 0}) {
      records.push_back(static_cast<std::byte>(byte));
    }
  }
  for (const Compression codec : kAllCodecs) {
    EXPECT_EQ(error_of(with_records(make_batch(2), codec, compress(codec, records))),
              ErrorCode::invalid_record);
  }
}

TEST_F(BatchValidatorTest, DamagedCompressedRecordsAreRefused) {
  const Buffer batch = make_batch(200, kNow, 100);
  base::RandomStream random(1, "damage");
  for (const Compression codec : kAllCodecs) {
    if (codec == Compression::none) continue;
    const Buffer block = compress(codec, BatchView(batch).records());
    for (int i = 0; i < 200; ++i) {
      Buffer damaged = block;
      damaged[random.below(damaged.size())] ^= static_cast<std::byte>(1 + random.below(255));
      // Only a codec without a checksum can let damage pass, as other records; most it must notice.
      const ErrorCode error = error_of(with_records(batch, codec, damaged));
      EXPECT_TRUE(error == ErrorCode::invalid_record || error == ErrorCode::none ||
                  error == ErrorCode::message_too_large);
    }
    for (size_t size = 0; size < block.size(); size += 7) {
      EXPECT_NE(error_of(with_records(batch, codec, std::span(block).first(size))),
                ErrorCode::none)
          << static_cast<int>(codec) << " cut to " << size;
    }
    Buffer longer = block;
    append(longer, base::as_bytes("trailing"));
    EXPECT_EQ(error_of(with_records(batch, codec, longer)), ErrorCode::invalid_record)
        << static_cast<int>(codec);
  }
}

TEST_F(BatchValidatorTest, BombsCostNoMoreThanTheirLimit) {
  // Zeros behind one record that claims them all as its value: 160 MB from a few hundred kB.
  Buffer raw(size_t{160} << 20);
  std::byte length[5];
  const size_t length_size = base::store_varint32(length, static_cast<int32_t>(raw.size()));
  std::memcpy(raw.data(), length, length_size);
  const Buffer batch = make_batch(1);
  for (const Compression codec : {Compression::gzip, Compression::lz4, Compression::zstd}) {
    const Buffer bomb = with_records(batch, codec, compress(codec, raw));
    rules_.batch_size_max = bomb.size();
    EXPECT_NE(error_of(bomb), ErrorCode::none);
  }
  // A record that does reach to the end of the bomb.
  BatchBuilder builder;
  const std::string value(size_t{140} << 20, 'x');
  builder.append(std::nullopt, base::as_bytes(value), kNow);
  const Buffer honest = to_buffer(builder.finish());
  for (const Compression codec : {Compression::gzip, Compression::lz4, Compression::zstd}) {
    EXPECT_EQ(error_of(compressed(honest, codec)), ErrorCode::message_too_large);
  }
  // Snappy that announces much more than it has.
  Buffer snappy_bomb;
  for (const int byte : {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0}) {
    snappy_bomb.push_back(static_cast<std::byte>(byte));
  }
  EXPECT_EQ(error_of(with_records(batch, Compression::snappy, snappy_bomb)),
            ErrorCode::invalid_record);
}

TEST_F(BatchValidatorTest, ZstdWindowsAreBounded) {
  const Buffer batch = make_batch(1000, kNow, 100);
  const auto records = BatchView(batch).records();
  EXPECT_EQ(error_of(with_records(batch, Compression::zstd, zstd(records, 23))), ErrorCode::none)
      << verdict_.message;
  EXPECT_EQ(error_of(with_records(batch, Compression::zstd, zstd(records, 24))),
            ErrorCode::invalid_record);
}

TEST_F(BatchValidatorTest, MaxTimestampIsMadeRight) {
  const Buffer good = make_batch(10, kNow);
  for (const Compression codec : kAllCodecs) {
    Buffer batch = compressed(good, codec);
    const Buffer right = batch;
    for (const int64_t wrong : {int64_t{-1}, kNow, kNow + 10, INT64_MAX, INT64_MIN}) {
      set_field(batch, batch_position::kMaxTimestamp, wrong);
      ASSERT_EQ(error_of(batch), ErrorCode::none);
      EXPECT_EQ(copy_, right);
    }
  }
}

TEST_F(BatchValidatorTest, AppendTimeReplacesTypeAndTimeUnderANewCrc) {
  rules_.append_time = true;
  rules_.timestamp_after_max_ms = 0;
  const Buffer batch = make_batch(10, kNow * 2);
  for (const Compression codec : kAllCodecs) {
    ASSERT_EQ(error_of(compressed(batch, codec)), ErrorCode::none);
    const BatchView view(copy_);
    EXPECT_TRUE(view.is_append_time());
    EXPECT_EQ(view.max_timestamp(), kNow);
    EXPECT_EQ(view.base_timestamp(), kNow * 2);
    EXPECT_EQ(view.crc(), view.computed_crc());
    EXPECT_EQ(verdict_.max_timestamp, kNow);
  }
  Buffer claims = batch;
  set_field(claims, batch_position::kAttributes, batch_attribute::kAppendTime);
  EXPECT_EQ(error_of(claims), ErrorCode::invalid_timestamp);
}

TEST_F(BatchValidatorTest, CreateTimeClearsAClaimOfAppendTime) {
  Buffer batch = make_batch(10, kNow);
  const Buffer right = batch;
  set_field(batch, batch_position::kAttributes, batch_attribute::kAppendTime);
  EXPECT_EQ(error_of(batch), ErrorCode::none);
  EXPECT_EQ(copy_, right);
}

TEST_F(BatchValidatorTest, TimestampsOutOfRangeAreListed) {
  rules_.timestamp_before_max_ms = 1000;
  rules_.timestamp_after_max_ms = 2000;
  BatchBuilder builder;
  for (const int64_t timestamp :
       {kNow - 1001, kNow - 1000, int64_t{-1}, kNow + 2000, kNow + 2001}) {
    builder.append(base::as_bytes("k"), std::nullopt, timestamp);
  }
  EXPECT_EQ(error_of(to_buffer(builder.finish())), ErrorCode::invalid_timestamp);
  ASSERT_EQ(verdict_.bad_records.size(), 2u);
  EXPECT_EQ(verdict_.bad_records[0], 0);
  EXPECT_EQ(verdict_.bad_records[1], 4);
  EXPECT_TRUE(verdict_.with_log_start_offset);
}

TEST_F(BatchValidatorTest, ExtremeTimestampsNeitherCrashNorWrap) {
  // base + delta past the end of time is no timestamp at all.
  Buffer batch = make_batch(2, kNow);
  set_field(batch, batch_position::kBaseTimestamp, INT64_MAX);
  EXPECT_EQ(error_of(batch), ErrorCode::invalid_timestamp);
  set_field(batch, batch_position::kBaseTimestamp, INT64_MIN);
  rules_.timestamp_after_max_ms = 1000;
  EXPECT_EQ(error_of(batch), ErrorCode::none);
  rules_.timestamp_before_max_ms = INT64_MAX - 1;
  EXPECT_EQ(error_of(batch), ErrorCode::invalid_timestamp);
}

TEST_F(BatchValidatorTest, CompactedTopicsNeedKeys) {
  rules_.keys_required = true;
  rules_.timestamp_after_max_ms = 0;
  BatchBuilder builder;
  builder.append(base::as_bytes(""), std::nullopt, kNow);
  builder.append(std::nullopt, base::as_bytes("v"), kNow + 5);
  builder.append(base::as_bytes("k"), base::as_bytes("v"), kNow + 5);
  builder.append(std::nullopt, base::as_bytes("v"), kNow);
  const Buffer batch = to_buffer(builder.finish());
  for (const Compression codec : kAllCodecs) {
    EXPECT_EQ(error_of(compressed(batch, codec)), ErrorCode::invalid_record);
    // Only the keyless ones, although others are too new.
    ASSERT_EQ(verdict_.bad_records.size(), 2u);
    EXPECT_EQ(verdict_.bad_records[0], 1);
    EXPECT_EQ(verdict_.bad_records[1], 3);
  }
}

}  // namespace
}  // namespace weir::log
