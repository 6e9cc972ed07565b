// Proves which segments retention lets go: by size and by age, oldest first, never what is not
// committed, never earlier than the rules say, and not later because of timestamps that are wrong.
#include "engine/log/retention.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {


RetentionTime at(int64_t ms_later) {
  return {kNow + ms_later, io::Instant{} + ms_later * 1'000'000};
}

// Segments of one batch each, appended at time zero.
class RetentionTest : public testing::Test {
 protected:
  void add(int64_t timestamp, size_t size = 1'000) {
    Segment& segment = world.roll(size + 500);
    world.append(make_batch(1, timestamp, size));
    segment.appended = io::Instant{};
    sizes.push_back(segment.end);
    // As a loader or a validator leaves it: without a timestamp it is -1.
  }
  int64_t start(const RetentionRules& rules, const RetentionTime& now) {
    return find_expired(world.log(), rules, now).start.value();
  }
  LogWorld world;
  std::vector<uint64_t> sizes;
};

TEST_F(RetentionTest, nothing_goes_without_a_limit) {
  for (int i = 0; i < 3; ++i) add(0);
  EXPECT_EQ(start({}, at(std::numeric_limits<int32_t>::max())), 0);
}

TEST_F(RetentionTest, by_age_of_the_newest_record) {
  for (const int64_t age : {500, 400, 300}) add(kNow - age);
  const RetentionRules rules{.age_ms_max = 400};
  EXPECT_EQ(start(rules, at(-100)), 0) << "exactly as old as allowed";
  EXPECT_EQ(start(rules, at(-99)), 1);
  EXPECT_EQ(start(rules, at(0)), 1);
  EXPECT_EQ(start(rules, at(1)), 2);
  const Expired all = find_expired(world.log(), rules, at(101));
  EXPECT_EQ(all.start.value(), 3);
  EXPECT_EQ(start({.age_ms_max = 0}, at(1)), 3);
}

TEST_F(RetentionTest, the_first_that_stays_keeps_all_behind_it) {
  for (const int64_t age : {100, 900, 900}) add(kNow - age);
  EXPECT_EQ(start({.age_ms_max = 500}, at(0)), 0);
}

TEST_F(RetentionTest, by_size_while_enough_is_left) {
  for (int i = 0; i < 4; ++i) add(kNow);
  const auto size = static_cast<int64_t>(sizes[0]);
  EXPECT_EQ(start({.size_bytes_max = 4 * size}, at(0)), 0);
  EXPECT_EQ(start({.size_bytes_max = 3 * size + 1}, at(0)), 0);
  EXPECT_EQ(start({.size_bytes_max = 3 * size}, at(0)), 1);
  EXPECT_EQ(start({.size_bytes_max = 1}, at(0)), 3);
  const Expired all = find_expired(world.log(), {.size_bytes_max = 0}, at(0));
  EXPECT_EQ(all.start.value(), 4);
  EXPECT_EQ(start({.size_bytes_max = std::numeric_limits<int64_t>::max()}, at(0)), 0);
}

TEST_F(RetentionTest, what_is_not_committed_stays) {
  for (int i = 0; i < 2; ++i) add(kNow - 1'000);
  world.log().active().committed = 0;
  const Expired expired = find_expired(world.log(), {.age_ms_max = 1, .size_bytes_max = 0}, at(0));
  EXPECT_EQ(expired.start.value(), 1);
}

TEST_F(RetentionTest, what_is_not_committed_pushes_nothing_out) {
  for (int i = 0; i < 3; ++i) add(kNow);
  const auto size = static_cast<int64_t>(sizes[0]);
  EXPECT_EQ(start({.size_bytes_max = 2 * size}, at(0)), 1);
  world.log().active().committed = 0;
  EXPECT_EQ(start({.size_bytes_max = 2 * size}, at(0)), 0);
  EXPECT_EQ(start({.size_bytes_max = size}, at(0)), 1);
}

TEST_F(RetentionTest, an_empty_active_segment_stays) {
  add(kNow - 1'000);
  world.roll(1'000);
  const Expired expired = find_expired(world.log(), {.age_ms_max = 1, .size_bytes_max = 0}, at(0));
  EXPECT_EQ(expired.start.value(), 1);
}

TEST_F(RetentionTest, what_lies_below_the_start_goes_without_rules) {
  for (int i = 0; i < 3; ++i) add(kNow);
  world.log().advance_start(model::Offset(3));
  const Expired expired = find_expired(world.log(), {}, at(0));
  EXPECT_EQ(expired.start.value(), 3);
}

// CASES C47, RELIABILITY F33: a record of the year 2100, or of any other time that cannot be.
TEST_F(RetentionTest, a_record_of_the_far_future_neither_keeps_nor_takes) {
  const RetentionRules rules{.age_ms_max = 600'000};
  for (const int64_t timestamp :
       {kNow + 3 * kHour, kNow * 1000, std::numeric_limits<int64_t>::max()}) {
    LogWorld one;
    one.roll(2'000);
    one.append(make_batch(1, timestamp, 100));
    one.log().active().appended = io::Instant{};
    const auto start_at = [&](int64_t ms) {
      return find_expired(one.log(), rules, at(ms)).start.value();
    };
    EXPECT_EQ(start_at(600'001), 0) << "not earlier than a record that was an hour ahead";
    EXPECT_EQ(start_at(kHour + 600'000), 0);
    EXPECT_EQ(start_at(kHour + 600'001), 1) << timestamp;
  }
}

TEST_F(RetentionTest, a_record_a_little_ahead_counts_for_what_it_says) {
  add(kNow + kHour);
  EXPECT_EQ(start({.age_ms_max = 600'000}, at(kHour + 600'000)), 0);
  EXPECT_EQ(start({.age_ms_max = 600'000}, at(kHour + 600'001)), 1);
}

TEST_F(RetentionTest, without_timestamps_the_append_counts) {
  add(-1);
  add(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(start({.age_ms_max = 1'000}, at(1'000)), 0);
  EXPECT_EQ(start({.age_ms_max = 1'000}, at(1'001)), 2);
}

TEST_F(RetentionTest, asks_for_what_it_does_not_know) {
  for (int i = 0; i < 2; ++i) add(kNow - 1'000);
  Segment& oldest = *world.log().segments().front();
  oldest.ledger_loaded = false;
  const RetentionRules rules{.age_ms_max = 500};
  EXPECT_EQ(find_expired(world.log(), rules, at(0)).unknown, &oldest);
  EXPECT_EQ(find_expired(world.log(), {.size_bytes_max = 0}, at(0)).unknown, nullptr);
  oldest.max_timestamp = kNow - 1'000;
  EXPECT_EQ(start(rules, at(0)), 2);
  oldest.max_timestamp = kNow;
  EXPECT_EQ(start(rules, at(0)), 0);
}

TEST_F(RetentionTest, a_segment_rolls_when_it_is_old_enough) {
  add(kNow);
  Segment& active = world.log().active();
  active.first_timestamp = kNow;
  EXPECT_FALSE(rolls_by_age(active, kNow + 100, 100, at(200)));
  EXPECT_TRUE(rolls_by_age(active, kNow + 101, 100, at(200)));
  EXPECT_FALSE(rolls_by_age(active, kNow + 101, 100, at(100))) << "the future does not roll it";
  EXPECT_FALSE(rolls_by_age(active, kNow - 500, 100, at(900))) << "nor does the past";
  active.first_timestamp = -1;
  EXPECT_FALSE(rolls_by_age(active, kNow, 100, at(100)));
  EXPECT_TRUE(rolls_by_age(active, -1, 100, at(101)));
  world.roll(1'000);
  EXPECT_FALSE(rolls_by_age(world.log().active(), kNow, 0, at(1'000))) << "an empty one never";
}

}  // namespace
}  // namespace weir::log
