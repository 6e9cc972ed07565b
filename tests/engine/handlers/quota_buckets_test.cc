// One bucket, second by second: what may be used at once, how debts are paid, what is refused, what
// is forgotten.
#include "engine/handlers/quota_buckets.h"

#include <gtest/gtest.h>

#include "tests/support/manual_core.h"

namespace weir::handlers {
namespace {

using catalog::QuotaKind;

class QuotaBucketsTest : public testing::Test {
 protected:
  // 10 units a second, 100 at once.
  int32_t charge(double amount, const std::string& bucket = "b") {
    QuotaCharge charge;
    charge.bucket = bucket;
    charge.rate = 10;
    charge.capacity = 100;
    charge.amount = amount;
    charge.kind = kind;
    charge.may_refuse = may_refuse;
    buckets.charge(charge);
    refused = charge.refused;
    return charge.throttle_ms;
  }
  void pass_ms(int64_t ms) {
    core.loop.advance_ms(ms, [] {});
  }

  test::ManualCore core;
  QuotaBuckets buckets{core.io};
  QuotaKind kind = QuotaKind::produce;
  bool may_refuse = false;
  bool refused = false;
};

TEST_F(QuotaBucketsTest, AWindowAtOnceThenTheRate) {
  EXPECT_EQ(charge(100), 0);
  EXPECT_EQ(charge(1), 100);
  pass_ms(100);
  EXPECT_EQ(charge(0), 0);
  EXPECT_EQ(charge(10), 1000);
  EXPECT_EQ(charge(10), 2000) << "debts add up";
  pass_ms(2000);
  EXPECT_EQ(charge(0), 0);
  pass_ms(3'600'000);
  EXPECT_EQ(charge(100), 0) << "it never holds more than a window";
  EXPECT_EQ(charge(1), 100);
}

TEST_F(QuotaBucketsTest, BucketsAreApart) {
  EXPECT_EQ(charge(100, "a"), 0);
  EXPECT_EQ(charge(100, "b"), 0);
  EXPECT_EQ(charge(1, "a"), 100);
}

TEST_F(QuotaBucketsTest, WaitsAndDebtsHaveALimit) {
  EXPECT_EQ(charge(100 + 10 * 20), kThrottleMsMax);
  pass_ms(kThrottleMsMax);
  EXPECT_EQ(charge(0), 0);
  EXPECT_EQ(charge(10 * 20.1), kThrottleMsMax);
  charge(1e18);
  pass_ms(static_cast<int64_t>(kDebtSecondsMax) * 1000 - 1000);
  EXPECT_EQ(charge(0), 1000) << "of the debt ten minutes are left";
  kind = QuotaKind::request;
  EXPECT_EQ(charge(10), kRequestThrottleMsMax);
}

TEST_F(QuotaBucketsTest, RefusedIsNotCharged) {
  may_refuse = true;
  EXPECT_EQ(charge(60), 0);
  EXPECT_FALSE(refused);
  EXPECT_EQ(charge(60), 2000);
  EXPECT_TRUE(refused);
  pass_ms(1999);
  EXPECT_EQ(charge(60), 1);
  EXPECT_TRUE(refused);
  pass_ms(1);
  EXPECT_EQ(charge(60), 0);
  EXPECT_FALSE(refused);
}

TEST_F(QuotaBucketsTest, WhatNeverFitsNeedsAFullBucket) {
  may_refuse = true;
  EXPECT_EQ(charge(1), 0);
  EXPECT_EQ(charge(300), 100) << "until it is full";
  EXPECT_TRUE(refused);
  pass_ms(100);
  EXPECT_EQ(charge(300), kThrottleMsMax);
  EXPECT_FALSE(refused);
  EXPECT_EQ(charge(1), kThrottleMsMax);
  EXPECT_TRUE(refused);
}

TEST_F(QuotaBucketsTest, MemoryHasALimit) {
  for (size_t i = 0; i < kQuotaBucketsMax; ++i) charge(1, std::to_string(i));
  EXPECT_EQ(buckets.size(), kQuotaBucketsMax);
  charge(1, "0");
  EXPECT_EQ(buckets.size(), kQuotaBucketsMax);
  charge(200, "one more");
  EXPECT_EQ(buckets.size(), kQuotaBucketsMax / 2 + 1) << "none was full";
  pass_ms(1000);
  for (size_t i = 0; buckets.size() < kQuotaBucketsMax; ++i) charge(0, "x" + std::to_string(i));
  charge(0, "last");
  EXPECT_EQ(buckets.size(), 2u) << "all were full but the one with a debt";
  EXPECT_GT(charge(0, "one more"), 0);
}

TEST_F(QuotaBucketsTest, UnitsOfRequestTimeAreNanoseconds) {
  EXPECT_EQ(units_per_second(QuotaKind::produce, 7), 7);
  EXPECT_EQ(units_per_second(QuotaKind::request, 50), 5e8);
}

}  // namespace
}  // namespace weir::handlers
