// Proves commits, lookups and the forgetting of offsets; expected answers are Kafka 4.3.1's
// (accept/oracle: offsetcommit.*, offsetfetch, offsets.topic-deleted).

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;

base::Uuid id(uint8_t number) {
  base::Uuid uuid;
  uuid.bytes[15] = std::byte{number};
  return uuid;
}

}  // namespace

TEST(OffsetCommit, SimpleGroup) {
  GroupWorld world;
  auto commit =
      world.commit({.partitions = {0, 1}, .offset = 5, .epoch = 3, .metadata = "note"});
  EXPECT_EQ(commit->error(), ErrorCode::none);
  auto fetch = world.fetch("g", "t", {0, 1});
  EXPECT_EQ(fetch->at(0).committed_offset, 5);
  EXPECT_EQ(fetch->at(0).committed_leader_epoch, 3);
  EXPECT_EQ(fetch->at(0).metadata, "note");
  EXPECT_EQ(fetch->at(1).committed_offset, 5);
  EXPECT_EQ(world.commit({.member = "m", .offset = 6})->error(), ErrorCode::none);
  EXPECT_EQ(world.commit({.group = "", .offset = 6})->error(), ErrorCode::none);
  EXPECT_EQ(world.commit({.group = "n", .generation = 3, .member = "m", .version = 8})->error(),
            ErrorCode::illegal_generation);
  EXPECT_EQ(world.commit({.group = "n", .generation = 3, .member = "m", .version = 9})->error(),
            ErrorCode::group_id_not_found);
  EXPECT_EQ(world.state("n"), "Dead");
  EXPECT_EQ(world.state("g"), "Empty");
  EXPECT_EQ(world.describe("g")->response.protocol_type, "");
}

TEST(OffsetCommit, MembersOfAGroup) {
  GroupWorld world;
  const std::string member = world.stable()->member();
  const auto error = [&](const CommitArgs& args) { return world.commit(args)->error(); };
  EXPECT_EQ(error({.generation = 1, .member = member}), ErrorCode::none);
  EXPECT_EQ(error({.generation = 2, .member = member}), ErrorCode::illegal_generation);
  EXPECT_EQ(error({.generation = -1, .member = member}), ErrorCode::illegal_generation);
  EXPECT_EQ(error({.generation = 1, .member = "m"}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.generation = 1, .member = ""}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.generation = 1, .member = member, .instance = "none"}),
            ErrorCode::unknown_member_id);
  world.leave("g", {{member, {}}});
  EXPECT_EQ(error({.generation = 1, .member = member}), ErrorCode::unknown_member_id);
  EXPECT_EQ(error({.offset = 9}), ErrorCode::none);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 9);
}

TEST(OffsetCommit, C73_SimpleCommitWithAnInstanceId) {
  GroupWorld world;
  EXPECT_EQ(world.commit({.instance = "x", .offset = 4})->error(), ErrorCode::none);
  EXPECT_EQ(world.commit({.instance = "x", .offset = 5})->error(), ErrorCode::none);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 5);
  // Against a group in use it is refused.
  world.stable({.instance = "i"});
  EXPECT_EQ(world.commit({.instance = "x"})->error(), ErrorCode::unknown_member_id);
  EXPECT_EQ(world.commit({.instance = "i"})->error(), ErrorCode::fenced_instance_id);
}

TEST(OffsetCommit, C85_MetadataIsKeptByLengthUpToTheLimit) {
  GroupWorld world;
  const std::string binary("a\0b\0", 4);
  std::string wide;
  for (int i = 0; i < 4096; ++i) wide += "\xc3\xa9";
  const auto check = [&](const std::optional<std::string>& metadata, ErrorCode expected) {
    EXPECT_EQ(world.commit({.group = "m", .metadata = metadata})->error(), expected);
    if (expected != ErrorCode::none) return;
    for (int i = 0; i < 2; ++i, world.crash()) {
      EXPECT_EQ(world.fetch("m")->at().metadata, metadata.value_or(""));
    }
  };
  check(binary, ErrorCode::none);
  check(std::string(4096, 'm'), ErrorCode::none);
  check(std::string(4097, 'm'), ErrorCode::offset_metadata_too_large);
  check(wide, ErrorCode::none);
  check(wide + "x", ErrorCode::offset_metadata_too_large);
  check(std::nullopt, ErrorCode::none);
}

TEST(OffsetCommit, OneBadPartitionDoesNotStopTheOthers) {
  GroupWorld world;
  auto commit = std::make_shared<Commit>(CommitArgs{.partitions = {0, 1}, .offset = 3});
  const std::string big(4097, 'x');
  commit->partitions[0].committed_metadata = big;
  world.send(commit, "g");
  EXPECT_EQ(commit->error(0), ErrorCode::offset_metadata_too_large);
  EXPECT_EQ(commit->error(1), ErrorCode::none);
  EXPECT_EQ(world.fetch("g", "t", {0})->at().committed_offset, -1);
  EXPECT_EQ(world.fetch("g", "t", {1})->at().committed_offset, 3);
}

TEST(OffsetCommit, C79_OffsetsAreStoredAsGiven) {
  GroupWorld world;
  for (const int64_t offset : {int64_t{1'000'000'000'000}, int64_t{-1}, int64_t{-2}, INT64_MAX,
                               INT64_MIN, int64_t{0}}) {
    EXPECT_EQ(world.commit({.offset = offset, .epoch = -5})->error(), ErrorCode::none);
    world.crash();
    EXPECT_EQ(world.fetch("g")->at().committed_offset, offset);
    EXPECT_EQ(world.fetch("g")->at().committed_leader_epoch, -5);
  }
}

TEST(OffsetCommit, CommitsOfATurnAreOneBatchPerPartition) {
  GroupWorld world;
  std::vector<std::shared_ptr<Commit>> commits;
  for (int i = 0; i < 100; ++i) {
    auto commit = std::make_shared<Commit>(CommitArgs{.partitions = {i}, .offset = i});
    commit->message.arena = &commit->arena;
    commit->message.offsets_partition = offsets_partition_of("g", kOffsetsPartitions);
    commit->message.bind_reply<&Pending::on_reply>(static_cast<Pending&>(*commit));
    world.core.mailboxes.send(io::CoreIndex(0), model::ports::kGroup, commit->message);
    commits.push_back(commit);
  }
  world.run();
  EXPECT_EQ(world.log.batches.size(), 1u);
  for (const auto& commit : commits) EXPECT_EQ(commit->error(), ErrorCode::none);
  EXPECT_EQ(world.coordinator->metrics().offsets, 100u);
  world.crash();
  EXPECT_EQ(world.fetch("g", "t", {99})->at().committed_offset, 99);
}

TEST(OffsetCommit, FailureChangesNothing) {
  GroupWorld world;
  world.commit({.offset = 1});
  world.log.fail = ErrorCode::message_too_large;
  EXPECT_EQ(world.commit({.offset = 2})->error(), ErrorCode::invalid_commit_offset_size);
  EXPECT_EQ(world.commit({.group = "new"})->error(), ErrorCode::invalid_commit_offset_size);
  world.log.fail = ErrorCode::none;
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
  EXPECT_EQ(world.state("new"), "Dead");
}

TEST(OffsetCommit, RetentionOfOldVersions) {
  for (const int16_t version : {int16_t{2}, int16_t{4}, int16_t{5}}) {
    GroupWorld world;
    world.commit({.retention_ms = 2 * kHourMs, .version = version});
    world.commit({.group = "default", .version = version});
    world.crash();
    world.advance_ms(kHourMs);
    EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
    world.advance_ms(kHourMs + 700'000);
    EXPECT_EQ(world.fetch("g")->at().committed_offset, version == 5 ? 1 : -1);
    EXPECT_EQ(world.fetch("default")->at().committed_offset, 1);
  }
}

TEST(OffsetCommit, RetentionAtTheEdges) {
  GroupWorld world;
  for (const int64_t retention : {int64_t{0}, int64_t{-2}, INT64_MIN}) {
    EXPECT_EQ(world.commit({.retention_ms = retention, .version = 4})->error(), ErrorCode::none);
    world.advance_ms(600'001);
    EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
  }
  world.commit({.retention_ms = INT64_MAX, .version = 4});
  world.advance_ms(30 * kDayMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
}

TEST(OffsetFetch, C12_NothingCommittedIsMinusOneAndEmptyText) {
  GroupWorld world;
  for (const std::string group : {"none", ""}) {
    auto fetch = world.fetch(group, "t", {0, 9, -1});
    EXPECT_EQ(fetch->error(), ErrorCode::none);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(fetch->at(i).committed_offset, -1);
      EXPECT_EQ(fetch->at(i).committed_leader_epoch, -1);
      EXPECT_EQ(fetch->at(i).metadata, "") << "not null";
      EXPECT_EQ(fetch->at(i).error_code, 0);
    }
  }
  EXPECT_EQ(world.fetch("none", std::nullopt)->response.topics.size(), 0u);
}

TEST(OffsetFetch, C13_OneEntryForEachPartitionAsked) {
  GroupWorld world;
  world.commit({.partitions = {3, 1, 4}});
  base::RandomStream random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int32_t> asked;
    for (uint64_t i = random.below(20); i > 0; --i) {
      asked.push_back(static_cast<int32_t>(random.below(6)) - 1);
    }
    auto fetch = world.fetch("g", "t", asked);
    ASSERT_EQ(fetch->response.topics.size(), 1u);
    ASSERT_EQ(fetch->response.topics[0].partitions.size(), asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(fetch->at(i).partition_index, asked[i]);
      const bool known = asked[i] == 1 || asked[i] == 3 || asked[i] == 4;
      EXPECT_EQ(fetch->at(i).committed_offset, known ? 1 : -1);
    }
  }
}

TEST(OffsetFetch, AllPartitionsOfAGroup) {
  GroupWorld world;
  world.commit({.topic = "b", .partitions = {2, 0}, .offset = 2});
  world.commit({.topic = "a", .partitions = {7}, .offset = 3, .topic_id = id(1)});
  auto all = world.fetch("g", std::nullopt);
  ASSERT_EQ(all->response.topics.size(), 2u);
  EXPECT_EQ(all->response.topics[0].name, "a");
  EXPECT_EQ(all->response.topics[0].topic_id, id(1));
  EXPECT_EQ(all->response.topics[1].partitions.size(), 2u);
  EXPECT_EQ(all->at(0, 1).partition_index, 0);
}

TEST(Offsets, C77_DeletedTopicTakesItsCommitsAlong) {
  GroupWorld world;
  world.commit({.partitions = {0, 1}, .offset = 10, .topic_id = id(1)});
  world.commit({.topic = "kept", .offset = 3});
  world.coordinator->on_topic_deleted("t", id(1));
  world.run();
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
    EXPECT_EQ(world.fetch("g", "kept")->at().committed_offset, 3);
    EXPECT_EQ(world.fetch("g", std::nullopt)->response.topics.size(), 1u);
  }
  // Created again: nothing of the old life is there, and the old life's end does not touch the new.
  world.commit({.offset = 1, .topic_id = id(2)});
  world.coordinator->on_topic_deleted("t", id(1));
  world.run();
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
}

TEST(Offsets, C77_DeletionTakesCommitsThatAreOnTheirWay) {
  GroupWorld world;
  world.log.hold = true;
  auto commit = world.commit({.offset = 10, .topic_id = id(1)});
  world.coordinator->on_topic_deleted("t", id(1));
  world.log.hold = false;
  world.run();
  EXPECT_EQ(commit->error(), ErrorCode::none) << "it came before";
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
  }
}

TEST(Offsets, C77_LivesThatEndedWhileTheNodeWasDown) {
  GroupWorld world;
  world.commit({.offset = 10, .topic_id = id(1)});
  world.crash();
  const auto lives = world.coordinator->committed_topics();
  ASSERT_EQ(lives.size(), 1u);
  EXPECT_EQ(*lives.begin(), std::pair(std::string("t"), id(1)));
  world.coordinator->on_topic_deleted("t", id(1));
  world.run();
  EXPECT_TRUE(world.coordinator->committed_topics().empty());
}

TEST(Offsets, C78_CommitOfAnOlderLifeDoesNotCount) {
  GroupWorld world;
  world.commit({.offset = 1'000, .topic_id = id(1)});
  // By the new id, also after a restart, the old offset is as good as none.
  for (int i = 0; i < 2; ++i, world.crash()) {
    EXPECT_EQ(world.fetch("g", "t", {0}, id(2))->at().committed_offset, -1);
    EXPECT_EQ(world.fetch("g", "t", {0}, id(1))->at().committed_offset, 1'000);
    EXPECT_EQ(world.fetch("g")->at().committed_offset, 1'000) << "whoever knows no id gets it";
  }
  world.commit({.offset = 2, .topic_id = id(2)});
  EXPECT_EQ(world.fetch("g", "t", {0}, id(2))->at().committed_offset, 2);
  EXPECT_EQ(world.fetch("g", "t", {0}, id(1))->at().committed_offset, -1);
}

TEST(Offsets, ExpireSevenDaysAfterTheGroupBecameEmpty) {
  GroupWorld world;
  const JoinArgs args{.session_ms = 1'000'000'000};
  world.config.max_session_timeout_ms = 1'000'000'000;
  const std::string member = world.stable(args)->member();
  world.commit({.generation = 1, .member = member});
  world.advance_ms(8 * kDayMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1) << "bytes that are no subscription: never";
  world.leave("g", {{member, {}}});
  world.advance_ms(7 * kDayMs - kHourMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
  world.crash();
  world.advance_ms(2 * kHourMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, -1);
  EXPECT_EQ(world.state("g"), "Dead") << "nothing is left of it";
  EXPECT_EQ(world.coordinator->metrics().offsets_expired, 1u);
  world.crash();
  EXPECT_EQ(world.state("g"), "Dead");
  EXPECT_EQ(world.coordinator->group_count(), 0u);
}

TEST(Offsets, ExpireInAStableGroupOnlyWhereNotSubscribed) {
  GroupWorld world;
  world.config.max_session_timeout_ms = 2'000'000'000;
  // version 0, one topic "t", no user data
  const std::string subscription("\0\0\0\0\0\1\0\1t\xff\xff\xff\xff", 13);
  const std::string member =
      world.stable({.protocols = {{"range", subscription}}, .session_ms = 2'000'000'000})->member();
  world.commit({.generation = 1, .member = member, .topic = "t"});
  world.commit({.generation = 1, .member = member, .topic = "u"});
  world.advance_ms(6 * kDayMs);
  EXPECT_EQ(world.fetch("g", "u")->at().committed_offset, 1);
  world.advance_ms(kDayMs + kHourMs);
  EXPECT_EQ(world.fetch("g", "t")->at().committed_offset, 1);
  EXPECT_EQ(world.fetch("g", "u")->at().committed_offset, -1);
}

TEST(Offsets, SimpleGroupsExpireByCommitTime) {
  GroupWorld world;
  world.commit({.topic = "a"});
  world.advance_ms(4 * kDayMs);
  world.commit({.topic = "b"});
  world.advance_ms(4 * kDayMs);
  EXPECT_EQ(world.fetch("g", "a")->at().committed_offset, -1);
  EXPECT_EQ(world.fetch("g", "b")->at().committed_offset, 1);
  world.advance_ms(4 * kDayMs);
  EXPECT_EQ(world.state("g"), "Dead");
}

TEST(Offsets, WallClockJumpForgetsNothingAtOnce) {
  GroupWorld world;
  world.commit({});
  world.core.clock.jump_wall_ms(365 * kDayMs);
  world.advance_ms(kDayMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, 1);
  world.core.clock.jump_wall_ms(-365 * kDayMs);
  world.advance_ms(8 * kDayMs);
  EXPECT_EQ(world.fetch("g")->at().committed_offset, -1) << "right again: seven days have passed";
}

TEST(Offsets, ExpiryOfManyGroupsGoesInSlices) {
  GroupWorld world;
  for (int i = 0; i < 600; ++i) world.commit({.group = "g" + std::to_string(i)});
  world.advance_ms(7 * kDayMs + kHourMs);
  EXPECT_EQ(world.coordinator->group_count(), 0u);
  EXPECT_EQ(world.coordinator->metrics().offsets, 0u);
}

}  // namespace weir::group
