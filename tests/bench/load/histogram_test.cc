// Percentiles within a thousandth of the sorted values, merging as if added to one, the text form
// there and back, and what it refuses.

#include "bench/load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/base/random.h"

namespace weir::load {
namespace {

TEST(LoadHistogram, EmptyHasNoValues) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.percentile(0.5), 0u);
  EXPECT_EQ(histogram.mean(), 0.0);
}

TEST(LoadHistogram, BucketsAreContiguousAndNarrow) {
  uint64_t lower = 0;
  for (uint32_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    const uint64_t upper = Histogram::upper_edge(i);
    ASSERT_EQ(Histogram::index_of(lower), i);
    ASSERT_EQ(Histogram::index_of(upper), i);
    ASSERT_LE(static_cast<double>(upper - lower), static_cast<double>(lower) * 0.001) << i;
    lower = upper + 1;
  }
  EXPECT_EQ(lower, (uint64_t{1} << 42) - (uint64_t{1} << 31));
}

TEST(LoadHistogram, PercentilesAreThoseOfTheSortedValues) {
  base::RandomStream random(1);
  Histogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    // Spread over six decades.
    const double draw = static_cast<double>(random.below(1'000'000)) / 1e6;
    values.push_back(static_cast<uint64_t>(std::pow(10.0, 3 + 6 * draw)));
    histogram.add(static_cast<int64_t>(values.back()));
  }
  std::ranges::sort(values);
  for (const double share : {0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto rank = static_cast<size_t>(std::ceil(share * 100'000.0 - 1e-9));
    const auto exact = static_cast<double>(values[rank == 0 ? 0 : rank - 1]);
    const auto found = static_cast<double>(histogram.percentile(share));
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(found, exact * 1.001 + 1) << share;
  }
  EXPECT_EQ(histogram.percentile(1), values.back());
  EXPECT_EQ(histogram.max(), values.back());
}

TEST(LoadHistogram, ValuesOutsideAreKeptAtTheEnds) {
  Histogram histogram;
  histogram.add(-5);
  EXPECT_EQ(histogram.percentile(1), 0u);
  const int64_t beyond = int64_t{1} << 50;
  histogram.add(beyond);
  EXPECT_EQ(histogram.max(), static_cast<uint64_t>(beyond));
  EXPECT_EQ(histogram.percentile(1), static_cast<uint64_t>(beyond));
}

TEST(LoadHistogram, MergingIsAddingToOne) {
  base::RandomStream random(2);
  Histogram all;
  Histogram parts[2];
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<int64_t>(random.below(1'000'000'000));
    const uint64_t times = 1 + random.below(3);
    all.add(value, times);
    parts[i % 2].add(value, times);
  }
  parts[0].merge(parts[1]);
  EXPECT_EQ(parts[0].to_text(), all.to_text());
  EXPECT_EQ(parts[0].count(), all.count());
  EXPECT_DOUBLE_EQ(parts[0].mean(), all.mean());
}

TEST(LoadHistogram, TheTextSaysAll) {
  Histogram histogram;
  for (const int64_t value : {0, 1, 1, 2047, 2048, 123'456'789}) histogram.add(value);
  const std::string text = histogram.to_text();
  EXPECT_TRUE(text.starts_with("weir-hdr1:123456789:")) << text;
  const auto read = Histogram::from_text(text);
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->to_text(), text);
  EXPECT_EQ(read->count(), 6u);
  EXPECT_EQ(read->percentile(0.5), histogram.percentile(0.5));
  EXPECT_EQ(read->max(), 123'456'789u);
  const auto empty = Histogram::from_text(Histogram().to_text());
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->count(), 0u);
}

TEST(LoadHistogram, TextsThatAreNoneAreRefused) {
  for (const char* text : {
           "", "hdr:1:1:", "weir-hdr1:", "weir-hdr1:5", "weir-hdr1:5:5", "weir-hdr1:5:5:x",
           "weir-hdr1:5:5:5", "weir-hdr1:5:5:5*", "weir-hdr1:5:5:5*1,", "weir-hdr1:5:5:5*1;6*1",
           "weir-hdr1:5:5:5*0", "weir-hdr1:6:5:5*1", "weir-hdr1:5:5:",
           "weir-hdr1:5:10:5*1,5*1", "weir-hdr1:5:10:6*1,5*1", "weir-hdr1:9:9:99999*1"}) {
    EXPECT_FALSE(Histogram::from_text(text)) << text;
  }
}

}  // namespace
}  // namespace weir::load
