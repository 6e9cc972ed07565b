// Proves the phases of a rebalance: who waits for whom, who is removed when, what each request
// answers in each state.

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

TEST(Rebalance, InitialDelayIsExtendedWhileMembersCome) {
  GroupWorld world;
  world.config.initial_rebalance_delay_ms = 3'000;
  auto first = world.join({.version = 3});
  world.advance_ms(2'000);
  auto second = world.join({.version = 3});
  EXPECT_EQ(world.state("g"), "PreparingRebalance");
  world.advance_ms(1'001);
  EXPECT_FALSE(first->done) << "somebody came: another 3 seconds";
  world.advance_ms(3'000);
  ASSERT_TRUE(first->done && second->done);
  EXPECT_EQ(first->generation(), 1);
  EXPECT_EQ(second->generation(), 1);
  EXPECT_EQ(world.coordinator->metrics().rebalances, 1u);
}

TEST(Rebalance, InitialDelayEndsAtTheRebalanceTimeout) {
  GroupWorld world;
  world.config.initial_rebalance_delay_ms = 3'000;
  auto first = world.join({.rebalance_ms = 7'000, .version = 3});
  for (int i = 0; i < 13; ++i) {
    world.join({.rebalance_ms = 7'000, .version = 3});
    world.advance_ms(500);
    EXPECT_FALSE(first->done);
  }
  world.advance_ms(2'501);
  EXPECT_TRUE(first->done);
}

TEST(Rebalance, LongestTimeoutOfTheMembersCounts) {
  GroupWorld world;
  const std::string slow = world.stable({.session_ms = 60'000, .rebalance_ms = 50'000})->member();
  auto quick = world.join_new({.session_ms = 60'000, .rebalance_ms = 1'000});
  world.advance_ms(49'000);
  EXPECT_FALSE(quick->done);
  world.advance_ms(1'001);
  ASSERT_TRUE(quick->done);
  EXPECT_EQ(quick->response.members.size(), 1u);
  EXPECT_EQ(world.heartbeat("g", 1, slow), ErrorCode::unknown_member_id);
  EXPECT_TRUE(quick->leads());
}

TEST(Rebalance, StaticMemberThatIsAwayKeepsItsPlace) {
  GroupWorld world;
  const std::string first = world.stable({.instance = "a", .session_ms = 30'000})->member();
  auto second = world.join({.instance = "b", .session_ms = 30'000});
  auto rejoined = world.join({.member = first, .instance = "a", .session_ms = 30'000});
  auto leader = rejoined->leads() ? rejoined : second;
  world.sync({.generation = 2, .member = leader->member(), .instance = leader->args.instance});
  // The second one restarts slowly; a third member comes meanwhile.
  auto third = world.join_new({.session_ms = 30'000});
  world.join({.member = first, .instance = "a", .session_ms = 30'000});
  world.advance_ms(10'001);
  ASSERT_TRUE(third->done);
  EXPECT_EQ(third->generation(), 3);
  EXPECT_EQ(world.describe("g")->response.members.size(), 3u);
  // It is not asked for a sync it knows nothing of, but its session goes on running out.
  world.advance_ms(20'001);
  EXPECT_LT(world.describe("g")->response.members.size(), 3u);
}

TEST(Rebalance, C67_LeaderThatNeverSyncsIsRemoved) {
  GroupWorld world;
  const JoinArgs args{.session_ms = 30'000, .rebalance_ms = 10'000};
  const auto [first, second] = world.pair_stable(args);
  auto with_id = [&](std::string id) {
    JoinArgs again = args;
    again.member = std::move(id);
    return again;
  };
  auto leader = world.join(with_id(first));
  auto follower = world.join(with_id(second));
  ASSERT_TRUE(leader->leads());
  auto sync = world.sync({.generation = 3, .member = second});
  world.advance_ms(9'000);
  EXPECT_EQ(world.heartbeat("g", 3, first), ErrorCode::none) << "it keeps heart-beating";
  EXPECT_FALSE(sync->done);
  world.advance_ms(1'001);
  ASSERT_TRUE(sync->done);
  EXPECT_EQ(sync->error(), ErrorCode::rebalance_in_progress);
  EXPECT_EQ(world.heartbeat("g", 3, first), ErrorCode::unknown_member_id);
  auto healed = world.join(with_id(second));
  ASSERT_TRUE(healed->done);
  EXPECT_TRUE(healed->leads());
  EXPECT_EQ(healed->generation(), 4);
}

TEST(Rebalance, FollowerThatNeverSyncsIsRemovedFromAStableGroup) {
  GroupWorld world;
  const std::string first = world.stable({.session_ms = 30'000})->member();
  auto second = world.join_new({.session_ms = 30'000});
  world.join({.member = first, .session_ms = 30'000});
  world.sync({.generation = 2, .member = first, .assignments = {{first, "a"}}});
  EXPECT_EQ(world.state("g"), "Stable");
  world.advance_ms(10'001);
  EXPECT_EQ(world.heartbeat("g", 2, second->member()), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.heartbeat("g", 2, first), ErrorCode::rebalance_in_progress);
}

TEST(Rebalance, C09_EveryMemberGetsItsOwnBytesInEveryOrder) {
  // All orders in which leader and two followers sync, before and after the plan is durable.
  std::vector<int> order = {0, 1, 2};
  do {
    GroupWorld world;
    const auto [first, second] = world.pair_stable();
    auto third = world.join_new();
    auto a = world.join({.member = first});
    auto b = world.join({.member = second});
    ASSERT_TRUE(third->done && a->done && b->done);
    ASSERT_EQ(a->generation(), 3);
    ASSERT_TRUE(a->leads());
    const std::string zero("\0\x01", 2);
    const std::vector<std::string> ids = {first, second, third->member()};
    std::vector<std::shared_ptr<Sync>> syncs(3);
    for (const int i : order) {
      SyncArgs args{.generation = 3, .member = ids[static_cast<size_t>(i)]};
      // What others than the leader hand in counts for nothing.
      args.assignments = {{first, "wrong"}, {second, "wrong"}};
      if (i == 0) args.assignments = {{first, zero}, {second, "to second"}, {"nobody", "x"}};
      syncs[static_cast<size_t>(i)] = world.sync(args);
    }
    for (const auto& sync : syncs) {
      ASSERT_TRUE(sync->done);
      EXPECT_EQ(sync->error(), ErrorCode::none);
      EXPECT_EQ(sync->response.protocol_name, "range");
    }
    EXPECT_EQ(syncs[0]->assignment(), zero);
    EXPECT_EQ(syncs[1]->assignment(), "to second");
    EXPECT_EQ(syncs[2]->assignment(), "") << "left out of the plan: no bytes at all";
    EXPECT_EQ(world.sync({.generation = 3, .member = second})->assignment(), "to second");
    EXPECT_EQ(world.coordinator->metrics().rebalances, 3u);
  } while (std::ranges::next_permutation(order).found);
}

TEST(Rebalance, SyncIsAnsweredOnlyWhenThePlanIsDurable) {
  GroupWorld world;
  auto join = world.join_new();
  world.log.hold = true;
  auto sync = world.sync({.member = join->member(), .assignments = {{join->member(), "a"}}});
  EXPECT_FALSE(sync->done);
  EXPECT_EQ(world.state("g"), "CompletingRebalance");
  // The leader asks again: its first plan counts, its first request is answered.
  auto again = world.sync({.member = join->member(), .assignments = {{join->member(), "b"}}});
  EXPECT_EQ(sync->error(), ErrorCode::rebalance_in_progress);
  world.log.hold = false;
  world.run();
  ASSERT_TRUE(again->done);
  EXPECT_EQ(again->assignment(), "a");
  EXPECT_EQ(world.state("g"), "Stable");
}

TEST(Rebalance, PlanThatCannotBeStoredIsAnErrorForAll) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.join({.member = first});
  world.join({.member = second});
  world.log.fail = ErrorCode::kafka_storage_error;
  auto follower = world.sync({.generation = 3, .member = second});
  auto leader = world.sync({.generation = 3, .member = first});
  EXPECT_EQ(leader->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(follower->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(world.state("g"), "PreparingRebalance");
  world.log.fail = ErrorCode::none;
}

TEST(Rebalance, UnknownOutcomeIsMarkedForTheConnection) {
  GroupWorld world;
  auto join = world.join_new();
  world.log.unknown = true;
  auto sync = world.sync({.member = join->member()});
  EXPECT_TRUE(sync->done);
  EXPECT_TRUE(sync->message.outcome_unknown);
  EXPECT_TRUE(world.commit({.group = "other"})->message.outcome_unknown);
  world.log.unknown = false;
  EXPECT_FALSE(world.commit({.group = "other"})->message.outcome_unknown);
}

TEST(Rebalance, MemberLeavingWhileThePlanIsOnItsWay) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.join({.member = first});
  world.join({.member = second});
  world.log.hold = true;
  auto sync = world.sync({.generation = 3, .member = first});
  world.leave("g", {{second, {}}});
  ASSERT_TRUE(sync->done);
  EXPECT_EQ(sync->error(), ErrorCode::rebalance_in_progress);
  world.log.hold = false;
  world.run();
  EXPECT_EQ(world.state("g"), "PreparingRebalance") << "the old plan makes nothing stable";
}

TEST(Rebalance, SessionTimeouts) {
  GroupWorld world;
  const std::string member = world.stable({.session_ms = 6'000})->member();
  for (int i = 0; i < 5; ++i) {
    world.advance_ms(5'000);
    EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
  }
  world.advance_ms(5'000);
  EXPECT_EQ(world.commit({.generation = 1, .member = member})->error(), ErrorCode::none)
      << "a commit shows life";
  world.advance_ms(5'000);
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
  world.advance_ms(5'999);
  EXPECT_EQ(world.state("g"), "Stable");
  world.advance_ms(1);
  EXPECT_EQ(world.state("g"), "Empty");
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.coordinator->metrics().members_expired, 1u);
}

TEST(Rebalance, WallClockJumpExpiresNobody) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  world.core.clock.jump_wall_ms(int64_t{365} * 24 * 3'600'000);
  world.advance_ms(100);
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
}

TEST(Rebalance, ParkedRequestsDoNotExpireKnownMembers) {
  GroupWorld world;
  const JoinArgs args{.session_ms = 6'000, .rebalance_ms = 60'000};
  const auto [first, second] = world.pair_stable(args);
  JoinArgs again = args;
  again.member = first;
  auto parked = world.join(again);
  for (int i = 0; i < 10; ++i) {
    world.advance_ms(5'000);
    EXPECT_EQ(world.heartbeat("g", 2, second), ErrorCode::rebalance_in_progress);
  }
  EXPECT_FALSE(parked->done);
  again.member = second;
  world.join(again);
  ASSERT_TRUE(parked->done);
  EXPECT_EQ(parked->error(), ErrorCode::none);
  EXPECT_EQ(parked->response.members.size(), 2u);
}

TEST(Rebalance, LeaderStaysLeaderWhenItComesBack) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  auto third = world.join_new();
  world.join({.member = second});
  auto leader = world.join({.member = first});
  EXPECT_TRUE(leader->leads());
  EXPECT_EQ(third->response.leader, first);
}

// C82: what each request answers, by state and generation. Members are current (generation right),
// late (generation one less), early (one more) or unknown.
TEST(Rebalance, C82_TruthTable) {
  using E = ErrorCode;
  struct Row {
    GroupState state;
    E heartbeat[4], sync[4], commit[4];  // right, old, new generation; unknown member
  };
  constexpr E kOk = E::none;
  constexpr E kGeneration = E::illegal_generation;
  constexpr E kUnknown = E::unknown_member_id;
  constexpr E kBusy = E::rebalance_in_progress;
  constexpr E kParked = E::unknown_server_error;  // stands for "not answered yet"
  const std::vector<Row> rows = {
      {GroupState::preparing_rebalance,
       {kBusy, kGeneration, kGeneration, kUnknown},
       {kBusy, kGeneration, kGeneration, kUnknown},
       {kOk, kGeneration, kGeneration, kUnknown}},
      {GroupState::completing_rebalance,
       {kOk, kGeneration, kGeneration, kUnknown},
       {kParked, kGeneration, kGeneration, kUnknown},
       {kBusy, kGeneration, kGeneration, kUnknown}},
      {GroupState::stable,
       {kOk, kGeneration, kGeneration, kUnknown},
       {kOk, kGeneration, kGeneration, kUnknown},
       {kOk, kGeneration, kGeneration, kUnknown}},
      {GroupState::empty,
       {kUnknown, kUnknown, kUnknown, kUnknown},
       {kUnknown, kUnknown, kUnknown, kUnknown},
       {kUnknown, kUnknown, kUnknown, kUnknown}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(name(row.state));
    GroupWorld world;
    const auto [leader, follower] = world.pair_stable();
    int32_t generation = 2;
    if (row.state == GroupState::preparing_rebalance) world.join_new();
    if (row.state == GroupState::completing_rebalance) {
      world.join({.member = leader});
      world.join({.member = follower});
      generation = 3;
    }
    if (row.state == GroupState::empty) world.leave("g", {{leader, {}}, {follower, {}}});
    ASSERT_EQ(world.state("g"), name(row.state));
    const int32_t generations[4] = {generation, generation - 1, generation + 1, generation};
    for (size_t i = 0; i < 4; ++i) {
      SCOPED_TRACE(i);
      const std::string member = i == 3 ? "nobody" : follower;
      EXPECT_EQ(world.heartbeat("g", generations[i], member), row.heartbeat[i]);
      EXPECT_EQ(world.commit({.generation = generations[i], .member = member})->error(),
                row.commit[i]);
      auto sync = world.sync({.generation = generations[i], .member = member});
      EXPECT_EQ(sync->done ? sync->error() : kParked, row.sync[i]);
      EXPECT_EQ(world.state("g"), name(row.state)) << "no effect on the group";
    }
  }
}

TEST(Rebalance, SyncErrorsInKafkasOrder) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  const auto error = [&](const SyncArgs& args) { return world.sync(args)->error(); };
  EXPECT_EQ(error({.group = "", .member = "m", .type = {}}), ErrorCode::inconsistent_group_protocol)
      << "version 5 without a protocol comes before everything else";
  EXPECT_EQ(error({.group = "", .member = "m"}), ErrorCode::invalid_group_id);
  EXPECT_EQ(error({.group = "none", .member = "m"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.member = "m"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.member = ""}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.generation = 2, .member = member}), ErrorCode::illegal_generation);
  EXPECT_EQ(error({.generation = -1, .member = member}), ErrorCode::illegal_generation);
  EXPECT_EQ(error({.member = member, .type = "connect"}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.member = member, .protocol = "x"}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.member = member, .protocol = {}}), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(error({.member = member, .type = {}, .protocol = {}, .version = 4}), ErrorCode::none);
  EXPECT_EQ(error({.member = member, .instance = "none"}), ErrorCode::unknown_member_id);
  auto changed = world.sync({.member = member, .assignments = {{member, "changed"}}});
  EXPECT_EQ(changed->assignment(), "mine");
}

TEST(Rebalance, HeartbeatErrors) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  EXPECT_EQ(world.heartbeat("", 1, member), ErrorCode::invalid_group_id);
  EXPECT_EQ(world.heartbeat("none", 1, "m"), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.heartbeat("g", 1, ""), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.heartbeat("g", -1, member), ErrorCode::illegal_generation);
  EXPECT_EQ(world.heartbeat("g", 1, member, "none"), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::none);
}

TEST(Rebalance, LeaveGroupAnswers) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  EXPECT_EQ(world.leave("", {{member, {}}})->response.error_code, 24);
  EXPECT_EQ(world.leave("none", {{member, {}}}, 2)->response.error_code, 25);
  EXPECT_EQ(world.leave("none", {{member, {}}})->response.error_code, 0);
  EXPECT_EQ(world.leave("none", {{member, {}}})->error(0), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.leave("g", {})->response.error_code, 0);
  auto bad = world.leave("g", {{"no-such", {}}, {"x", "none"}, {member, "none"}, {"", {}}});
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(bad->error(i), ErrorCode::unknown_member_id);
  EXPECT_EQ(bad->response.members[1].group_instance_id, "none");
  const std::string pending = world.join({})->member();
  EXPECT_EQ(world.leave("g", {{pending, {}}})->error(0), ErrorCode::none);
  EXPECT_EQ(world.leave("g", {{pending, {}}})->error(0), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.state("g"), "Stable") << "a pending id that goes rebalances nobody";
  auto twice = world.leave("g", {{member, {}}, {member, {}}});
  EXPECT_EQ(twice->error(0), ErrorCode::none);
  EXPECT_EQ(twice->error(1), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.state("g"), "Empty");
}

TEST(Rebalance, C82_CooperativeGroupSettlesInTwoRounds) {
  // Cooperative members commit while partitions are revoked and rejoin at once: every code must let
  // them keep their generation.
  GroupWorld world;
  const JoinArgs args{.protocols = {{"cooperative-sticky", "owns 0,1"}}};
  const std::string first = world.stable(args)->member();
  auto second = world.join_new(args);
  EXPECT_EQ(world.heartbeat("g", 1, first), ErrorCode::rebalance_in_progress);
  EXPECT_EQ(world.commit({.generation = 1, .member = first})->error(), ErrorCode::none);
  for (int32_t generation = 2; generation <= 3; ++generation) {
    JoinArgs again = args;
    again.member = first;
    again.protocols[0].second = generation == 2 ? "owns 0,1" : "owns 0";
    auto leader = world.join(again);
    if (generation == 3) {
      EXPECT_EQ(world.heartbeat("g", 2, second->member()), ErrorCode::rebalance_in_progress);
      EXPECT_EQ(world.commit({.generation = 2, .member = second->member()})->error(),
                ErrorCode::none);
      again.member = second->member();
      again.protocols[0].second = "owns none";
      auto rejoined = world.join(again);
      EXPECT_TRUE(rejoined->done);
    }
    ASSERT_TRUE(leader->done);
    ASSERT_EQ(leader->generation(), generation);
    auto follower = world.sync({.generation = generation,
                                .member = second->member(),
                                .protocol = "cooperative-sticky"});
    auto sync = world.sync({.generation = generation,
                            .member = first,
                            .assignments = {{first, "0"}, {second->member(), "1"}},
                            .protocol = "cooperative-sticky"});
    EXPECT_EQ(sync->error(), ErrorCode::none);
    EXPECT_EQ(follower->error(), ErrorCode::none);
  }
  EXPECT_EQ(world.coordinator->metrics().rebalances, 3u);
}

}  // namespace weir::group
