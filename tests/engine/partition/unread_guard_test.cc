// Proves that segments which a holding group has not read stay, up to the limit, that every group
// is warned a round before records that it has not read are deleted, with their number, and that
// groups which have read them, or none at all, change nothing.
#include "engine/partition/unread_guard.h"

#include <gtest/gtest.h>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

constexpr int64_t kGuardCheckMs = 10'000;

class Positions : public ReadPositions {
 public:
  explicit Positions(io::Loop& loop) : loop_(loop) {}
  void update(io::Op& done) override { loop_.post(done); }
  std::span<const ReadPosition> of(model::PartitionKey) const override { return list; }
  std::vector<ReadPosition> list;

 private:
  io::Loop& loop_;
};

WorldOptions expiring() {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.settings.retention.age_ms_max = 1'000;
  options.partition.retention_check_ms = kGuardCheckMs;
  return options;
}

// Forty records in segments of eight or nine, all of them old.
class UnreadGuardTest : public testing::Test {
 protected:
  explicit UnreadGuardTest(const WorldOptions& options = expiring())
      : world(1, options), positions(world.sim().core(0).loop) {
    EXPECT_TRUE(world.start());
    for (int i = 0; i < 40; ++i) EXPECT_GE(world.append(log::make_batch(1, 1'000, 7'000)), 0);
    second = world.partition().log().segments()[1]->base_offset.value();
    world.table().start_retention(&positions);
  }
  void wait_rounds(int64_t count) { world.sim().run_for(count * kGuardCheckMs * 1'000'000); }
  // Into the middle between rounds, and past the first, which deletes nothing by age.
  void settle() { world.sim().run_for(kGuardCheckMs * 1'000'000 + kSecond_ns); }
  int64_t start() { return world.partition().log_start_offset().value(); }
  PartitionWorld world;
  Positions positions;
  int64_t second = 0;  // where the second segment begins
};

TEST_F(UnreadGuardTest, without_groups_nothing_waits) {
  settle();
  wait_rounds(1);
  EXPECT_EQ(start(), 40);
  EXPECT_EQ(world.metrics().unread_at_risk, 0u);
  EXPECT_EQ(world.metrics().unread_dropped, 0u);
}

TEST_F(UnreadGuardTest, who_has_read_all_is_not_warned) {
  positions.list = {{.group = "g", .offset = model::Offset(40)}};
  settle();
  wait_rounds(1);
  EXPECT_EQ(start(), 40);
  EXPECT_EQ(world.metrics().unread_dropped, 0u);
}

TEST_F(UnreadGuardTest, warns_a_round_before) {
  positions.list = {{.group = "g", .offset = model::Offset(second + 2)},
                    {.group = "far ahead", .offset = model::Offset(40)}};
  settle();
  wait_rounds(1);
  EXPECT_EQ(start(), second) << "what it has read goes at once, whole segments of it";
  EXPECT_EQ(world.metrics().unread_at_risk, static_cast<uint64_t>(40 - second - 2));
  EXPECT_EQ(world.metrics().unread_dropped, 0u);
  wait_rounds(1);
  EXPECT_EQ(start(), 40);
  EXPECT_EQ(world.metrics().unread_dropped, static_cast<uint64_t>(40 - second - 2));
  EXPECT_EQ(world.metrics().unread_at_risk, 0u);
}

TEST_F(UnreadGuardTest, who_reads_in_time_loses_nothing) {
  positions.list = {{.group = "g", .offset = model::Offset(0)}};
  settle();
  wait_rounds(1);
  EXPECT_EQ(start(), 0);
  EXPECT_EQ(world.metrics().unread_at_risk, 40u);
  positions.list[0].offset = model::Offset(40);
  wait_rounds(1);
  EXPECT_EQ(start(), 40);
  EXPECT_EQ(world.metrics().unread_dropped, 0u);
}

TEST_F(UnreadGuardTest, a_holding_group_keeps_what_it_has_not_read) {
  positions.list = {{.group = "g", .offset = model::Offset(second), .holds = true}};
  settle();
  wait_rounds(5);
  EXPECT_EQ(start(), second);
  EXPECT_EQ(world.metrics().unread_at_risk, 0u) << "nothing is about to go";
  positions.list[0].offset = model::Offset(40);
  wait_rounds(1);
  EXPECT_EQ(start(), 40);
  EXPECT_EQ(world.metrics().unread_dropped, 0u);
}

WorldOptions little_room() {
  WorldOptions options = expiring();
  options.partition.hold_bytes_max = 100'000;
  return options;
}

class UnreadGuardLimitTest : public UnreadGuardTest {
 protected:
  UnreadGuardLimitTest() : UnreadGuardTest(little_room()) {}
};

TEST_F(UnreadGuardLimitTest, a_holding_group_keeps_no_more_than_allowed_and_is_warned) {
  positions.list = {{.group = "g", .offset = model::Offset(0), .holds = true}};
  settle();
  wait_rounds(1);
  EXPECT_EQ(start(), 0);
  EXPECT_GT(world.metrics().unread_at_risk, 0u);
  wait_rounds(1);
  EXPECT_GT(start(), 0);
  EXPECT_LT(start(), 40);
  const uint64_t size = world.partition().log().size_bytes();
  EXPECT_GE(size, 100'000u);
  EXPECT_LT(size, 100'000u + 64_KiB);
  EXPECT_EQ(world.metrics().unread_dropped, static_cast<uint64_t>(start()));
}

}  // namespace
}  // namespace weir::partition
