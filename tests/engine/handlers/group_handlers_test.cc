// Proves the handlers of the group APIs over whole connections on several cores: the way to a
// group's home core, requests that concern several of them, translation between topic names and
// ids, the forms of old versions, and the creation of __consumer_offsets.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/catalog/topic_name.h"
#include "engine/group/group_coordinator.h"
#include "engine/group/group_partition.h"
#include "engine/wire/messages/find_coordinator.h"
#include "engine/wire/messages/offset_delete.h"
#include "tests/engine/handlers/admin_broker.h"

namespace weir::handlers {

namespace {

using model::ErrorCode;

// Everything is durable in the next turn.
class InstantLog final : public group::GroupLog {
 public:
  explicit InstantLog(io::CoreIo& io) : io_(io) { op_.bind<&InstantLog::on_posted>(*this); }
  void append(group::GroupAppend& append) override {
    queue_.push_back(&append);
    if (!op_.armed()) io_.loop.post(op_);
  }
  bool unknown = false;

 private:
  void on_posted(io::Op&) {
    auto queue = std::exchange(queue_, {});
    for (group::GroupAppend* append : queue) {
      append->outcome_unknown = unknown;
      append->error = unknown ? ErrorCode::kafka_storage_error : ErrorCode::none;
      append->complete();
    }
  }
  io::CoreIo& io_;
  io::Op op_;
  std::vector<group::GroupAppend*> queue_;
};

class GroupBroker : public AdminBroker {
 public:
  explicit GroupBroker(uint16_t core_count = 3) : AdminBroker(core_count) {
    config_.initial_rebalance_delay_ms = 0;
    logs.resize(core_count);
    topics.resize(core_count);
    coordinators.resize(core_count);
    start();
  }
  ~GroupBroker() override {
    for (auto& coordinator : coordinators) coordinator->stop();
    world.run_for(10 * kTestMs);
  }
  void on_core_start(io::CoreIo& io) override {
    AdminBroker::on_core_start(io);
    const size_t core = io.index.value();
    topics[core] = std::make_unique<broker::CatalogTopics>(catalog_of(core));
    logs[core] = std::make_unique<InstantLog>(io);
    coordinators[core] = std::make_unique<group::GroupCoordinator>(io, *logs[core],
                                                                         *topics[core], config_);
    coordinators[core]->replay_done();
  }
  size_t home_of(std::string_view group_id) {
    const catalog::Topic& topic = *catalog_of(0).find(catalog::kConsumerOffsetsTopic);
    return catalog_of(0)
        .home_core(topic, group::offsets_partition_of(group_id, topic.partition_count))
        .value();
  }
  const catalog::Topic& topic(std::string_view name) { return *catalog_of(0).find(name); }

  std::vector<std::unique_ptr<InstantLog>> logs;
  std::vector<std::unique_ptr<broker::CatalogTopics>> topics;
  std::vector<std::unique_ptr<group::GroupCoordinator>> coordinators;

 private:
  group::GroupConfig config_;
};

// One partition of one topic.
struct CommitOne {
  CommitOne(std::string_view group, std::string_view topic, int32_t index, int64_t offset) {
    partition.partition_index = index;
    partition.committed_offset = offset;
    row.name = topic;
    row.partitions = {&partition, 1};
    request.group_id = group;
    request.topics = {&row, 1};
  }
  wire::OffsetCommitRequest::Partition partition;
  wire::OffsetCommitRequest::Topic row;
  wire::OffsetCommitRequest request;
};

ErrorCode commit(TestClient& client, CommitOne& one, int16_t version = 8) {
  const auto response = client.call<wire::OffsetCommitResponse>(one.request, version);
  return static_cast<ErrorCode>(response.topics[0].partitions[0].error_code);
}

}  // namespace

TEST(GroupHandlers, FindCoordinatorCreatesTheTopicAndNamesThisNode) {
  GroupBroker broker;
  TestClient client(broker);
  EXPECT_EQ(broker.catalog_of(2).find(catalog::kConsumerOffsetsTopic), nullptr);
  for (int16_t version = 0; version <= 6; ++version) {
    const std::string_view keys[] = {"x", "y", "x"};
    wire::FindCoordinatorRequest request;
    request.key = "x";
    request.coordinator_keys = {const_cast<std::string_view*>(keys), 3};
    const auto response = client.call<wire::FindCoordinatorResponse>(request, version);
    if (version < 4) {
      EXPECT_EQ(response.error_code, 0);
      EXPECT_EQ(response.node_id, 1);
      EXPECT_EQ(response.host, "127.0.0.1");
      EXPECT_EQ(response.port, 9092);
      continue;
    }
    ASSERT_EQ(response.coordinators.size(), 3u);
    EXPECT_EQ(response.coordinators[1].key, "y");
    EXPECT_EQ(response.coordinators[2].node_id, 1);
  }
  for (size_t core = 0; core < 3; ++core) {
    const auto* topic = broker.catalog_of(core).find(catalog::kConsumerOffsetsTopic);
    ASSERT_NE(topic, nullptr);
    EXPECT_EQ(topic->partition_count, 50);
    EXPECT_TRUE(topic->internal);
  }
  wire::FindCoordinatorRequest share;
  share.key_type = 2;
  EXPECT_EQ(client.call<wire::FindCoordinatorResponse>(share, 3).error_code, 42);
  EXPECT_EQ(client.call<wire::FindCoordinatorResponse>(share, 3).node_id, -1);
}

TEST(GroupHandlers, MembersMeetWhateverCoreTheyAreConnectedTo) {
  GroupBroker broker;
  TestClient one(broker);
  TestClient two(broker);
  wire::JoinGroupRequest::Protocol range{"range", {}};
  wire::JoinGroupRequest join;
  join.group_id = "g";
  join.session_timeout_ms = 10'000;
  join.rebalance_timeout_ms = 10'000;
  join.protocol_type = "consumer";
  join.protocols = {&range, 1};
  const auto first = one.call<wire::JoinGroupResponse>(join, 3);
  EXPECT_EQ(first.error_code, 0);
  EXPECT_EQ(first.generation_id, 1);
  EXPECT_TRUE(first.member_id.starts_with("test-client-"));
  wire::SyncGroupRequest::Assignment plan{first.member_id, base::as_bytes("mine")};
  wire::SyncGroupRequest sync;
  sync.group_id = "g";
  sync.generation_id = 1;
  sync.member_id = first.member_id;
  sync.assignments = {&plan, 1};
  const auto synced = one.call<wire::SyncGroupResponse>(sync, 3);
  EXPECT_EQ(base::as_text(synced.assignment), "mine");

  two.send(join, 3, 7);
  broker.world.run_for(100 * kTestMs);
  wire::HeartbeatRequest beat;
  beat.group_id = "g";
  beat.generation_id = 1;
  beat.member_id = first.member_id;
  EXPECT_EQ(one.call<wire::HeartbeatResponse>(beat, 4).error_code, 27);
  join.member_id = first.member_id;
  const auto again = one.call<wire::JoinGroupResponse>(join, 3);
  EXPECT_EQ(again.members.size(), 2u);
  EXPECT_EQ(two.expect<wire::JoinGroupResponse>(3, 7).generation_id, 2);

  std::string_view names[] = {"g", "none", "g"};
  wire::DescribeGroupsRequest describe;
  describe.groups = {names, 3};
  describe.include_authorized_operations = true;
  const auto described = one.call<wire::DescribeGroupsResponse>(describe, 6);
  ASSERT_EQ(described.groups.size(), 3u);
  EXPECT_EQ(described.groups[0].group_state, "CompletingRebalance");
  EXPECT_EQ(described.groups[0].members.size(), 2u);
  EXPECT_TRUE(described.groups[0].members[0].client_host.starts_with("/"));
  EXPECT_EQ(described.groups[1].error_code, 69);
  EXPECT_EQ(described.groups[1].authorized_operations, INT32_MIN);
  EXPECT_EQ(described.groups[2].members.size(), 2u);
  EXPECT_EQ(described.groups[2].authorized_operations, 3400);

  wire::LeaveGroupRequest leave;
  leave.group_id = "g";
  leave.member_id = first.member_id;
  EXPECT_EQ(one.call<wire::LeaveGroupResponse>(leave, 1).error_code, 0);
}

// A member of a consumer group over the wire, in each version, from another core than the group's.
TEST(GroupHandlers, ConsumerGroups) {
  GroupBroker broker;
  TestClient client(broker);
  CommitOne first("other", "t", 0, 1);
  EXPECT_EQ(commit(client, first), ErrorCode::none);  // there are topics now
  const catalog::Topic& topic = broker.topic("t");
  for (const int16_t version : {int16_t{0}, int16_t{1}}) {
    SCOPED_TRACE(version);
    const std::string group_id = fmt::format("consumers-{}", version);
    std::string_view topics[] = {"t"};
    wire::ConsumerGroupHeartbeatRequest join;
    join.group_id = group_id;
    join.member_id = version == 0 ? "" : "m";
    join.rebalance_timeout_ms = 10'000;
    join.subscribed_topic_names = {topics, 1};
    join.topic_partitions = {};
    const auto joined = client.call<wire::ConsumerGroupHeartbeatResponse>(join, version);
    ASSERT_EQ(joined.error_code, 0);
    EXPECT_EQ(joined.member_epoch, 2);
    EXPECT_EQ(joined.heartbeat_interval_ms, 5'000);
    ASSERT_TRUE(joined.assignment);
    ASSERT_EQ(joined.assignment->topic_partitions.size(), 1u);
    EXPECT_EQ(joined.assignment->topic_partitions[0].topic_id, topic.id);
    EXPECT_EQ(joined.assignment->topic_partitions[0].partitions.size(),
              static_cast<size_t>(topic.partition_count));
    const std::string member_id(*joined.member_id);

    wire::ConsumerGroupHeartbeatRequest beat;
    beat.group_id = group_id;
    beat.member_id = member_id;
    beat.member_epoch = 2;
    EXPECT_FALSE(client.call<wire::ConsumerGroupHeartbeatResponse>(beat, version).assignment);

    std::string_view names[] = {group_id, "none", "", "other"};
    wire::ConsumerGroupDescribeRequest describe;
    describe.group_ids = {names, 4};
    describe.include_authorized_operations = true;
    const auto described = client.call<wire::ConsumerGroupDescribeResponse>(describe, version);
    ASSERT_EQ(described.groups.size(), 4u);
    EXPECT_EQ(described.groups[0].group_state, "Stable");
    EXPECT_EQ(described.groups[0].authorized_operations, 3400);
    ASSERT_EQ(described.groups[0].members.size(), 1u);
    const auto& member = described.groups[0].members[0];
    EXPECT_EQ(member.member_id, member_id);
    EXPECT_TRUE(member.client_host.starts_with("/"));
    EXPECT_EQ(member.assignment.topic_partitions[0].topic_name, "t");
    EXPECT_EQ(member.member_type, version == 0 ? -1 : 1);
    EXPECT_EQ(described.groups[1].error_code, 69);
    EXPECT_EQ(described.groups[1].authorized_operations, INT32_MIN);
    EXPECT_EQ(described.groups[2].error_code, 24);
    EXPECT_EQ(described.groups[3].error_code, 69);

    beat.member_epoch = -1;
    EXPECT_EQ(client.call<wire::ConsumerGroupHeartbeatResponse>(beat, version).member_epoch, -1);
    const auto gone = client.call<wire::ConsumerGroupHeartbeatResponse>(beat, version);
    EXPECT_EQ(gone.error_code, 25);
    EXPECT_TRUE(gone.error_message);
  }
}

TEST(GroupHandlers, C77_UnknownTopicsDoNotHinderOthers) {
  GroupBroker broker;
  TestClient client(broker);
  CommitOne bad("g", "none", 0, 5);
  EXPECT_EQ(commit(client, bad), ErrorCode::unknown_topic_or_partition);
  for (const int32_t index : {-1, 4}) {
    CommitOne outside("g", "t", index, 5);
    EXPECT_EQ(commit(client, outside), ErrorCode::unknown_topic_or_partition);
  }
  wire::OffsetCommitRequest::Partition partitions[2];
  partitions[0] = {.partition_index = 99, .committed_offset = 5};
  partitions[1] = {.partition_index = 3, .committed_offset = 6};
  CommitOne mixed("g", "t", 0, 0);
  mixed.row.partitions = {partitions, 2};
  const auto response = client.call<wire::OffsetCommitResponse>(mixed.request, 8);
  EXPECT_EQ(response.topics[0].partitions[0].error_code, 3);
  EXPECT_EQ(response.topics[0].partitions[1].error_code, 0);
}

TEST(GroupHandlers, OffsetsByNameAndIdInEveryVersion) {
  GroupBroker broker;
  TestClient client(broker);
  for (int16_t version = 1; version <= 10; ++version) {
    const std::string group = "g" + std::to_string(version);
    CommitOne one(group, "t", 2, 100 + version);
    one.row.topic_id = broker.topic("t").id;
    EXPECT_EQ(commit(client, one, version), ErrorCode::none);
    int32_t indexes[] = {2, 0};
    wire::OffsetFetchRequest request;
    wire::OffsetFetchRequest::Topic old_row{"t", {indexes, 2}};
    wire::OffsetFetchRequest::GroupTopic row{"t", broker.topic("t").id, {indexes, 2}};
    wire::OffsetFetchRequest::Group asked;
    request.group_id = asked.group_id = group;
    request.topics = {&old_row, 1};
    asked.topics = {&row, 1};
    request.groups = {&asked, 1};
    const auto response = client.call<wire::OffsetFetchResponse>(request, version);
    if (version < 8) {
      ASSERT_EQ(response.topics.size(), 1u);
      EXPECT_EQ(response.topics[0].name, "t");
      EXPECT_EQ(response.topics[0].partitions[0].committed_offset, 100 + version);
      EXPECT_EQ(response.topics[0].partitions[1].committed_offset, -1);
      EXPECT_EQ(response.topics[0].partitions[1].metadata, "");
    } else {
      ASSERT_EQ(response.groups.size(), 1u);
      EXPECT_EQ(response.groups[0].topics[0].partitions[0].committed_offset, 100 + version);
      EXPECT_EQ(response.groups[0].topics[0].partitions[1].committed_offset, -1);
    }
  }
  // An unknown id, alone and between known ones.
  CommitOne one("g", "t", 0, 1);
  one.row.topic_id.bytes[7] = std::byte{1};
  EXPECT_EQ(commit(client, one, 10), ErrorCode::unknown_topic_id);
  int32_t index = 2;
  wire::OffsetFetchRequest::GroupTopic rows[3];
  rows[0] = {"", broker.topic("t").id, {&index, 1}};
  rows[1] = {"", one.row.topic_id, {&index, 1}};
  rows[2] = rows[0];
  wire::OffsetFetchRequest::Group asked;
  asked.group_id = "g10";
  asked.topics = {rows, 3};
  wire::OffsetFetchRequest request;
  request.groups = {&asked, 1};
  const auto response = client.call<wire::OffsetFetchResponse>(request, 10);
  ASSERT_EQ(response.groups[0].topics.size(), 3u);
  EXPECT_EQ(response.groups[0].topics[0].partitions[0].committed_offset, 110);
  EXPECT_EQ(response.groups[0].topics[1].partitions[0].error_code, 100);
  EXPECT_EQ(response.groups[0].topics[2].partitions[0].committed_offset, 110);
}

TEST(GroupHandlers, ManyGroupsOnManyCoresInOneRequest) {
  GroupBroker broker;
  TestClient client(broker);
  std::vector<std::string> names;
  std::set<size_t> homes;
  for (int i = 0; i < 30; ++i) {
    names.push_back("group-" + std::to_string(i));
    CommitOne one(names.back(), "t", 0, i);
    ASSERT_EQ(commit(client, one), ErrorCode::none);
    homes.insert(broker.home_of(names.back()));
  }
  EXPECT_EQ(homes.size(), 3u);
  std::vector<wire::OffsetFetchRequest::Group> asked(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    asked[i].group_id = names[i];
    asked[i].topics = wire::Array<wire::OffsetFetchRequest::GroupTopic>::null();
  }
  wire::OffsetFetchRequest fetch;
  fetch.groups = {asked.data(), asked.size()};
  const auto fetched = client.call<wire::OffsetFetchResponse>(fetch, 9);
  ASSERT_EQ(fetched.groups.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(fetched.groups[i].group_id, names[i]);
    ASSERT_EQ(fetched.groups[i].topics.size(), 1u);
    EXPECT_EQ(fetched.groups[i].topics[0].partitions[0].committed_offset, static_cast<int64_t>(i));
  }
  const auto listed = client.call<wire::ListGroupsResponse>(wire::ListGroupsRequest(), 5);
  EXPECT_EQ(listed.groups.size(), names.size());

  std::vector<std::string_view> doomed = {names[0], names[1], "none", names[0], names[2]};
  wire::DeleteGroupsRequest remove;
  remove.groups_names = {doomed.data(), doomed.size()};
  const auto removed = client.call<wire::DeleteGroupsResponse>(remove, 2);
  ASSERT_EQ(removed.results.size(), 4u) << "named twice, answered once";
  EXPECT_EQ(removed.results[0].error_code, 0);
  EXPECT_EQ(removed.results[2].error_code, 69);
  EXPECT_EQ(client.call<wire::ListGroupsResponse>(wire::ListGroupsRequest(), 0).groups.size(),
            names.size() - 3);
}

TEST(GroupHandlers, OffsetsAreDeletedOneByOne) {
  GroupBroker broker;
  TestClient client(broker);
  CommitOne one("g", "t", 2, 5);
  ASSERT_EQ(commit(client, one), ErrorCode::none);
  const auto remove = [&](std::string_view group, std::string_view topic,
                          std::vector<int32_t> indexes) {
    std::vector<wire::OffsetDeleteRequest::Partition> rows;
    for (const int32_t index : indexes) rows.push_back({index});
    wire::OffsetDeleteRequest::Topic topic_row{topic, {rows.data(), rows.size()}};
    wire::OffsetDeleteRequest request{.group_id = group};
    request.topics = {&topic_row, 1};
    return client.call<wire::OffsetDeleteResponse>(request, 0);
  };
  const auto unknown = remove("none", "t", {0});
  EXPECT_EQ(unknown.error_code, 69);
  EXPECT_TRUE(unknown.topics.empty());
  EXPECT_EQ(remove("", "t", {0}).error_code, 24);
  // What the handler answers alone says nothing of the group.
  for (const std::string_view group : {"g", "none", ""}) {
    const auto response = remove(group, "other", {0});
    EXPECT_EQ(response.error_code, 0);
    EXPECT_EQ(response.topics[0].partitions[0].error_code, 3);
    EXPECT_EQ(remove(group, "t", {}).error_code, 0);
  }
  const auto response = remove("g", "t", {-1, 2, 4, 3});
  EXPECT_EQ(response.error_code, 0);
  ASSERT_EQ(response.topics[0].partitions.size(), 4u);
  EXPECT_EQ(response.topics[0].name, "t");
  EXPECT_EQ(response.topics[0].partitions[0].error_code, 3);
  EXPECT_EQ(response.topics[0].partitions[1].error_code, 0);
  EXPECT_EQ(response.topics[0].partitions[1].partition_index, 2);
  EXPECT_EQ(response.topics[0].partitions[2].error_code, 3);
  EXPECT_EQ(response.topics[0].partitions[3].error_code, 0);
  EXPECT_EQ(remove("g", "t", {2}).error_code, 69) << "it was nothing but its offset";
  CommitOne again("g", "t", 2, 5);
  ASSERT_EQ(commit(client, again), ErrorCode::none);
  for (auto& log : broker.logs) log->unknown = true;
  wire::OffsetDeleteRequest::Partition partition{2};
  wire::OffsetDeleteRequest::Topic row{"t", {&partition, 1}};
  wire::OffsetDeleteRequest request{.group_id = "g"};
  request.topics = {&row, 1};
  client.send(request, 0);
  EXPECT_TRUE(client.wait_closed());
}

TEST(GroupHandlers, C14_GroupErrorsReachEveryVersion) {
  GroupBroker broker;
  TestClient client(broker);
  CommitOne one("g", "t", 0, 1);
  ASSERT_EQ(commit(client, one), ErrorCode::none);
  for (auto& coordinator : broker.coordinators) coordinator->stop();
  for (int16_t version = 1; version <= 10; ++version) {
    int32_t index = 0;
    wire::OffsetFetchRequest::Topic old_row{"t", {&index, 1}};
    wire::OffsetFetchRequest::GroupTopic row{"t", broker.topic("t").id, {&index, 1}};
    wire::OffsetFetchRequest::Group asked;
    wire::OffsetFetchRequest request;
    request.group_id = asked.group_id = "g";
    request.topics = {&old_row, 1};
    asked.topics = {&row, 1};
    request.groups = {&asked, 1};
    const auto response = client.call<wire::OffsetFetchResponse>(request, version);
    if (version < 8) {
      EXPECT_EQ(response.topics[0].partitions[0].error_code, 16);
      EXPECT_EQ(response.error_code, version >= 2 ? 16 : 0);
    } else {
      EXPECT_EQ(response.groups[0].error_code, 16);
      EXPECT_EQ(response.groups[0].topics[0].partitions[0].error_code, 16);
    }
  }
}

TEST(GroupHandlers, UnknownOutcomeClosesTheConnection) {
  GroupBroker broker;
  TestClient client(broker);
  CommitOne one("g", "t", 0, 1);
  ASSERT_EQ(commit(client, one), ErrorCode::none);
  for (auto& log : broker.logs) log->unknown = true;
  client.send(one.request, 8);
  EXPECT_TRUE(client.wait_closed());
  for (auto& log : broker.logs) log->unknown = false;
}

}  // namespace weir::handlers
