// Every row of the table of errors of ConsumerGroupHeartbeat (SCOPE 16), and limits on both sides.
#include <gtest/gtest.h>

#include "tests/engine/group/consumer_world.h"

namespace weir::group {
namespace {

BeatArgs with(BeatArgs args, auto change) {
  change(args);
  return args;
}

TEST(ConsumerErrors, WhatARequestMustSay) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  const BeatArgs full = joining("m", {"t"});
  const auto invalid = [&](auto change) {
    EXPECT_EQ(world.error(with(full, change)), ErrorCode::invalid_request);
  };
  invalid([](BeatArgs& a) { a.group = ""; });
  invalid([](BeatArgs& a) { a.member = ""; });
  invalid([](BeatArgs& a) { a.instance = ""; });
  invalid([](BeatArgs& a) { a.rack = ""; });
  invalid([](BeatArgs& a) { a.epoch = -3; });
  invalid([](BeatArgs& a) { a.epoch = -2; });
  invalid([](BeatArgs& a) { a.rebalance_ms = -1; });
  invalid([](BeatArgs& a) { a.rebalance_ms = -2; });
  invalid([](BeatArgs& a) { a.owned.reset(); });
  invalid([](BeatArgs& a) { a.owned = Parts{{"t", {0}}}; });
  invalid([](BeatArgs& a) { a.topics.reset(); });
  invalid([](BeatArgs& a) {
    a.epoch = 1;
    a.member = "";
    a.version = 0;
  });
  EXPECT_EQ(world.error(with(full, [](BeatArgs& a) { a.assignor = "nobody"; })),
            ErrorCode::unsupported_assignor);
  EXPECT_EQ(world.coordinator->group_count(), 0u) << "nothing is made for what is refused";
}

TEST(ConsumerErrors, RegularExpressions) {
  ConsumerWorld world;
  for (const char* regex : {"(a", "(?=a)", "(a)\\1", "[", "a{2000}", "((a{100}){100}){100}"}) {
    BeatArgs args = joining("m", {});
    args.topics.reset();
    args.regex = regex;
    EXPECT_EQ(world.error(args), ErrorCode::invalid_regular_expression) << regex;
  }
  BeatArgs args = joining("m", {});
  args.topics.reset();
  args.regex = std::string(kRegexSizeMax + 1, 'a');
  EXPECT_EQ(world.error(args), ErrorCode::invalid_regular_expression);
  args.regex = std::string(kRegexSizeMax, 'a');
  EXPECT_EQ(world.error(args), ErrorCode::none);
  args.group = "empty";
  args.regex = "";
  EXPECT_EQ(world.error(args), ErrorCode::none);
}

TEST(ConsumerErrors, GroupsAndMembersThatAreNotThere) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  EXPECT_EQ(world.error({.epoch = 5}), ErrorCode::group_id_not_found);
  EXPECT_EQ(world.error({.epoch = -1}), ErrorCode::group_id_not_found);
  EXPECT_EQ(world.beat(joining("m", {"t"}))->epoch(), 2);
  EXPECT_EQ(world.error({.member = "other", .epoch = 1}), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.error({.member = "other", .epoch = -1}), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.error({.epoch = 3}), ErrorCode::fenced_member_epoch);
  EXPECT_EQ(world.error({.epoch = 1}), ErrorCode::fenced_member_epoch);
  // Joining again is fine, and so is the epoch before for whoever owns no more than it may.
  EXPECT_EQ(world.beat(joining("m", {"t"}))->epoch(), 2);
}

TEST(ConsumerErrors, TheEpochBeforeIsARetry) {
  ConsumerWorld world;
  world.topics.set("t", 2);
  world.beat(joining("m", {"t"}));
  world.topics.set("t", 3);
  EXPECT_EQ(world.alive("m", 2)->epoch(), 3);
  // The answer was lost.
  EXPECT_EQ(world.owns("m", 2, {{"t", {0, 1}}})->epoch(), 3);
  EXPECT_EQ(world.error({.epoch = 2}), ErrorCode::fenced_member_epoch);
  EXPECT_EQ(world.error({.epoch = 2, .owned = Parts{{"t", {0, 7}}}}),
            ErrorCode::fenced_member_epoch);
  EXPECT_EQ(world.error({.epoch = 1, .owned = Parts{}}), ErrorCode::fenced_member_epoch);
}

TEST(ConsumerErrors, StaticMembers) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  BeatArgs first = joining("m1", {"t"});
  first.instance = "i";
  EXPECT_EQ(world.beat(first)->epoch(), 2);
  BeatArgs second = first;
  second.member = "m2";
  EXPECT_EQ(world.error(second), ErrorCode::unreleased_instance_id);
  EXPECT_EQ(world.error({.member = "m1", .epoch = 1, .instance = "other"}),
            ErrorCode::unknown_member_id);
  EXPECT_EQ(world.error({.member = "m2", .epoch = 2, .instance = "i"}),
            ErrorCode::fenced_instance_id);
  EXPECT_EQ(world.leave_epoch("m2", -2, "i"), ErrorCode::fenced_instance_id);
  EXPECT_EQ(world.leave_epoch("m1", -2, "i"), ErrorCode::none);
  EXPECT_EQ(world.beat(second)->epoch(), 2);
  EXPECT_EQ(world.error({.member = "m1", .epoch = 2, .instance = "i"}),
            ErrorCode::fenced_instance_id);
  // An id that is somebody else's already.
  world.beat(joining("dynamic", {"t"}));
  EXPECT_EQ(world.leave_epoch("m2", -2, "i"), ErrorCode::none);
  BeatArgs taken = first;
  taken.member = "dynamic";
  EXPECT_EQ(world.error(taken), ErrorCode::invalid_request);
  EXPECT_EQ(world.leave_epoch("m2", -1, "i"), ErrorCode::none);
  EXPECT_EQ(world.leave_epoch("m2", -2, "i"), ErrorCode::unknown_member_id);
}

TEST(ConsumerErrors, ClassicGroups) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  world.stable({.group = "connect", .protocols = {{"p", "x"}}, .type = "connect"});
  BeatArgs args = joining("m", {"t"});
  args.group = "connect";
  EXPECT_EQ(world.error(args), ErrorCode::group_id_not_found);
  EXPECT_EQ(world.error({.group = "connect", .epoch = 3}), ErrorCode::group_id_not_found);
  world.stable({.group = "classic"});
  args.group = "classic";
  EXPECT_EQ(world.error(args), ErrorCode::group_id_not_found);
}

TEST(ConsumerErrors, LimitsOnBothSides) {
  ConsumerWorld world;
  world.config.consumer_max_size = 2;
  world.topics.set("t", 1);
  EXPECT_EQ(world.error(joining("a", {"t"})), ErrorCode::none);
  EXPECT_EQ(world.error(joining("b", {"t"})), ErrorCode::none);
  EXPECT_EQ(world.error(joining("c", {"t"})), ErrorCode::group_max_size_reached);
  EXPECT_EQ(world.error(joining("b", {"t"})), ErrorCode::none);
  world.config.consumer_max_size = kMembersPerGroupMax;

  BeatArgs args = joining(std::string(kMemberIdSizeMax, 'm'), {"t"});
  args.group = "ids";
  EXPECT_EQ(world.error(args), ErrorCode::none);
  args.member += "m";
  EXPECT_EQ(world.error(args), ErrorCode::invalid_request);

  args = joining("m", std::vector<std::string>(kSubscribedTopicsMax, "t"));
  args.group = "names";
  EXPECT_EQ(world.error(args), ErrorCode::none);
  args.topics->push_back("t");
  EXPECT_EQ(world.error(args), ErrorCode::invalid_request);

  args = {.group = "names", .epoch = 2, .owned = Parts{{"t", {}}}};
  (*args.owned)["t"].resize(kOwnedPartitionsMax - 1);
  EXPECT_EQ(world.error(args), ErrorCode::none);
  (*args.owned)["t"].push_back(0);
  EXPECT_EQ(world.error(args), ErrorCode::invalid_request);

  args = joining("m", {});
  args.group = "regexes";
  for (size_t i = 0; i <= kRegexesPerGroupMax; ++i) {
    args.member = "m" + std::to_string(i);
    args.regex = "r" + std::to_string(i);
    EXPECT_EQ(world.error(args), i < kRegexesPerGroupMax ? ErrorCode::none
                                                         : ErrorCode::invalid_request);
  }
}

TEST(ConsumerErrors, SettingsThatDoNotGoTogether) {
  GroupConfig config;
  EXPECT_TRUE(config.check());
  const auto refused = [](auto change) {
    GroupConfig changed;
    change(changed);
    return !changed.check();
  };
  EXPECT_TRUE(refused([](auto& c) { c.consumer_session_timeout_ms = 44'999; }));
  EXPECT_TRUE(refused([](auto& c) { c.consumer_session_timeout_ms = 60'001; }));
  EXPECT_TRUE(refused([](auto& c) { c.consumer_heartbeat_interval_ms = 4'999; }));
  EXPECT_TRUE(refused([](auto& c) { c.consumer_heartbeat_interval_ms = 15'001; }));
  EXPECT_TRUE(refused([](auto& c) {
    c.consumer_max_heartbeat_interval_ms = 45'000;
    c.consumer_heartbeat_interval_ms = 45'000;
  }));
  for (const char* names : {"", "uniform,", "none", "range,uniform,range", "uniform range"}) {
    EXPECT_TRUE(refused([&](auto& c) { c.consumer_assignors = names; })) << names;
  }
  config.consumer_assignors = " range , uniform";
  EXPECT_TRUE(config.check());
  EXPECT_EQ(config.assignors(), (std::vector<std::string_view>{"range", "uniform"}));
}

}  // namespace
}  // namespace weir::group
