// Proves both sides of every limit (RELIABILITY rule 11, F30).

#include "engine/group/limits.h"

#include <gtest/gtest.h>

#include "tests/engine/group/group_world.h"

namespace weir::group {

namespace {

class NoTimeouts final : public GroupTimeouts {
 public:
  void on_session_timeout(Group&, Member&) override {}
  void on_pending_timeout(Group&, PendingMember&) override {}
  void on_join_timeout(Group&) override {}
  void on_sync_timeout(Group&) override {}
};

}  // namespace

TEST(GroupLimits, MaxSizeOfAGroup) {
  GroupWorld world;
  world.config.max_size = 2;
  const auto [first, second] = world.pair_stable();
  auto third = world.join({});
  ASSERT_TRUE(third->done);
  EXPECT_EQ(third->error(), ErrorCode::group_max_size_reached);
  EXPECT_EQ(third->member(), "");
  EXPECT_EQ(world.state("g"), "Stable");
  // While preparing, those who rejoined count: the first two in stay, however many try.
  world.join({.member = first});
  auto pending = world.join({});
  EXPECT_EQ(pending->error(), ErrorCode::member_id_required);
  auto fourth = world.join({.member = pending->member()});
  auto late = world.join({.member = second});
  EXPECT_EQ(late->error(), ErrorCode::group_max_size_reached);
  ASSERT_TRUE(fourth->done);
  EXPECT_EQ(fourth->error(), ErrorCode::none);
  EXPECT_EQ(world.describe("g")->response.members.size(), 2u);
}

TEST(GroupLimits, C69_SizeHoldsWhenManyJoinAtOnce) {
  GroupWorld world;
  world.config.max_size = 10;
  world.config.initial_rebalance_delay_ms = 3'000;
  std::vector<std::shared_ptr<Join>> joins;
  for (int i = 0; i < 50; ++i) joins.push_back(world.join({.version = 3}));
  world.advance_ms(6'001);
  const auto in = std::ranges::count_if(
      joins, [](const auto& join) { return join->done && join->error() == ErrorCode::none; });
  EXPECT_EQ(in, 10);
  EXPECT_EQ(world.coordinator->metrics().members, 10u);
}

TEST(GroupLimits, PendingIdsOfAGroup) {
  GroupWorld world;
  for (int i = 0; i < kMembersPerGroupMax; ++i) {
    ASSERT_EQ(world.join({})->error(), ErrorCode::member_id_required);
  }
  EXPECT_EQ(world.join({})->error(), ErrorCode::group_max_size_reached);
}

TEST(GroupLimits, ThousandMembersInOneGroup) {
  GroupWorld world;
  world.config.initial_rebalance_delay_ms = 100;
  std::vector<std::shared_ptr<Join>> joins;
  for (int i = 0; i < 1'000; ++i) joins.push_back(world.join({.version = 3}));
  world.advance_ms(10'001);
  std::vector<std::pair<std::string, std::string>> plan;
  for (const auto& join : joins) {
    ASSERT_TRUE(join->done);
    plan.emplace_back(join->member(), "for " + join->member());
  }
  ASSERT_TRUE(joins[0]->leads());
  EXPECT_EQ(joins[0]->response.members.size(), 1'000u);
  world.sync({.member = joins[0]->member(), .assignments = plan});
  for (const auto& join : joins) {
    EXPECT_EQ(world.sync({.member = join->member()})->assignment(), "for " + join->member());
  }
  world.crash();
  EXPECT_EQ(world.coordinator->metrics().members, 1'000u);
  EXPECT_EQ(world.heartbeat("g", 1, joins[999]->member()), ErrorCode::none);
}

TEST(GroupLimits, MetadataOfOneMember) {
  GroupWorld world;
  const std::string fits(kMemberMetadataSizeMax - 5, 'm');  // and "range"
  EXPECT_EQ(world.join({.protocols = {{"range", fits}}})->error(), ErrorCode::member_id_required);
  EXPECT_EQ(world.join({.protocols = {{"range", fits + "m"}}})->error(),
            ErrorCode::invalid_request);
  std::vector<std::pair<std::string, std::string>> protocols;
  for (size_t i = 0; i < kProtocolsPerMemberMax; ++i) protocols.emplace_back(std::to_string(i), "");
  EXPECT_EQ(world.join({.protocols = protocols})->error(), ErrorCode::member_id_required);
  protocols.emplace_back("more", "");
  EXPECT_EQ(world.join({.protocols = protocols})->error(), ErrorCode::invalid_request);
}

TEST(GroupLimits, MetadataOfAllMembers) {
  GroupWorld world;
  world.config.initial_rebalance_delay_ms = 100;
  const std::string large(kMemberMetadataSizeMax - 5, 'm');
  for (size_t i = 0; i < kGroupMetadataSizeMax / kMemberMetadataSizeMax; ++i) {
    auto join = world.join({.protocols = {{"range", large}}, .version = 3});
    EXPECT_FALSE(join->done);
  }
  EXPECT_EQ(world.join({.protocols = {{"range", large}}, .version = 3})->error(),
            ErrorCode::group_max_size_reached);
  // Its answer to the leader does not fit the request's memory here: told so, not left waiting.
  world.advance_ms(10'001);
  EXPECT_EQ(world.state("g"), "CompletingRebalance");
}

TEST(GroupLimits, AssignmentsOfOnePlan) {
  GroupWorld world;
  auto join = world.join_new();
  const std::string fits(kAssignmentsSizeMax, 'a');
  EXPECT_EQ(world.sync({.member = join->member(), .assignments = {{join->member(), fits + "a"}}})
                ->error(),
            ErrorCode::group_max_size_reached);
  auto sync = world.sync({.member = join->member(), .assignments = {{join->member(), fits}}});
  EXPECT_EQ(sync->error(), ErrorCode::none);
  EXPECT_EQ(sync->response.assignment.size(), kAssignmentsSizeMax);
  world.crash();
  EXPECT_EQ(world.sync({.member = join->member()})->response.assignment.size(),
            kAssignmentsSizeMax);
}

TEST(GroupLimits, GroupsOfACore) {
  test::ManualCore core;
  GroupMetrics metrics;
  GroupTable table(core.io, metrics);
  NoTimeouts timeouts;
  const auto create = [&](size_t i) {
    return table.create("g" + std::to_string(i), model::PartitionIndex(0), timeouts);
  };
  for (size_t i = 0; i < kGroupsPerCoreMax; ++i) ASSERT_NE(create(i), nullptr);
  EXPECT_EQ(create(kGroupsPerCoreMax), nullptr);
  EXPECT_EQ(metrics.groups, kGroupsPerCoreMax);
  table.erase(*table.find("g5"));
  EXPECT_NE(create(kGroupsPerCoreMax), nullptr);
  // What is on the log is restored all the same.
  table.find_or_restore("one more", model::PartitionIndex(0), timeouts);
  EXPECT_EQ(table.size(), kGroupsPerCoreMax + 1);
}

TEST(GroupLimits, MemoryOfACore) {
  test::ManualCore core;
  GroupMetrics metrics;
  GroupTable table(core.io, metrics);
  EXPECT_TRUE(table.has_room(kMemorySizeMax));
  EXPECT_FALSE(table.has_room(kMemorySizeMax + 1));
  EXPECT_EQ(metrics.refused_for_limits, 1u);
}

TEST(GroupLimits, MemoryIsGivenBack) {
  GroupWorld world;
  const auto [first, second] = world.pair_stable();
  world.commit({.generation = 2, .member = first, .partitions = {1, 2, 3}, .metadata = "text"});
  world.leave("g", {{first, {}}, {second, {}}});
  world.remove({"g"});
  const GroupMetrics& metrics = world.coordinator->metrics();
  EXPECT_EQ(metrics.groups, 0u);
  EXPECT_EQ(metrics.members, 0u);
  EXPECT_EQ(metrics.offsets, 0u);
  EXPECT_EQ(world.coordinator->memory_size(), 0u);
}

TEST(GroupLimits, LogBatchesAreClosedInTime) {
  GroupWorld world;
  world.log.hold = true;
  const std::string metadata(4'000, 'm');
  std::vector<int32_t> partitions(40);
  std::ranges::generate(partitions, [n = 0]() mutable { return n++; });
  std::vector<std::shared_ptr<Commit>> commits;
  for (int i = 0; i < 10; ++i) {
    auto commit =
        std::make_shared<Commit>(CommitArgs{.partitions = partitions, .metadata = metadata});
    commit->message.arena = &commit->arena;
    commit->message.offsets_partition = offsets_partition_of("g", kOffsetsPartitions);
    commit->message.bind_reply<&Pending::on_reply>(static_cast<Pending&>(*commit));
    world.core.mailboxes.send(io::CoreIndex(0), model::ports::kGroup, commit->message);
    commits.push_back(commit);
  }
  world.run();
  EXPECT_GT(world.log.waiting(), 1u);
  world.log.hold = false;
  world.run();
  for (const auto& batch : world.log.batches) EXPECT_LE(batch.second.size(), kLogBatchSizeMax);
}

TEST(GroupConfig, DescribesItself) {
  const GroupConfig config;
  const auto settings = model::list_settings(config);
  EXPECT_EQ(settings.size(), 18u);
  for (const auto& setting : settings) EXPECT_EQ(setting.value, setting.default_value);
}

}  // namespace weir::group
