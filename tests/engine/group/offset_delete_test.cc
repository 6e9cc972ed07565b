// Proves OffsetDelete of one group: what its members read stays, everything else goes durably, and
// a failed write changes nothing.

#include <gtest/gtest.h>

#include "tests/engine/group/consumer_world.h"

namespace weir::group {

namespace {

struct Remove final : Pending {
  Remove(std::string group_id, std::vector<std::pair<std::string, int32_t>> wanted)
      : group(std::move(group_id)), keys(std::move(wanted)), answers(keys.size()) {
    for (size_t i = 0; i < keys.size(); ++i) {
      answers[i].partition_index = keys[i].second;
      items.push_back({.topic = keys[i].first, .answer = &answers[i]});
    }
    message.group_id = group;
    message.items = items;
  }
  GroupCall& call() override { return message; }
  ErrorCode error(size_t i = 0) const {
    if (message.error != ErrorCode::none) return message.error;
    return static_cast<ErrorCode>(answers[i].error_code);
  }

  const std::string group;
  const std::vector<std::pair<std::string, int32_t>> keys;
  std::vector<wire::OffsetDeleteResponse::Partition> answers;
  std::vector<OffsetDeleteItem> items;
  OffsetDeleteCall message;
};

std::shared_ptr<Remove> remove(GroupWorld& world, const std::string& group,
                               std::vector<std::pair<std::string, int32_t>> keys = {{"t", 0}}) {
  return world.send(std::make_shared<Remove>(group, std::move(keys)), group);
}

// Version 0 of a subscription to one topic of one letter.
std::string subscription_to(char topic) {
  return std::string("\0\0\0\0\0\1\0\1", 8) + topic + std::string("\xff\xff\xff\xff", 4);
}

}  // namespace

// Of a consumer group (KIP-848): by name, or as an expression was matched.
TEST(OffsetDelete, WhatConsumersReadStays) {
  ConsumerWorld world;
  for (const char* topic : {"t", "u", "v"}) {
    world.topics.set(topic, 1);
    world.commit({.topic = topic, .offset = 7});
  }
  BeatArgs args = joining("m", {"t"});
  args.regex = "u.*";
  world.beat(args);
  world.advance_ms(1);
  auto removed = remove(world, "g", {{"t", 0}, {"u", 0}, {"v", 0}});
  EXPECT_EQ(removed->error(0), ErrorCode::group_subscribed_to_topic);
  EXPECT_EQ(removed->error(1), ErrorCode::group_subscribed_to_topic);
  EXPECT_EQ(removed->error(2), ErrorCode::none);
  EXPECT_EQ(world.fetch("g", "v")->at().committed_offset, -1);
  world.beat({.member = "m", .epoch = -1});
  EXPECT_EQ(remove(world, "g", {{"t", 0}})->error(), ErrorCode::none);
}

TEST(OffsetDelete, NamedOffsetsGoDurably) {
  GroupWorld world;
  world.commit({.partitions = {0, 1, 2}, .offset = 7});
  auto removed = remove(world, "g", {{"t", 0}, {"t", 2}, {"t", 9}, {"u", 0}, {"t", 0}});
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(removed->error(i), ErrorCode::none);
  for (int i = 0; i < 2; ++i, world.crash()) {
    auto fetched = world.fetch("g", "t", {0, 1, 2});
    EXPECT_EQ(fetched->at(0).committed_offset, -1);
    EXPECT_EQ(fetched->at(1).committed_offset, 7);
    EXPECT_EQ(fetched->at(2).committed_offset, -1);
  }
  EXPECT_EQ(remove(world, "g", {{"t", 1}})->error(), ErrorCode::none);
  EXPECT_EQ(world.coordinator->group_count(), 0u) << "it was nothing but its offsets";
}

TEST(OffsetDelete, GroupsThatAreNotThere) {
  GroupWorld world;
  EXPECT_EQ(remove(world, "none")->error(), ErrorCode::group_id_not_found);
  world.commit({.offset = 1});
  world.log.hold = true;
  auto ended = world.remove({"g"});
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::group_id_not_found) << "it is dead";
  world.log.hold = false;
  world.run();
}

TEST(OffsetDelete, WhatMembersReadStays) {
  GroupWorld world;
  const JoinArgs args{.protocols = {{"range", subscription_to('t')}}};
  auto member = world.stable(args);
  for (const char* topic : {"t", "u"}) {
    world.commit({.generation = 1, .member = member->member(), .topic = topic, .offset = 7});
  }
  auto removed = remove(world, "g", {{"t", 0}, {"u", 0}});
  EXPECT_EQ(removed->error(0), ErrorCode::group_subscribed_to_topic);
  EXPECT_EQ(removed->error(1), ErrorCode::none);
  EXPECT_EQ(world.fetch("g", "t")->at().committed_offset, 7);
  EXPECT_EQ(world.fetch("g", "u")->at().committed_offset, -1);
  // During a rebalance too.
  world.join({.protocols = args.protocols});
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::group_subscribed_to_topic);
  world.leave("g", {{member->member(), {}}});
  world.advance_ms(60'000);
  ASSERT_EQ(world.state("g"), "Empty");
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::none);
}

TEST(OffsetDelete, SubscriptionsThatCannotBeReadNameNothing) {
  GroupWorld world;
  auto member = world.stable({.protocols = {{"range", "no subscription"}}});
  world.commit({.generation = 1, .member = member->member(), .offset = 7});
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::none);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
}

TEST(OffsetDelete, OtherProtocolsOnlyWithoutMembers) {
  GroupWorld world;
  auto member = world.stable({.type = "connect"});
  world.commit({.generation = 1, .member = member->member(), .offset = 7});
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::non_empty_group);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 7);
  world.leave("g", {{member->member(), {}}});
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::none);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
}

TEST(OffsetDelete, ACommitOnItsWayGoesToo) {
  GroupWorld world;
  world.log.hold = true;
  auto before = world.commit({.offset = 2});
  auto removed = remove(world, "g");
  auto after = world.commit({.partitions = {1}, .offset = 3});
  EXPECT_FALSE(removed->done);
  world.log.hold = false;
  world.run();
  EXPECT_EQ(before->error(), ErrorCode::none);
  EXPECT_EQ(removed->error(), ErrorCode::none);
  EXPECT_EQ(after->error(), ErrorCode::none);
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
    EXPECT_EQ(world.fetch("g", "t", {1})->at().committed_offset, 3);
  }
}

TEST(OffsetDelete, ACommitAfterItStays) {
  GroupWorld world;
  world.commit({.offset = 2});
  world.log.hold = true;
  auto removed = remove(world, "g");
  auto after = world.commit({.offset = 3});
  world.log.hold = false;
  world.run();
  EXPECT_EQ(removed->error(), ErrorCode::none);
  EXPECT_EQ(after->error(), ErrorCode::none);
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g")->at().committed_offset, 3);
  }
}

TEST(OffsetDelete, FailureLeavesTheOffsets) {
  GroupWorld world;
  world.commit({.offset = 7});
  world.log.fail = ErrorCode::kafka_storage_error;
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::not_coordinator);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 7);
}

TEST(OffsetDelete, NotServingAnswersNotCoordinator) {
  GroupWorld world;
  world.commit({.offset = 7});
  world.coordinator->stop();
  EXPECT_EQ(remove(world, "g")->error(), ErrorCode::not_coordinator);
}

}  // namespace weir::group
