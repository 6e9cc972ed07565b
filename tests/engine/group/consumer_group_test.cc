// Consumer groups (KIP-848) as their members and their administrators see them: joining, giving
// back, leaving, timeouts, regular expressions, topics that change, what a restart and a lost write
// leave.
#include <gtest/gtest.h>

#include "tests/engine/group/consumer_world.h"

namespace weir::group {
namespace {

using Names = std::vector<std::string>;

// Two members of topic t with four partitions; both have two, in epoch 3.
struct Pair : ConsumerWorld {
  Pair() {
    topics.set("t", 4);
    EXPECT_EQ(beat(joining("a", {"t"}))->assigned(), (Parts{{"t", {0, 1, 2, 3}}}));
    auto second = beat(joining("b", {"t"}));
    EXPECT_EQ(second->epoch(), 3);
    EXPECT_EQ(second->assigned(), Parts{});
    EXPECT_EQ(alive("a", 2)->assigned(), (Parts{{"t", {0, 1}}}));
    EXPECT_EQ(owns("a", 2, {{"t", {0, 1}}})->epoch(), 3);
    EXPECT_EQ(alive("b", 3)->assigned(), (Parts{{"t", {2, 3}}}));
    EXPECT_EQ(consumer_state(), "Stable");
  }
};

TEST(ConsumerGroup, TheFirstMemberHasEverything) {
  ConsumerWorld world;
  world.topics.set("t", 2);
  auto joined = world.beat(joining("m", {"t", "t", "none"}));
  EXPECT_EQ(joined->error(), ErrorCode::none);
  EXPECT_EQ(joined->response.member_id, "m");
  EXPECT_EQ(joined->epoch(), 2);
  EXPECT_EQ(joined->response.heartbeat_interval_ms, 5'000);
  EXPECT_EQ(joined->assigned(), (Parts{{"t", {0, 1}}}));
  EXPECT_EQ(world.alive("m", 2)->assigned(), std::nullopt) << "nothing new";
  BeatArgs full = joining("m", {"t", "none"});
  full.epoch = 2;
  full.owned = Parts{{"t", {0, 1}}};
  EXPECT_EQ(world.beat(full)->assigned(), (Parts{{"t", {0, 1}}})) << "it said all, it is told all";
  EXPECT_EQ(world.snapshot(),
            "0 Stable 2 2 uniform\n"
            "m i=- r=- e=2 client /127.0.0.1 x= n=none,t, t:0,1, | t:0,1, |");
}

TEST(ConsumerGroup, VersionZeroIsGivenAnId) {
  ConsumerWorld world;
  BeatArgs args = joining("", {"t"});
  args.version = 0;
  auto joined = world.beat(args);
  EXPECT_EQ(joined->error(), ErrorCode::none);
  EXPECT_EQ(joined->response.member_id->size(), 22u);
}

TEST(ConsumerGroup, NothingSubscribedIsEpochOne) {
  ConsumerWorld world;
  EXPECT_EQ(world.beat(joining("m", {}))->epoch(), 1);
}

TEST(ConsumerGroup, PartitionsChangeHandsOneAfterTheOther) {
  Pair world;
  // Until the first gives back, the second waits: shown half way.
  world.beat(joining("c", {"t"}));
  EXPECT_EQ(world.consumer_state(), "Reconciling");
  auto told = world.alive("b", 3);
  ASSERT_TRUE(told->assigned());
  EXPECT_EQ(told->epoch(), 3) << "not before it has given back";
  const Parts kept = *told->assigned();
  EXPECT_NE(world.snapshot().find("\nb i=- r=- e=3 client /127.0.0.1 x= n=t, t:2,3, | t:2, |"),
            std::string::npos)
      << world.snapshot();
  EXPECT_EQ(world.alive("c", 4)->assigned(), std::nullopt);
  EXPECT_EQ(world.owns("b", 3, kept)->epoch(), 4);
  EXPECT_EQ(world.alive("a", 3)->epoch(), 4) << "it has nothing to give back";
  EXPECT_EQ(partition_count({{FakeTopics::id_of("t"), (*world.alive("c", 4)->assigned())["t"]}}),
            1u);
  EXPECT_EQ(world.consumer_state(), "Stable");
}

TEST(ConsumerGroup, WhoeverLeavesLeavesItsPartitions) {
  Pair world;
  auto left = world.beat({.member = "b", .epoch = -1});
  EXPECT_EQ(left->epoch(), -1);
  EXPECT_EQ(left->response.member_id, "b");
  EXPECT_EQ(left->response.heartbeat_interval_ms, 0);
  EXPECT_EQ(world.consumer_state(), "Assigning");
  auto told = world.alive("a", 3);
  EXPECT_EQ(told->epoch(), 4);
  EXPECT_EQ(told->assigned(), (Parts{{"t", {0, 1, 2, 3}}}));
  world.leave_epoch("a", -1);
  EXPECT_EQ(world.consumer_state(), "Empty");
  EXPECT_EQ(world.group_epoch(), 5);
}

TEST(ConsumerGroup, SilenceEndsAMembership) {
  Pair world;
  world.advance_ms(44'000);
  world.alive("a", 3);
  world.advance_ms(1'000);
  EXPECT_EQ(world.error({.member = "b", .epoch = 3}), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.alive("a", 3)->assigned(), (Parts{{"t", {0, 1, 2, 3}}}));
  EXPECT_EQ(world.coordinator->metrics().members_expired, 1u);
}

TEST(ConsumerGroup, WhoeverDoesNotGiveBackIsPutOut) {
  Pair world;
  world.beat(joining("c", {"t"}));
  auto told = world.alive("b", 3);
  ASSERT_TRUE(told->assigned());
  world.advance_ms(9'999);
  EXPECT_EQ(world.alive("b", 3)->error(), ErrorCode::none) << "alive, and still not done";
  world.advance_ms(1);
  EXPECT_EQ(world.error({.member = "b", .epoch = 3}), ErrorCode::unknown_member_id);
}

TEST(ConsumerGroup, AssignmentsAreNotMadeMoreOftenThanSet) {
  Pair world;
  world.config.consumer_assignment_interval_ms = 1'000;
  auto joined = world.beat(joining("c", {"t"}));
  EXPECT_EQ(joined->epoch(), 3) << "of the assignment there is";
  EXPECT_EQ(joined->assigned(), Parts{});
  EXPECT_EQ(world.consumer_state(), "Assigning");
  world.advance_ms(1'000);
  EXPECT_EQ(world.alive("c", 3)->epoch(), 4);
  // A member that reads something else does not wait.
  world.topics.set("u", 1);
  auto changed = world.beat({.member = "c", .epoch = 4, .topics = Names{"u"}});
  EXPECT_EQ(changed->epoch(), 5);
  EXPECT_EQ(changed->assigned(), (Parts{{"u", {0}}}));
}

TEST(ConsumerGroup, AGroupMayHaveSettingsOfItsOwn) {
  Pair world;
  world.topics.settings["g"] = {.session_timeout_ms = 50'000,
                                .heartbeat_interval_ms = 7'000,
                                .assignment_interval_ms = 2'000};
  EXPECT_EQ(world.alive("a", 3)->response.heartbeat_interval_ms, 7'000);
  world.alive("b", 3);
  world.advance_ms(49'999);
  EXPECT_EQ(world.alive("a", 3)->error(), ErrorCode::none);
  world.advance_ms(1);
  EXPECT_EQ(world.error({.member = "b", .epoch = 3}), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.alive("a", 3)->epoch(), 4);
  world.beat(joining("c", {"t"}));
  world.advance_ms(1'999);
  EXPECT_EQ(world.alive("a", 4)->epoch(), 4);
  world.advance_ms(1);
  EXPECT_TRUE(world.alive("a", 4)->assigned());
}

TEST(ConsumerGroup, TopicsComeGrowAndGo) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  EXPECT_EQ(world.beat(joining("m", {"t", "later"}))->epoch(), 2);
  world.topics.set("other", 5);
  EXPECT_EQ(world.alive("m", 2)->epoch(), 2) << "nobody reads that";
  world.topics.set("t", 3);
  auto told = world.alive("m", 2);
  EXPECT_EQ(told->epoch(), 3);
  EXPECT_EQ(told->assigned(), (Parts{{"t", {0, 1, 2}}}));
  world.topics.set("later", 1);
  EXPECT_EQ(world.alive("m", 3)->assigned(), (Parts{{"later", {0}}, {"t", {0, 1, 2}}}));
  world.topics.set("t", 0);
  told = world.alive("m", 4);
  EXPECT_EQ(told->assigned(), (Parts{{"later", {0}}}));
  EXPECT_EQ(world.owns("m", 4, {{"later", {0}}})->epoch(), 5);
}

TEST(ConsumerGroup, RegularExpressions) {
  ConsumerWorld world;
  world.topics.set("match", 1);
  world.topics.set("mismatch", 1);
  BeatArgs args = joining("m", {});
  args.topics.reset();
  args.regex = "mat..";
  auto joined = world.beat(args);
  EXPECT_EQ(joined->epoch(), 1) << "it is matched later";
  EXPECT_EQ(joined->assigned(), Parts{});
  world.advance_ms(1);
  auto told = world.alive("m", 1);
  EXPECT_EQ(told->epoch(), 2);
  EXPECT_EQ(told->assigned(), (Parts{{"match", {0}}}));
  // A topic that comes is seen, at most every ten seconds.
  world.topics.set("mates", 1);
  EXPECT_EQ(world.alive("m", 2)->epoch(), 2);
  world.advance_ms(10'000);
  EXPECT_EQ(world.alive("m", 2)->epoch(), 2);
  world.advance_ms(1);
  EXPECT_EQ(world.alive("m", 2)->assigned(), (Parts{{"match", {0}}, {"mates", {0}}}));
  // Another member with the same expression has it at once; names and expression together count.
  args.member = "n";
  args.topics = Names{"mismatch"};
  EXPECT_EQ(world.beat(args)->epoch(), 4);
  // Without it the expression is forgotten with its last member.
  world.beat({.member = "n", .epoch = 4, .regex = ""});
  EXPECT_EQ(world.beat({.member = "m", .epoch = 3, .topics = Names{}, .regex = ""})->error(),
            ErrorCode::none);
  world.crash();
  EXPECT_EQ(world.describe_consumer()->response.members[0].subscribed_topic_regex, "");
}

TEST(ConsumerGroup, AssignorsAreChosenByMajority) {
  ConsumerWorld world;
  world.topics.set("t", 2);
  world.beat(joining("a", {"t"}));
  EXPECT_EQ(world.describe_consumer()->response.assignor_name, "uniform");
  for (const char* id : {"b", "c"}) {
    BeatArgs args = joining(id, {"t"});
    args.assignor = "range";
    world.beat(args);
  }
  EXPECT_EQ(world.describe_consumer()->response.assignor_name, "range");
}

TEST(ConsumerGroup, AStaticMemberComesBackToWhatItHad) {
  ConsumerWorld world;
  world.topics.set("t", 4);
  BeatArgs first = joining("m1", {"t"});
  first.instance = "i";
  world.beat(first);
  world.beat(joining("other", {"t"}));
  const Parts kept = *world.alive("m1", 2)->assigned();
  EXPECT_EQ(world.beat({.member = "m1", .epoch = 2, .owned = kept, .instance = "i"})->epoch(), 3);
  world.alive("other", 3);
  EXPECT_EQ(world.beat({.member = "m1", .epoch = -2, .instance = "i"})->epoch(), -2);
  EXPECT_EQ(world.group_epoch(), 3) << "nobody is given what it had";
  BeatArgs again = first;
  again.member = "m2";
  auto back = world.beat(again);
  EXPECT_EQ(back->epoch(), 3);
  EXPECT_EQ(back->assigned(), kept);
  // Under its own id too.
  EXPECT_EQ(world.beat({.member = "m2", .epoch = -2, .instance = "i"})->epoch(), -2);
  EXPECT_EQ(world.beat(again)->assigned(), kept);
  // Away for longer than a session: gone.
  world.beat({.member = "m2", .epoch = -2, .instance = "i"});
  world.advance_ms(22'500);
  EXPECT_EQ(world.alive("other", 3)->assigned(), std::nullopt);
  world.advance_ms(22'500);
  EXPECT_EQ(world.alive("other", 3)->assigned(), (Parts{{"t", {0, 1, 2, 3}}}));
}

// --- administrators ------------------------------------------------------------------------------

TEST(ConsumerGroup, IsListedAndDescribed) {
  Pair world;
  world.stable({.group = "classic"});
  EXPECT_EQ(world.list({}, {"consumer"})->names(), Names{"g"});
  EXPECT_EQ(world.list({}, {"classic"})->names(), Names{"classic"});
  EXPECT_EQ(world.list({"Stable"})->names(), (Names{"classic", "g"}));
  EXPECT_EQ(world.list({"assigning"})->names(), Names{});
  auto listed = world.list({}, {"CONSUMER"});
  EXPECT_EQ(listed->message.groups[0].protocol_type, "consumer");
  EXPECT_EQ(listed->message.groups[0].group_type, "consumer");
  // Each kind is described by its own call.
  EXPECT_EQ(world.state("g"), "Dead");
  EXPECT_EQ(world.describe("g", 6)->response.error_code,
            static_cast<int16_t>(ErrorCode::group_id_not_found));
  EXPECT_EQ(world.describe("g", 5)->response.error_code, 0);
  for (const char* id : {"classic", "none"}) {
    EXPECT_EQ(world.describe_consumer(id)->response.error_code,
              static_cast<int16_t>(ErrorCode::group_id_not_found));
  }
}

TEST(ConsumerGroup, IsDeletedWhenItIsEmpty) {
  Pair world;
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::non_empty_group);
  world.leave_epoch("a", -1);
  world.leave_epoch("b", -1);
  world.commit({.offset = 9});
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::none);
  EXPECT_EQ(world.coordinator->group_count(), 0u);
  world.crash();
  EXPECT_EQ(world.coordinator->group_count(), 0u);
  EXPECT_EQ(world.beat(joining("m", {"t"}))->epoch(), 2) << "a new group";
}

TEST(ConsumerGroup, StaticMembersArePutOutByAdministrators) {
  ConsumerWorld world;
  BeatArgs args = joining("m", {"t"});
  args.instance = "i";
  world.beat(args);
  auto left = world.leave("g", {{"m", std::nullopt}, {"", "other"}, {"", "i"}});
  EXPECT_EQ(left->error(0), ErrorCode::unknown_member_id);
  EXPECT_EQ(left->error(1), ErrorCode::unknown_member_id);
  EXPECT_EQ(left->error(2), ErrorCode::none);
  EXPECT_EQ(world.consumer_state(), "Empty");
  EXPECT_EQ(world.leave("g", {{"m", std::nullopt}}, 2)->response.error_code,
            static_cast<int16_t>(ErrorCode::unknown_member_id));
}

// --- the other protocol --------------------------------------------------------------------------

TEST(ConsumerGroup, AnEmptyGroupMayChangeItsProtocol) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  const std::string member = world.stable()->member();
  world.leave("g", {{member, std::nullopt}});
  EXPECT_EQ(world.beat(joining("m", {"t"}))->epoch(), 2);
  EXPECT_EQ(world.consumer_state(), "Stable");
  EXPECT_EQ(world.join({})->error(), ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(world.heartbeat("g", 1, member), ErrorCode::unknown_member_id);
  world.crash();
  EXPECT_EQ(world.consumer_state(), "Stable");
  world.leave_epoch("m", -1);
  world.commit({.offset = 7});
  world.stable();
  world.crash();
  EXPECT_EQ(world.state("g"), "Stable");
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 7) << "offsets stay";
}

// --- offsets -------------------------------------------------------------------------------------

TEST(ConsumerGroup, OffsetsAreCommittedInAnEpoch) {
  Pair world;
  const auto commit = [&](CommitArgs args) { return world.commit(args)->error(); };
  EXPECT_EQ(commit({.generation = 3, .member = "a", .offset = 5}), ErrorCode::none);
  EXPECT_EQ(commit({.generation = 4, .member = "a"}), ErrorCode::stale_member_epoch);
  EXPECT_EQ(commit({.generation = 2, .member = "a"}), ErrorCode::stale_member_epoch);
  EXPECT_EQ(commit({.generation = 3, .member = "x"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(commit({}), ErrorCode::unknown_member_id) << "from nobody, while there are members";
  EXPECT_EQ(commit({.generation = 3, .member = "a", .version = 8}),
            ErrorCode::unsupported_version);
  const auto fetch = [&](wire::NullableString member, int32_t epoch) {
    auto pending = std::make_shared<Fetch>("g", "t", std::vector<int32_t>{0}, base::Uuid{});
    pending->request.member_id = member;
    pending->request.member_epoch = epoch;
    world.send(pending, "g");
    return pending->error();
  };
  EXPECT_EQ(fetch(std::nullopt, -1), ErrorCode::none);
  EXPECT_EQ(fetch("a", 3), ErrorCode::none);
  EXPECT_EQ(fetch("a", 2), ErrorCode::stale_member_epoch);
  EXPECT_EQ(fetch("x", 3), ErrorCode::unknown_member_id);
  world.leave_epoch("a", -1);
  world.leave_epoch("b", -1);
  EXPECT_EQ(commit({.offset = 6}), ErrorCode::none) << "by an administrator";
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 6);
}

TEST(ConsumerGroup, OffsetsInUseAreKept) {
  Pair world;
  world.commit({.generation = 3, .member = "a", .offset = 5});
  world.commit({.generation = 3, .member = "a", .topic = "unused", .offset = 5});
  for (int64_t day = 0; day < 8; ++day) {
    for (int64_t beat = 0; beat < 24 * 60 * 2; ++beat) {
      world.advance_ms(30'000);
      world.alive("a", 3);
      world.alive("b", 3);
    }
  }
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 5);
  EXPECT_EQ(world.fetch("g", "unused")->at().committed_offset, -1);
}

}  // namespace
}  // namespace weir::group
