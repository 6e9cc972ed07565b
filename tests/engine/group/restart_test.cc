// Proves what a restart finds: complete generations go on without a rebalance, incomplete ones make
// members join again, static members stay who they are, and nothing that was acknowledged is lost.

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

TEST(Restart, StableGroupGoesOnWithoutRebalance) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.commit({.generation = 2, .member = first, .offset = 7});
  world.crash();
  EXPECT_EQ(world.state("g"), "Stable");
  EXPECT_EQ(world.heartbeat("g", 2, first), ErrorCode::none);
  EXPECT_EQ(world.heartbeat("g", 2, second), ErrorCode::none);
  EXPECT_EQ(world.sync({.generation = 2, .member = second})->assignment(), "b0");
  EXPECT_EQ(world.commit({.generation = 2, .member = second, .offset = 8})->error(),
            ErrorCode::none);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 8);
  auto described = world.describe("g");
  EXPECT_EQ(described->response.protocol_data, "range");
  EXPECT_EQ(described->response.members[0].client_host, "/127.0.0.1");
  EXPECT_EQ(text_of(described->response.members[0].member_metadata), "r");
  // The leader of before leads the next generation.
  world.join({.member = second});
  auto leader = world.join({.member = first});
  world.join({.member = second});
  ASSERT_TRUE(leader->done);
  EXPECT_EQ(leader->generation(), 3);
  EXPECT_TRUE(leader->leads());
}

TEST(Restart, MembersThatDoNotComeBackExpire) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.advance_ms(9'000);
  world.crash();
  world.advance_ms(9'000);
  EXPECT_EQ(world.heartbeat("g", 2, first), ErrorCode::none) << "a full session timeout after it";
  world.advance_ms(1'001);
  EXPECT_EQ(world.heartbeat("g", 2, first), ErrorCode::rebalance_in_progress);
  EXPECT_EQ(world.heartbeat("g", 2, second), ErrorCode::unknown_member_id);
}

// C70: crash at each step of a rebalance after a member left; afterwards the one that is left owns
// everything within a session timeout, and the departed member's share is never forgotten.
TEST(Restart, C70_CrashAtEachStepOfARebalance) {
  for (int step = 0; step < 6; ++step) {
    SCOPED_TRACE(step);
    GroupWorld world;
    const auto [first, second] = world.pair_stable();
    std::string survivor = second;
    if (step == 5) world.log.hold = true;
    if (step >= 1) world.leave("g", {{first, {}}});
    if (step >= 2) {
      EXPECT_EQ(world.heartbeat("g", 2, second), ErrorCode::rebalance_in_progress);
    }
    if (step >= 3) {
      EXPECT_EQ(world.join({.member = second})->generation(), 3);
    }
    if (step >= 4) {
      auto sync = world.sync({.generation = 3, .member = second, .assignments = {{second, "all"}}});
      EXPECT_EQ(sync->done, step == 4);
    }
    world.crash();
    world.log.hold = false;
    // The survivor does what a client does: heartbeat, join when told to, lead when it is the
    // leader.
    int32_t generation = step >= 3 ? 3 : 2;
    bool owns_all = step == 4;
    for (int passed_ms = 0; passed_ms < 25'000 && !owns_all; passed_ms += 1'000) {
      const ErrorCode error = world.heartbeat("g", generation, survivor);
      if (error != ErrorCode::none) {
        if (error == ErrorCode::unknown_member_id) survivor = "";
        auto join = survivor.empty() ? world.join_new() : world.join({.member = survivor});
        for (; !join->done && passed_ms < 25'000; passed_ms += 1'000) world.advance_ms(1'000);
        ASSERT_TRUE(join->done);
        survivor = join->member();
        generation = join->generation();
        SyncArgs args{.generation = generation, .member = survivor};
        if (join->leads()) {
          EXPECT_EQ(join->response.members.size(), 1u);
          args.assignments = {{survivor, "all"}};
        }
        owns_all = world.sync(args)->assignment() == "all";
      }
      world.advance_ms(1'000);
    }
    EXPECT_TRUE(owns_all);
    EXPECT_EQ(world.heartbeat("g", generation, survivor), ErrorCode::none);
  }
}

TEST(Restart, MemberToldALaterGenerationJoinsAgain) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.join({.member = second, .protocols = {{"range", "new"}}});
  world.join({.member = first});
  world.crash();
  EXPECT_EQ(world.state("g"), "Stable");
  EXPECT_EQ(world.heartbeat("g", 3, first), ErrorCode::illegal_generation);
  EXPECT_EQ(world.commit({.generation = 3, .member = first})->error(),
            ErrorCode::illegal_generation);
}

TEST(Restart, EmptyGroupKeepsGenerationAndOffsets) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  world.commit({.generation = 1, .member = member, .offset = 5});
  world.leave("g", {{member, {}}});
  world.crash();
  EXPECT_EQ(world.state("g"), "Empty");
  EXPECT_EQ(world.describe("g")->response.protocol_type, "consumer");
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 5);
  EXPECT_EQ(world.stable()->generation(), 3) << "1 stable, 2 empty: generations grow";
}

TEST(Restart, C74_ReplacedStaticMemberStaysTheHolder) {
  GroupWorld world;
  const std::string old = world.stable({.instance = "1"})->member();
  auto replaced = world.join({.instance = "1"});
  ASSERT_TRUE(replaced->done);
  world.crash();
  EXPECT_EQ(world.heartbeat("g", 1, replaced->member(), "1"), ErrorCode::none);
  EXPECT_EQ(world.heartbeat("g", 1, old, "1"), ErrorCode::fenced_instance_id);
  EXPECT_EQ(world.state("g"), "Stable") << "no rebalance for others";
  EXPECT_EQ(world.sync({.member = replaced->member(), .instance = "1"})->assignment(), "mine");
}

TEST(Restart, C74_ReplacementIsAnsweredOnlyWhenDurable) {
  GroupWorld world;
  const std::string old = world.stable({.instance = "1"})->member();
  world.log.hold = true;
  auto lost = world.join({.instance = "1"});
  EXPECT_FALSE(lost->done);
  world.crash();
  world.log.hold = false;
  EXPECT_EQ(world.heartbeat("g", 1, old, "1"), ErrorCode::none) << "nobody was told otherwise";
  auto again = world.join({.instance = "1"});
  EXPECT_TRUE(again->done);
}

TEST(Restart, C74_ReplacementInTheMiddleOfARebalance) {
  for (const bool complete : {false, true}) {
    SCOPED_TRACE(complete);
    GroupWorld world;
    const std::string old = world.stable({.instance = "1"})->member();
    auto other = world.join_new();
    // The static client restarts while the group rebalances; its join ends the join phase.
    world.log.hold = true;
    auto fresh = world.join({.instance = "1"});
    EXPECT_FALSE(fresh->done || other->done) << "its new id is not durable yet";
    world.log.hold = false;
    world.run();
    ASSERT_TRUE(fresh->done && other->done);
    ASSERT_EQ(fresh->generation(), 2);
    if (complete) {
      world.sync({.generation = 2, .member = other->member()});
      const std::string leader = std::string(fresh->response.leader);
      world.sync({.generation = 2, .member = fresh->member(), .assignments = {{leader, "all"}},
                  .instance = "1"});
    }
    world.crash();
    // Never fenced: that would stop the client for good. At worst it joins again.
    const ErrorCode error = world.heartbeat("g", 2, fresh->member(), "1");
    EXPECT_EQ(error, complete ? ErrorCode::none : ErrorCode::illegal_generation);
    EXPECT_EQ(world.heartbeat("g", 2, old, "1"), ErrorCode::fenced_instance_id);
    auto rejoined = world.join({.member = fresh->member(), .instance = "1"});
    world.advance_ms(10'001);
    EXPECT_TRUE(rejoined->done);
    EXPECT_EQ(rejoined->error(), ErrorCode::none);
  }
}

TEST(Restart, C74_ReplacementWhileThePlanIsOnItsWay) {
  GroupWorld world;
  const std::string first = world.stable()->member();
  auto inst = world.join({.instance = "1"});
  world.join({.member = first});
  ASSERT_TRUE(inst->done);
  world.log.hold = true;
  world.sync({.generation = 2, .member = first, .assignments = {{inst->member(), "x"}}});
  auto fresh = world.join({.instance = "1"});
  auto again = world.join({.member = first});
  EXPECT_FALSE(fresh->done);
  world.log.hold = false;
  world.run();
  ASSERT_TRUE(fresh->done && again->done);
  EXPECT_EQ(fresh->generation(), 3);
  world.crash();
  EXPECT_EQ(world.heartbeat("g", 3, fresh->member(), "1"), ErrorCode::illegal_generation);
  EXPECT_EQ(world.heartbeat("g", 2, inst->member(), "1"), ErrorCode::fenced_instance_id);
}

TEST(Restart, FailedReplacementLeavesTheOldHolder) {
  GroupWorld world;
  const std::string old = world.stable({.instance = "1"})->member();
  world.log.fail = ErrorCode::kafka_storage_error;
  auto refused = world.join({.instance = "1"});
  ASSERT_TRUE(refused->done);
  EXPECT_EQ(refused->error(), ErrorCode::not_coordinator);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(world.heartbeat("g", 1, old, "1"), ErrorCode::none);
}

TEST(Restart, C83_AcknowledgedCommitSurvivesLeaveJoinAndCrash) {
  GroupWorld world;
  int64_t offset = 0;
  std::string member = world.stable()->member();
  int32_t generation = 1;
  for (int round = 0; round < 5; ++round) {
    auto commit = world.commit({.generation = generation, .member = member, .offset = ++offset});
    ASSERT_EQ(commit->error(), ErrorCode::none);
    EXPECT_EQ(world.fetch("g")->at().committed_offset, offset) << "at once";
    world.leave("g", {{member, {}}});
    if (round % 2 == 0) world.crash();
    EXPECT_EQ(world.fetch("g")->at().committed_offset, offset);
    auto joined = world.stable();
    member = joined->member();
    generation = joined->generation();
    EXPECT_EQ(world.fetch("g")->at().committed_offset, offset);
  }
}

TEST(Restart, UnacknowledgedCommitIsInvisibleUntilDurable) {
  GroupWorld world;
  world.commit({.offset = 1});
  world.log.hold = true;
  auto commit = world.commit({.offset = 2});
  EXPECT_FALSE(commit->done);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
  world.crash();
  world.log.hold = false;
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
}

TEST(Restart, C10_C14_NoAnswerFromAnUnloadedCoordinator) {
  GroupWorld world;
  world.commit({.offset = 9});
  world.coordinator->stop();
  for (int16_t version = 1; version <= 9; ++version) {
    auto fetch = world.fetch("g");
    ASSERT_TRUE(fetch->done);
    EXPECT_EQ(fetch->error(), ErrorCode::not_coordinator);
  }
  EXPECT_EQ(world.join({})->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(world.sync({.member = "m"})->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(world.heartbeat("g", 1, "m"), ErrorCode::not_coordinator);
  EXPECT_EQ(world.commit({.offset = 1})->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(world.leave("g", {{"m", {}}})->response.error_code, 16);
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::not_coordinator);
  EXPECT_EQ(world.describe("g")->response.error_code, 16);
  EXPECT_EQ(world.list()->message.error, ErrorCode::not_coordinator);
}

TEST(Restart, StopAnswersWhatIsParked) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  auto join = world.join({.member = first});
  auto third = world.join_new();
  world.coordinator->stop();
  world.run();
  ASSERT_TRUE(join->done && third->done);
  EXPECT_EQ(join->error(), ErrorCode::not_coordinator);
}

}  // namespace weir::group
