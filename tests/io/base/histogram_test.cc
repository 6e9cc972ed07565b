// Proves: a quantile is never below the true one and at most an eighth above it; buckets cover
// every value without gap or overlap; histograms add up.
#include "io/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "io/base/random.h"

namespace weir::base {
namespace {

TEST(Histogram, buckets_follow_one_another) {
  uint64_t next = 0;
  for (uint32_t i = 0; i < Histogram::kBuckets; ++i) {
    ASSERT_EQ(Histogram::index_of(next), i) << "lower edge";
    const uint64_t upper = Histogram::upper_edge(i);
    ASSERT_GE(upper, next);
    ASSERT_EQ(Histogram::index_of(upper), i) << "upper edge";
    next = upper + 1;
  }
  EXPECT_EQ(next, uint64_t{1} << 40);
  EXPECT_EQ(Histogram::index_of(next), Histogram::kBuckets - 1);
  EXPECT_EQ(Histogram::index_of(UINT64_MAX), Histogram::kBuckets - 1);
}

TEST(Histogram, quantiles_lie_within_their_bounds) {
  RandomStream random(1);
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    std::vector<uint64_t> values;
    const uint64_t count = random.between(1, 2'000);
    for (uint64_t i = 0; i < count; ++i) {
      values.push_back(random.next() >> random.between(24, 63));
      histogram.add(values.back());
    }
    std::ranges::sort(values);
    for (const double share : {0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const double rank = share * static_cast<double>(count);
      const auto index = static_cast<size_t>(std::max(0.0, rank - 1e-6));
      const uint64_t exact = values[std::min(index, values.size() - 1)];
      const uint64_t got = histogram.quantile(share);
      ASSERT_GE(got, exact) << share;
      ASSERT_LE(got, exact + exact / 8 + 1) << share;
    }
    ASSERT_EQ(histogram.max(), values.back());
    ASSERT_EQ(histogram.quantile(1.0), values.back());
    ASSERT_EQ(histogram.count(), count);
  }
}

TEST(Histogram, an_empty_one_says_zero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  EXPECT_EQ(histogram.count(), 0u);
}

TEST(Histogram, merged_is_as_if_added_to_one) {
  RandomStream random(2);
  Histogram all;
  Histogram parts[3];
  for (int i = 0; i < 3'000; ++i) {
    const uint64_t value = random.below(1'000'000);
    all.add(value);
    parts[i % 3].add(value);
  }
  for (int i = 1; i < 3; ++i) parts[0].merge(parts[i]);
  EXPECT_EQ(parts[0].count(), all.count());
  EXPECT_EQ(parts[0].sum(), all.sum());
  EXPECT_EQ(parts[0].max(), all.max());
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(parts[0].quantile(i / 100.0), all.quantile(i / 100.0));
}

}  // namespace
}  // namespace weir::base
