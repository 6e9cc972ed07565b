// Proves: inside one batch the first record in offset order with a timestamp at or past the wanted
// one is found, compressed or not, whatever the order of the timestamps.
#include "engine/log/time_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "io/base/random.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {
namespace {

Buffer batch_at(std::span<const int64_t> timestamps, int64_t base_offset) {
  BatchBuilder builder({.base_offset = model::Offset(base_offset)});
  for (const int64_t timestamp : timestamps) {
    builder.append(std::nullopt, base::as_bytes(std::string_view("value")), timestamp);
  }
  return to_buffer(builder.finish());
}

TEST(TimeSearch, as_a_scan_finds_it) {
  Inflater inflater;
  base::RandomStream random(2);
  const Compression kinds[] = {Compression::none, Compression::gzip, Compression::snappy,
                               Compression::lz4, Compression::zstd};
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> timestamps(random.between(1, 20));
    for (int64_t& timestamp : timestamps) timestamp = static_cast<int64_t>(random.below(50)) - 5;
    const Buffer plain = batch_at(timestamps, 1000);
    const Compression kind = kinds[random.below(5)];
    const Buffer batch = kind == Compression::none ? plain : compressed(plain, kind);
    for (int64_t wanted = 0; wanted < 50; wanted += 7) {
      const auto found = find_timestamp(batch, wanted, model::Offset(0), inflater);
      const auto late = [&](int64_t timestamp) { return timestamp >= wanted; };
      const auto expected = std::ranges::find_if(timestamps, late);
      ASSERT_EQ(found.has_value(), expected != timestamps.end());
      if (!found) continue;
      ASSERT_EQ(found->offset.value(), 1000 + (expected - timestamps.begin()));
      ASSERT_EQ(found->timestamp, *expected);
    }
    // A log may start in the middle of it.
    const auto skipped = static_cast<int64_t>(random.below(timestamps.size() + 1));
    const auto rest = std::span(timestamps).subspan(static_cast<size_t>(skipped));
    const model::Offset from(1000 + skipped);
    const auto late = std::ranges::find_if(rest, [](int64_t timestamp) { return timestamp >= 9; });
    const auto found = find_timestamp(batch, 9, from, inflater);
    ASSERT_EQ(found.has_value(), late != rest.end());
    if (found) {
      ASSERT_EQ(found->offset.value(), from.value() + (late - rest.begin()));
    }
    const int64_t largest = rest.empty() ? -1 : std::max<int64_t>(-1, std::ranges::max(rest));
    ASSERT_EQ(largest_timestamp(batch, from, inflater), largest);
  }
}

TEST(TimeSearch, append_time_counts_for_the_whole_batch) {
  Inflater inflater;
  Buffer batch = batch_at(std::array<int64_t, 3>{5, 6, 7}, 10);
  set_field(batch, batch_position::kAttributes, batch_attribute::kAppendTime);
  set_field(batch, batch_position::kMaxTimestamp, int64_t{900});
  const auto found = find_timestamp(batch, 800, model::Offset(0), inflater);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset.value(), 10);
  EXPECT_EQ(found->timestamp, 900);
  EXPECT_FALSE(find_timestamp(batch, 901, model::Offset(0), inflater));
}

TEST(TimeSearch, times_at_the_ends_of_the_range) {
  Inflater inflater;
  const Buffer batch = batch_at(std::array{std::numeric_limits<int64_t>::max(), int64_t{0}}, 0);
  const auto found = find_timestamp(batch, std::numeric_limits<int64_t>::max(),
                                    model::Offset(0), inflater);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset.value(), 0);
}

TEST(TimeSearch, large_compressed_batches_are_inflated_whole) {
  Inflater inflater;
  BatchBuilder builder;
  const std::string value(3'000, 'v');
  for (int64_t i = 0; i < 300; ++i) builder.append(std::nullopt, base::as_bytes(value), i);
  const Buffer batch = compressed(to_buffer(builder.finish()), Compression::zstd);
  const auto found = find_timestamp(batch, 299, model::Offset(0), inflater);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset.value(), 299);
}

}  // namespace
}  // namespace weir::log
