// Proves DescribeGroups, ListGroups and DeleteGroups of one core.

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

TEST(DescribeGroups, MetadataOnlyWhenStable) {
  GroupWorld world;
  auto join = world.join_new({.instance = "i"});
  auto described = world.describe("g");
  EXPECT_EQ(described->response.group_state, "CompletingRebalance");
  EXPECT_EQ(described->response.protocol_type, "consumer");
  EXPECT_EQ(described->response.protocol_data, "");
  ASSERT_EQ(described->response.members.size(), 1u);
  EXPECT_TRUE(described->response.members[0].member_metadata.empty());
  world.sync({.member = join->member(), .assignments = {{join->member(), "a"}}, .instance = "i"});
  described = world.describe("g");
  EXPECT_EQ(described->response.group_state, "Stable");
  EXPECT_EQ(described->response.protocol_data, "range");
  const auto& member = described->response.members[0];
  EXPECT_EQ(member.member_id, join->member());
  EXPECT_EQ(member.group_instance_id, "i");
  EXPECT_EQ(member.client_id, "client");
  EXPECT_EQ(member.client_host, "/127.0.0.1");
  EXPECT_EQ(text_of(member.member_metadata), "r");
  EXPECT_EQ(text_of(member.member_assignment), "a");
}

// During a rebalance its members still hold what they were given before.
TEST(DescribeGroups, AssignmentsOutliveTheGeneration) {
  GroupWorld world;
  auto join = world.join_new({.instance = "i"});
  world.sync({.member = join->member(), .assignments = {{join->member(), "a"}}, .instance = "i"});
  world.join({.member = join->member(), .instance = "i"});
  auto described = world.describe("g");
  EXPECT_EQ(described->response.group_state, "CompletingRebalance");
  ASSERT_EQ(described->response.members.size(), 1u);
  EXPECT_TRUE(described->response.members[0].member_metadata.empty());
  EXPECT_EQ(text_of(described->response.members[0].member_assignment), "a");
}

TEST(DescribeGroups, UnknownGroupIsDead) {
  GroupWorld world;
  for (int16_t version = 0; version <= 6; ++version) {
    auto described = world.describe("none", version);
    EXPECT_EQ(described->response.group_state, "Dead");
    EXPECT_EQ(described->response.error_code, version >= 6 ? 69 : 0);
  }
}

TEST(ListGroups, Filters) {
  GroupWorld world;
  world.stable({.group = "stable"});
  world.commit({.group = "simple"});
  const std::string member = world.stable({.group = "empty", .type = "connect"})->member();
  world.leave("empty", {{member, {}}});
  using Names = std::vector<std::string>;
  EXPECT_EQ(world.list()->names(), (Names{"empty", "simple", "stable"}));
  EXPECT_EQ(world.list({"Stable"})->names(), Names{"stable"});
  EXPECT_EQ(world.list({"sTable"})->names(), Names{"stable"});
  EXPECT_EQ(world.list({"Stable", "Empty"})->names(), (Names{"empty", "simple", "stable"}));
  EXPECT_EQ(world.list({"NoSuchState"})->names(), Names{});
  EXPECT_EQ(world.list({"Dead"})->names(), Names{});
  EXPECT_EQ(world.list({}, {"classic"})->names().size(), 3u);
  EXPECT_EQ(world.list({}, {"Consumer", "Classic"})->names().size(), 3u);
  EXPECT_EQ(world.list({}, {"consumer"})->names(), Names{});
  EXPECT_EQ(world.list({"Empty"}, {"classic"})->names(), (Names{"empty", "simple"}));
  for (const auto& group : world.list()->message.groups) {
    EXPECT_EQ(group.group_type, "classic");
    if (group.group_id == "empty") {
      EXPECT_EQ(group.protocol_type, "connect");
    }
    if (group.group_id == "simple") {
      EXPECT_EQ(group.protocol_type, "");
    }
  }
}

TEST(DeleteGroups, AnswersAndDurability) {
  GroupWorld world;
  world.stable({.group = "busy"});
  world.commit({.group = "simple", .partitions = {0, 1}});
  const std::string member = world.stable({.group = "empty"})->member();
  world.leave("empty", {{member, {}}});
  auto removed = world.remove({"none", "busy", "", "simple", "empty"});
  EXPECT_EQ(removed->error(0), ErrorCode::group_id_not_found);
  EXPECT_EQ(removed->error(1), ErrorCode::non_empty_group);
  EXPECT_EQ(removed->error(2), ErrorCode::group_id_not_found);
  EXPECT_EQ(removed->error(3), ErrorCode::none);
  EXPECT_EQ(removed->error(4), ErrorCode::none);
  EXPECT_EQ(removed->answers[4].group_id, "empty");
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.list()->names(), std::vector<std::string>{"busy"});
    EXPECT_EQ(world.fetch("simple")->at().committed_offset, -1);
  }
  EXPECT_EQ(world.remove({"empty"})->error(), ErrorCode::group_id_not_found);
}

TEST(DeleteGroups, GroupIsClosedUntilItsEndIsDurable) {
  GroupWorld world;
  world.commit({.offset = 1});
  world.log.hold = true;
  auto late = world.commit({.partitions = {1}, .offset = 2});
  auto removed = world.remove({"g"});
  EXPECT_FALSE(removed->done);
  EXPECT_EQ(world.state("g"), "Dead");
  EXPECT_EQ(world.join({})->error(), ErrorCode::coordinator_not_available);
  EXPECT_EQ(world.commit({})->error(), ErrorCode::coordinator_not_available);
  EXPECT_EQ(world.heartbeat("g", 1, "m"), ErrorCode::coordinator_not_available);
  EXPECT_EQ(world.sync({.member = "m"})->error(), ErrorCode::coordinator_not_available);
  EXPECT_EQ(world.leave("g", {{"m", {}}})->response.error_code, 15);
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::group_id_not_found);
  world.log.hold = false;
  world.run();
  EXPECT_EQ(late->error(), ErrorCode::none) << "it was before the deletion, and went with it";
  EXPECT_EQ(removed->error(), ErrorCode::none);
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g", "t", {1})->at().committed_offset, -1);
    EXPECT_EQ(world.coordinator->group_count(), 0u);
  }
}

TEST(DeleteGroups, FailureLeavesTheGroup) {
  GroupWorld world;
  world.commit({.offset = 1});
  world.log.fail = ErrorCode::kafka_storage_error;
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::not_coordinator);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(world.state("g"), "Empty");
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::none);
}

}  // namespace weir::group
