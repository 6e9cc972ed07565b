// Proves who may join under which id, in Kafka's order of checks and with its answers; expected
// values are those that Kafka 4.3.1 gave (accept/oracle: joingroup.*, group.parked-requests).

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

TEST(JoinGroup, MemberIdIsRequiredFromVersion4) {
  for (int16_t version = 0; version <= 9; ++version) {
    GroupWorld world;
    auto first = world.join({.version = version});
    if (version >= 4) {
      ASSERT_TRUE(first->done);
      EXPECT_EQ(first->error(), ErrorCode::member_id_required);
      EXPECT_EQ(first->generation(), -1);
      EXPECT_FALSE(first->response.protocol_name.has_value());
      EXPECT_TRUE(first->member().starts_with("client-"));
      EXPECT_EQ(world.state("g"), "Empty");
      first = world.join({.member = first->member(), .version = version});
    }
    world.advance_ms(1);
    ASSERT_TRUE(first->done);
    EXPECT_EQ(first->error(), ErrorCode::none);
    EXPECT_EQ(first->generation(), 1);
    EXPECT_TRUE(first->leads());
    EXPECT_EQ(first->response.protocol_type, "consumer");
    EXPECT_EQ(first->response.protocol_name, "range");
    ASSERT_EQ(first->response.members.size(), 1u);
    EXPECT_EQ(text_of(first->response.members[0].metadata), "r");
    EXPECT_EQ(world.state("g"), "CompletingRebalance");
  }
}

TEST(JoinGroup, ErrorsInKafkasOrder) {
  GroupWorld world;
  world.config.min_session_timeout_ms = 1'000;
  const auto error = [&](const JoinArgs& args) {
    auto join = world.join(args);
    EXPECT_TRUE(join->done);
    EXPECT_EQ(join->generation(), -1);
    EXPECT_TRUE(join->response.leader.empty());
    EXPECT_EQ(join->response.members.size(), 0u);
    return join->error();
  };
  EXPECT_EQ(error({.group = ""}), ErrorCode::invalid_group_id);
  EXPECT_EQ(error({.group = "", .session_ms = 1}), ErrorCode::invalid_group_id);
  for (const int32_t bad : {999, 0, -1, 1'800'001}) {
    EXPECT_EQ(error({.group = "s", .session_ms = bad}), ErrorCode::invalid_session_timeout);
  }
  for (const int32_t good : {1'000, 1'800'000}) {
    EXPECT_EQ(error({.group = "s", .session_ms = good}), ErrorCode::member_id_required);
  }
  EXPECT_EQ(error({.group = "none", .member = "m"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.group = "none", .protocols = {}}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.group = "none", .type = ""}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(world.state("none"), "Dead") << "refused joins create nothing";

  const std::string member = world.stable()->member();
  EXPECT_EQ(error({.member = "m"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.protocols = {{"other", ""}}}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.type = "connect"}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.protocols = {}}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.member = member, .type = "connect"}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(world.state("g"), "Stable");
}

TEST(JoinGroup, LeaderRejoiningForcesRebalanceFollowersDoNot) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  auto follower = world.join({.member = second});
  ASSERT_TRUE(follower->done) << "unchanged follower: the current generation at once";
  EXPECT_EQ(follower->generation(), 2);
  EXPECT_EQ(follower->response.leader, first);
  EXPECT_EQ(follower->response.members.size(), 0u);
  EXPECT_EQ(world.state("g"), "Stable");
  auto changed = world.join({.member = second, .protocols = {{"range", "other bytes"}}});
  EXPECT_FALSE(changed->done);
  EXPECT_EQ(world.state("g"), "PreparingRebalance");
  auto leader = world.join({.member = first});
  EXPECT_TRUE(changed->done && leader->done);
  EXPECT_EQ(leader->generation(), 3);
  auto again = world.join({.member = first});
  ASSERT_TRUE(again->done) << "the same metadata while completing: the current generation";
  EXPECT_EQ(again->generation(), 3);
  EXPECT_EQ(again->response.members.size(), 2u);
}

TEST(JoinGroup, ProtocolWithMostVotesThenKafkasOrder) {
  GroupWorld world;
  auto first = world.stable({.protocols = {{"range", "r1"}, {"sticky", "s1"}}});
  auto second = world.join_new({.protocols = {{"sticky", "s2"}, {"range", "r2"}}});
  auto again =
      world.join({.member = first->member(), .protocols = {{"range", "r1"}, {"sticky", "s1"}}});
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->response.protocol_name, "sticky");
  EXPECT_EQ(text_of(again->response.members[0].metadata), "s1");
  EXPECT_EQ(text_of(again->response.members[1].metadata), "s2");
  // A third voice for range decides; what only some know is no candidate.
  auto third = world.join_new({.protocols = {{"mine", "m"}, {"range", "r3"}, {"sticky", "s3"}}});
  world.join({.member = second->member(), .protocols = {{"sticky", "s2"}, {"range", "r2"}}});
  again = world.join({.member = first->member(), .protocols = {{"range", "r1"}, {"sticky", "s1"}}});
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->response.protocol_name, "range");
}

TEST(JoinGroup, StaticMemberIsReplacedWithoutRebalance) {
  for (int16_t version = 5; version <= 9; ++version) {
    GroupWorld world;
    const std::string old = world.stable({.instance = "inst", .version = version})->member();
    EXPECT_TRUE(old.starts_with("inst-"));
    auto restarted = world.join({.instance = "inst", .version = version});
    ASSERT_TRUE(restarted->done);
    EXPECT_EQ(restarted->error(), ErrorCode::none);
    EXPECT_EQ(restarted->generation(), 1);
    const std::string fresh = restarted->member();
    EXPECT_NE(fresh, old);
    if (version >= 9) {
      EXPECT_TRUE(restarted->response.skip_assignment);
      EXPECT_EQ(restarted->response.leader, fresh);
      EXPECT_EQ(restarted->response.members.size(), 1u);
    } else {
      EXPECT_FALSE(restarted->response.skip_assignment);
      EXPECT_EQ(restarted->response.leader, old) << "it must not believe that it leads";
      EXPECT_EQ(restarted->response.members.size(), 0u);
    }
    EXPECT_EQ(world.heartbeat("g", 1, old, "inst"), ErrorCode::fenced_instance_id);
    EXPECT_EQ(world.heartbeat("g", 1, old), ErrorCode::unknown_member_id);
    EXPECT_EQ(world.sync({.member = old, .instance = "inst"})->error(),
              ErrorCode::fenced_instance_id);
    EXPECT_EQ(world.join({.member = old, .instance = "inst", .version = version})->error(),
              ErrorCode::fenced_instance_id);
    EXPECT_EQ(world.join({.member = old, .instance = "other", .version = version})->error(),
              ErrorCode::unknown_member_id);
    EXPECT_EQ(world.commit({.generation = 1, .member = old, .instance = "inst"})->error(),
              ErrorCode::fenced_instance_id);
    EXPECT_EQ(world.sync({.member = fresh, .instance = "inst"})->assignment(), "mine");
    EXPECT_EQ(world.heartbeat("g", 1, fresh, "inst"), ErrorCode::none);
    EXPECT_EQ(world.leave("g", {{old, "inst"}})->error(0), ErrorCode::fenced_instance_id);
    EXPECT_EQ(world.leave("g", {{"", "other"}})->error(0), ErrorCode::unknown_member_id);
    EXPECT_EQ(world.leave("g", {{"", "inst"}})->error(0), ErrorCode::none);
    EXPECT_EQ(world.state("g"), "Empty");
  }
}

TEST(JoinGroup, StaticMemberWithAnotherProtocolRebalances) {
  GroupWorld world;
  world.stable({.instance = "i", .protocols = {{"range", "r"}, {"sticky", "s"}}});
  auto restarted = world.join({.instance = "i", .protocols = {{"sticky", "s"}, {"range", "r"}}});
  ASSERT_TRUE(restarted->done) << "alone, so the new generation is there at once";
  EXPECT_EQ(restarted->generation(), 2);
  EXPECT_EQ(restarted->response.protocol_name, "sticky");
}

TEST(JoinGroup, ParkedRequestsOfAReplacedStaticMemberAreFenced) {
  GroupWorld world;
  const std::string first = world.stable()->member();
  auto one = world.join({.instance = "i"});
  EXPECT_EQ(world.heartbeat("g", 1, first), ErrorCode::rebalance_in_progress);
  auto two = world.join({.instance = "i"});
  ASSERT_TRUE(one->done);
  EXPECT_EQ(one->error(), ErrorCode::fenced_instance_id);
  EXPECT_FALSE(two->done);
  auto again = world.join({.member = first});
  ASSERT_TRUE(again->done && two->done);
  EXPECT_EQ(again->generation(), 2);
  EXPECT_TRUE(again->leads());
  // A parked sync goes the same way when a third member comes.
  auto sync = world.sync({.generation = 2, .member = two->member(), .instance = "i"});
  EXPECT_FALSE(sync->done);
  auto third = world.join_new({.version = 3});
  ASSERT_TRUE(sync->done);
  EXPECT_EQ(sync->error(), ErrorCode::rebalance_in_progress);
  EXPECT_EQ(world.sync({.generation = 2, .member = first})->error(),
            ErrorCode::rebalance_in_progress);
  auto both = world.leave("g", {{"", "i"}, {first, {}}});
  EXPECT_EQ(both->error(0), ErrorCode::none);
  EXPECT_EQ(both->error(1), ErrorCode::none);
  ASSERT_TRUE(third->done);
  EXPECT_EQ(third->generation(), 3);
  EXPECT_TRUE(third->leads());
}

TEST(JoinGroup, RepeatedJoinOfTheSameMemberAnswersTheFirst) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  auto one = world.join({.member = first});
  auto two = world.join({.member = first});
  ASSERT_TRUE(one->done);
  EXPECT_EQ(one->error(), ErrorCode::rebalance_in_progress);
  EXPECT_FALSE(two->done);
  world.join({.member = second});
  EXPECT_TRUE(two->done);
  EXPECT_EQ(two->generation(), 3);
}

TEST(JoinGroup, ParkedNewMemberExpiresAfterFiveMinutes) {
  GroupWorld world;
  const std::string first =
      world.stable({.session_ms = 1'000'000, .rebalance_ms = 1'000'000})->member();
  auto lost = world.join({.session_ms = 6'000, .rebalance_ms = 1'000'000, .version = 3});
  world.advance_ms(299'000);
  EXPECT_FALSE(lost->done);
  world.advance_ms(2'000);
  ASSERT_TRUE(lost->done);
  EXPECT_EQ(lost->error(), ErrorCode::unknown_member_id);
  auto again = world.join({.member = first, .session_ms = 1'000'000, .rebalance_ms = 1'000'000});
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->response.members.size(), 1u);
}

TEST(JoinGroup, C20_MetadataIsOpaque) {
  GroupWorld world;
  const std::string binary("\x00\xff\x7f\x00 no subscription \x80", 20);
  auto join = world.join_new({.protocols = {{"range", binary}}});
  ASSERT_EQ(join->response.members.size(), 1u);
  EXPECT_EQ(text_of(join->response.members[0].metadata), binary);
  world.sync({.member = join->member(), .assignments = {{join->member(), binary}}});
  auto described = world.describe("g");
  ASSERT_EQ(described->response.members.size(), 1u);
  EXPECT_EQ(text_of(described->response.members[0].member_metadata), binary);
  EXPECT_EQ(text_of(described->response.members[0].member_assignment), binary);
  // Bytes on which Kafka hangs: 9 topics in 6 bytes.
  const std::string nine_topics("\0\0\0\0\0\x09", 6);
  EXPECT_EQ(world.join_new({.group = "h", .protocols = {{"range", nine_topics}}})->error(),
            ErrorCode::none);
}

TEST(JoinGroup, C68_WithoutRebalanceTimeoutTheSessionTimeoutCounts) {
  for (const auto& [version, rebalance] :
       {std::pair<int16_t, int32_t>{0, -1}, {1, -1}, {1, 0}, {3, -5}}) {
    GroupWorld world;
    const JoinArgs args{.session_ms = 10'000, .rebalance_ms = rebalance, .version = version};
    const std::string first = world.join(args)->member();
    world.sync({.member = first, .assignments = {{first, "a"}}, .version = 0});
    auto second = world.join(args);
    world.advance_ms(9'000);
    EXPECT_FALSE(second->done) << "the first member has its session timeout to come back";
    EXPECT_EQ(world.heartbeat("g", 1, first), ErrorCode::rebalance_in_progress);
    JoinArgs again = args;
    again.member = first;
    auto rejoined = world.join(again);
    ASSERT_TRUE(rejoined->done && second->done);
    EXPECT_EQ(rejoined->generation(), 2);
    auto follower = world.sync({.generation = 2, .member = second->member(), .version = 0});
    world.sync({.generation = 2,
                .member = first,
                .assignments = {{first, "a"}, {second->member(), "b"}},
                .version = 0});
    EXPECT_EQ(follower->assignment(), "b");
    EXPECT_EQ(world.state("g"), "Stable");
    EXPECT_EQ(world.coordinator->metrics().rebalances, 2u);
  }
}

TEST(JoinGroup, C69_PendingIdsExpireAndCostNothingForEver) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  for (int i = 0; i < 10'000; ++i) world.join({.session_ms = 6'000});
  EXPECT_EQ(world.coordinator->metrics().members, 1u);
  EXPECT_EQ(world.state("g"), "Stable") << "a pending id rebalances nobody";
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
  world.advance_ms(6'001);
  // All are gone: the next rebalance does not wait for them.
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
  auto second = world.join_new();
  auto rejoined = world.join({.member = member});
  EXPECT_TRUE(second->done && rejoined->done);
  EXPECT_EQ(rejoined->response.members.size(), 2u);
  // A group that never was more than a pending id leaves nothing.
  world.join({.group = "ghost"});
  EXPECT_EQ(world.coordinator->group_count(), 2u);
  world.advance_ms(10'001);
  EXPECT_EQ(world.state("ghost"), "Dead");
}

TEST(JoinGroup, PendingIdHoldsUpARebalanceUntilItExpires) {
  GroupWorld world;
  const std::string first = world.stable({.session_ms = 60'000, .rebalance_ms = 60'000})->member();
  auto ghost = world.join({.session_ms = 6'000});
  auto again = world.join({.member = first, .session_ms = 60'000, .rebalance_ms = 60'000});
  EXPECT_FALSE(again->done);
  world.advance_ms(6'001);
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->generation(), 2);
  EXPECT_EQ(world.join({.member = ghost->member()})->error(), ErrorCode::unknown_member_id);
}

}  // namespace weir::group
