// Pre-built batches are what a broker accepts (held against the engine's own validator), stamped
// ones too; sizes, keys and codecs are as asked; limits on both sides.

#include "bench/load/batch_factory.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "engine/log/batch_validator.h"
#include "engine/log/record_batch.h"
#include "io/base/crc32c.h"

namespace weir::load {
namespace {

using Buffer = std::vector<std::byte>;

BatchFactory make(const BatchSpec& spec) {
  auto factory = BatchFactory::make(spec);
  EXPECT_TRUE(factory) << factory.error().detail;
  return *std::move(factory);
}

// The batch as it travels: a stamped front and the rest.
Buffer stamped(const Batch& batch, const Stamp& stamp, int64_t timestamp_ms) {
  Buffer bytes(BatchFactory::kFrontSizeMax);
  bytes.resize(stamp_front(batch, stamp, timestamp_ms, bytes));
  bytes.insert(bytes.end(), batch.rest().begin(), batch.rest().end());
  return bytes;
}

std::vector<log::Record> records_of(std::span<const std::byte> batch) {
  std::vector<log::Record> all;
  auto bytes = log::BatchView(batch).records();
  log::Record record;
  while (!bytes.empty() && log::read_record(bytes, record)) all.push_back(record);
  return all;
}

void expect_valid(Buffer bytes) {
  log::BatchValidator validator;
  const log::BatchRules rules{.batch_size_max = 64 << 20, .now_ms = 1'700'000'000'000};
  const auto verdict = validator.validate(bytes, rules);
  EXPECT_EQ(verdict.error, model::ErrorCode::none) << verdict.message;
}

TEST(BatchFactory, StampedBatchesAreValid) {
  const Stamp stamp{.producer = 0xabcd0003, .sequence = 77, .intended_ns = 123'456'789'012};
  for (const size_t value_size : {size_t{24}, size_t{100}, size_t{127}, size_t{1024}}) {
    for (const auto keys : {KeyDistribution::none, KeyDistribution::uniform}) {
      const auto factory = make({.value_size = value_size, .batch_size_max = 10'000, .keys = keys});
      const Buffer bytes = stamped(factory.batch(0, 0), stamp, 1'700'000'000'000);
      ASSERT_EQ(bytes.size(), factory.batch(0, 0).bytes.size());
      expect_valid(bytes);
      const log::BatchView view(bytes);
      EXPECT_EQ(view.crc(), view.computed_crc());
      EXPECT_EQ(view.base_timestamp(), 1'700'000'000'000);
      EXPECT_EQ(view.max_timestamp(), 1'700'000'000'000);
      const auto records = records_of(bytes);
      ASSERT_EQ(records.size(), static_cast<size_t>(view.record_count()));
      EXPECT_EQ(read_stamp(*records[0].value), stamp);
      if (records.size() > 1) {
        EXPECT_EQ(read_stamp(*records[1].value), std::nullopt);
      }
      for (const auto& record : records) EXPECT_EQ(record.value->size(), value_size);
    }
  }
}

TEST(BatchFactory, SmallValuesAndCodecsCarryNoStampButAreValid) {
  using enum log::Compression;
  for (const auto codec : {none, gzip, snappy, lz4, zstd}) {
    const auto factory = make({.value_size = codec == none ? size_t{23} : size_t{500},
                               .batch_size_max = 100'000,
                               .compression = {.compression = codec, .level = 1}});
    const Batch& batch = factory.batch(0, 0);
    EXPECT_EQ(batch.stamp_position, 0u);
    const Buffer bytes = stamped(batch, {.producer = 1}, 1'700'000'000'000);
    expect_valid(bytes);
    EXPECT_EQ(log::BatchView(bytes).compression(), codec);
    EXPECT_EQ(log::BatchView(bytes).crc(), log::BatchView(bytes).computed_crc());
    // Half of each value is random: between a third and two thirds are left.
    if (codec != none) {
      EXPECT_GT(bytes.size(), 33'000u);
      EXPECT_LT(bytes.size(), 75'000u) << static_cast<int>(codec);
    }
  }
}

TEST(BatchFactory, BatchesAreFullButNotLarger) {
  for (const size_t size : {size_t{2'000}, size_t{65'536}, size_t{1'048'576}}) {
    const auto factory = make({.value_size = 1024, .batch_size_max = size});
    EXPECT_LE(factory.size_max(), size);
    EXPECT_GT(factory.size_max() + 1024 + 64, size);
  }
  // One record there is, however large.
  const auto one = make({.value_size = 1 << 20, .batch_size_max = 100});
  EXPECT_EQ(one.batch(0, 0).record_count, 1);
  const auto counted = make({.value_size = 10, .record_count = 7});
  EXPECT_EQ(counted.batch(0, 0).record_count, 7);
}

TEST(BatchFactory, KeyedBatchesHoldTheKeysOfTheirPartition) {
  const BatchSpec spec{.value_size = 100,
                       .record_count = 50,
                       .keys = KeyDistribution::uniform,
                       .key_count = 1000,
                       .tombstone_share = 0.1,
                       .partition_count = 7};
  const auto factory = make(spec);
  std::set<std::string> keys;
  size_t records = 0;
  size_t tombstones = 0;
  for (int32_t partition = 0; partition < 7; ++partition) {
    for (uint64_t n = 0; n < 100; ++n) {
      for (const auto& record : records_of(factory.batch(partition, n).bytes)) {
        const std::string key(base::as_text(*record.key));
        const int number = std::stoi(key.substr(4));
        ASSERT_EQ(number % 7, partition) << key;
        ASSERT_LT(number, 1000);
        keys.insert(key);
        ++records;
        tombstones += record.value ? 0 : 1;
      }
    }
  }
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_EQ(factory.distinct_keys(), 1000u);
  const double share = static_cast<double>(tombstones) / static_cast<double>(records);
  EXPECT_NEAR(share, 0.1, 0.01);
}

TEST(BatchFactory, TheSameSeedGivesTheSameBatches) {
  const BatchSpec spec{.value_size = 50, .keys = KeyDistribution::zipf, .key_count = 100};
  BatchSpec other = spec;
  other.seed = 2;
  EXPECT_EQ(make(spec).batch(0, 3).bytes, make(spec).batch(0, 3).bytes);
  EXPECT_NE(make(spec).batch(0, 3).bytes, make(other).batch(0, 3).bytes);
}

TEST(BatchFactory, WhatIsOutOfRangeIsNamed) {
  const auto refused = [](const BatchSpec& spec, const char* what) {
    const auto factory = BatchFactory::make(spec);
    ASSERT_FALSE(factory) << what;
    EXPECT_NE(factory.error().detail.find(what), std::string::npos) << factory.error().detail;
  };
  refused({.value_size = BatchFactory::kValueSizeMax + 1}, "record size");
  refused({.record_count = -1}, "-1 records");
  refused({.keys = KeyDistribution::uniform, .key_count = 0}, "0 keys");
  refused({.keys = KeyDistribution::uniform, .key_count = 2, .partition_count = 3}, "2 keys");
  refused({.keys = KeyDistribution::zipf, .key_count = KeyChooser::kCountMax + 1}, "keys");
  refused({.keys = KeyDistribution::zipf, .zipf_exponent = 10.5}, "exponent");
  refused({.tombstone_share = 0.5}, "tombstones");
  refused({.keys = KeyDistribution::uniform, .tombstone_share = 1}, "tombstone");
  refused({.random_share = 1.01}, "random share");
  refused({.partition_count = 0}, "0 partitions");
  make({.value_size = 30, .keys = KeyDistribution::uniform, .key_count = 3, .partition_count = 3});
  make({.value_size = 0});
}

TEST(Stamp, IsReadFromItsMagicAndSizeOn) {
  Buffer value(kStampSize);
  EXPECT_EQ(read_stamp(value), std::nullopt);
  const auto factory = make({.value_size = 24});
  const Buffer bytes = stamped(factory.batch(0, 0), {.producer = 5}, 0);
  const auto first = *records_of(bytes)[0].value;
  EXPECT_TRUE(read_stamp(first));
  EXPECT_FALSE(read_stamp(first.first(kStampSize - 1)));
}

TEST(CrcShift, CombinesAsTheChecksumOfBoth) {
  base::RandomStream random(4);
  Buffer bytes(300'000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  const std::span<const std::byte> all(bytes);
  for (const size_t front : {size_t{0}, size_t{1}, size_t{85}, size_t{4096}, bytes.size()}) {
    const size_t rest = bytes.size() - front;
    EXPECT_EQ(CrcShift(rest).combine(base::crc32c(all.first(front)),
                                     base::crc32c(all.subspan(front))),
              base::crc32c(all))
        << front;
  }
}

TEST(KeyChooser, ZipfDrawsInProportion) {
  constexpr int kDraws = 300'000;
  KeyChooser chooser(KeyDistribution::zipf, 1000, 0.99, 3);
  std::map<int64_t, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t key = chooser.next();
    ASSERT_GE(key, 0);
    ASSERT_LT(key, 1000);
    ++counts[key];
  }
  EXPECT_NEAR(static_cast<double>(counts[0]) / counts[1], std::pow(2, 0.99), 0.1);
  EXPECT_NEAR(static_cast<double>(counts[0]) / counts[9], std::pow(10, 0.99), 0.8);
}

TEST(KeyChooser, UniformDrawsAll) {
  KeyChooser chooser(KeyDistribution::uniform, 10, 0, 3);
  std::map<int64_t, int> counts;
  for (int i = 0; i < 100'000; ++i) ++counts[chooser.next()];
  ASSERT_EQ(counts.size(), 10u);
  for (const auto& [key, count] : counts) EXPECT_NEAR(count, 10'000, 500) << key;
}

}  // namespace
}  // namespace weir::load
