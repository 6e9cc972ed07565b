#include "io/base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace weir::base {
namespace {

TEST(Units, SettingsInMillisecondsAreDurationsThatCanBeAdded) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ms_to_ns(1), 1'000'000);
  EXPECT_EQ(ms_to_ns(0), 0);
  EXPECT_EQ(ms_to_ns(-1), 0);
  constexpr int64_t kLongest_ms = kMax / 1'000'000 / 2;
  EXPECT_EQ(ms_to_ns(kLongest_ms), kLongest_ms * 1'000'000);
  EXPECT_EQ(ms_to_ns(kLongest_ms + 1), kLongest_ms * 1'000'000);
  EXPECT_EQ(ms_to_ns(kMax), kLongest_ms * 1'000'000);
  EXPECT_GT(kMax / 2 + ms_to_ns(kMax), 0);
}

}  // namespace
}  // namespace weir::base
