#pragma once
// GroupWorld: one coordinator over a log held in memory, with clients that speak its calls. Time
// moves only by advance_ms(); crash() forgets what the log had not made durable and starts again
// from the rest.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/group/group_coordinator.h"
#include "engine/group/group_partition.h"
#include "engine/model/ports.h"
#include "tests/engine/group/fakes.h"
#include "tests/support/manual_core.h"

namespace weir::group {

using model::ErrorCode;

inline constexpr int32_t kOffsetsPartitions = 50;

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const auto view = base::as_bytes(text);
  return {view.begin(), view.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return std::string(base::as_text(bytes));
}

// One call of a client; done once it has come back.
struct Pending {
  virtual ~Pending() = default;
  base::Arena arena{size_t{32} << 20};
  bool done = false;
  void on_reply(io::Message&) { done = true; }
  virtual GroupCall& call() = 0;
};

struct JoinArgs {
  std::string group = "g";
  std::string member = {};
  std::optional<std::string> instance = {};
  std::vector<std::pair<std::string, std::string>> protocols = {{"range", "r"}};
  std::string type = "consumer";
  int32_t session_ms = 10'000;
  int32_t rebalance_ms = 10'000;
  int16_t version = 9;
  std::string client = "client";
};

inline wire::NullableString view(const std::optional<std::string>& text) {
  return text ? wire::NullableString(*text) : wire::NullableString();
}

struct Join final : Pending {
  explicit Join(const JoinArgs& from) : args(from) {
    request.group_id = args.group;
    request.session_timeout_ms = args.session_ms;
    request.rebalance_timeout_ms = args.rebalance_ms;
    request.member_id = args.member;
    request.group_instance_id = view(args.instance);
    request.protocol_type = args.type;
    request.protocols =
        wire::make_array<wire::JoinGroupRequest::Protocol>(arena, args.protocols.size());
    for (size_t i = 0; i < args.protocols.size(); ++i) {
      request.protocols[i] = {args.protocols[i].first, base::as_bytes(args.protocols[i].second)};
    }
    message.request = &request;
    message.response = &response;
    message.api_version = args.version;
    message.client_id = args.client;
    message.client_host = "/127.0.0.1";
  }
  GroupCall& call() override { return message; }
  ErrorCode error() const { return static_cast<ErrorCode>(response.error_code); }
  std::string member() const { return std::string(response.member_id); }
  int32_t generation() const { return response.generation_id; }
  bool leads() const { return !response.leader.empty() && response.leader == response.member_id; }

  const JoinArgs args;
  wire::JoinGroupRequest request;
  wire::JoinGroupResponse response;
  JoinGroupCall message;
};

struct SyncArgs {
  std::string group = "g";
  int32_t generation = 1;
  std::string member = {};
  std::vector<std::pair<std::string, std::string>> assignments = {};
  std::optional<std::string> instance = {};
  std::optional<std::string> type = "consumer";
  std::optional<std::string> protocol = "range";
  int16_t version = 5;
};

struct Sync final : Pending {
  explicit Sync(const SyncArgs& from) : args(from) {
    request.group_id = args.group;
    request.generation_id = args.generation;
    request.member_id = args.member;
    request.group_instance_id = view(args.instance);
    request.protocol_type = view(args.type);
    request.protocol_name = view(args.protocol);
    request.assignments =
        wire::make_array<wire::SyncGroupRequest::Assignment>(arena, args.assignments.size());
    for (size_t i = 0; i < args.assignments.size(); ++i) {
      request.assignments[i] = {args.assignments[i].first,
                                base::as_bytes(args.assignments[i].second)};
    }
    message.request = &request;
    message.response = &response;
    message.api_version = args.version;
  }
  GroupCall& call() override { return message; }
  ErrorCode error() const { return static_cast<ErrorCode>(response.error_code); }
  std::string assignment() const { return text_of(response.assignment); }

  const SyncArgs args;
  wire::SyncGroupRequest request;
  wire::SyncGroupResponse response;
  SyncGroupCall message;
};

struct CommitArgs {
  std::string group = "g";
  int32_t generation = -1;
  std::string member = {};
  std::optional<std::string> instance = {};
  std::string topic = "t";
  std::vector<int32_t> partitions = {0};
  int64_t offset = 1;
  int32_t epoch = -1;
  std::optional<std::string> metadata = "";
  base::Uuid topic_id = {};
  int64_t retention_ms = -1;
  int16_t version = 9;
};

struct Commit final : Pending {
  explicit Commit(const CommitArgs& from) : args(from) {
    request.group_id = args.group;
    request.generation_id_or_member_epoch = args.generation;
    request.member_id = args.member;
    request.group_instance_id = view(args.instance);
    request.retention_time_ms = args.retention_ms;
    for (const int32_t partition : args.partitions) {
      partitions.push_back({.partition_index = partition,
                            .committed_offset = args.offset,
                            .committed_leader_epoch = args.epoch,
                            .committed_metadata = view(args.metadata)});
    }
    answers.resize(partitions.size());
    for (size_t i = 0; i < partitions.size(); ++i) {
      items.push_back({.topic = args.topic,
                       .topic_id = args.topic_id,
                       .partition = &partitions[i],
                       .answer = &answers[i]});
    }
    message.request = &request;
    message.items = items;
    message.api_version = args.version;
  }
  GroupCall& call() override { return message; }
  ErrorCode error(size_t i = 0) const { return static_cast<ErrorCode>(answers[i].error_code); }

  const CommitArgs args;
  wire::OffsetCommitRequest request;
  std::vector<wire::OffsetCommitRequest::Partition> partitions;
  std::vector<wire::OffsetCommitResponse::Partition> answers;
  std::vector<CommitItem> items;
  OffsetCommitCall message;
};

struct Fetch final : Pending {
  // No topic: all.
  Fetch(std::string group_id, std::optional<std::string> topic, std::vector<int32_t> asked,
        base::Uuid topic_id)
      : group(std::move(group_id)), topic_name(std::move(topic)), partitions(std::move(asked)) {
    request.group_id = group;
    request.topics = wire::Array<wire::OffsetFetchRequest::GroupTopic>::null();
    if (topic_name) {
      row.name = *topic_name;
      row.topic_id = topic_id;
      row.partition_indexes = {partitions.data(), partitions.size()};
      request.topics = {&row, 1};
    }
    item = {.group = &request, .answer = &response};
    message.items = {&item, 1};
    message.api_version = 9;
  }
  GroupCall& call() override { return message; }
  ErrorCode error() const { return static_cast<ErrorCode>(response.error_code); }
  const wire::OffsetFetchResponse::GroupPartition& at(size_t i = 0, size_t topic = 0) const {
    return response.topics[topic].partitions[i];
  }

  const std::string group;
  const std::optional<std::string> topic_name;
  std::vector<int32_t> partitions;
  wire::OffsetFetchRequest::GroupTopic row;
  wire::OffsetFetchRequest::Group request;
  wire::OffsetFetchResponse::Group response;
  FetchItem item;
  OffsetFetchCall message;
};

class GroupWorld {
 public:
  explicit GroupWorld(uint64_t seed = 1) : core(seed) {
    config.initial_rebalance_delay_ms = 0;
    start();
  }
  ~GroupWorld() {
    if (coordinator == nullptr) return;
    log.hold = false;
    coordinator->stop();
    run();
    EXPECT_TRUE(coordinator->idle());
    for (const auto& pending : away_) EXPECT_TRUE(pending->done) << "a call was never answered";
  }

  // Whatever can happen without time passing.
  void run() {
    do core.loop.turn();
    while (log.complete());
    std::erase_if(away_, [](const auto& pending) { return pending->done; });
  }
  void advance_ms(int64_t ms) {
    core.loop.advance_ms(ms, [&] { run(); });
  }
  void crash() {
    for (const auto& pending : away_) {
      if (!pending->done) test::ManualMailboxes::drop(pending->call());
    }
    away_.clear();
    core.mailboxes.drop_all();
    core.loop.abandon();
    log.crash();
    coordinator.reset();
    start();
  }

  template <class P>
  std::shared_ptr<P> send(std::shared_ptr<P> pending, std::string_view group_id,
                          io::Port port = model::ports::kGroup) {
    GroupCall& call = pending->call();
    call.arena = &pending->arena;
    call.offsets_partition = offsets_partition_of(group_id, kOffsetsPartitions);
    call.template bind_reply<&Pending::on_reply>(static_cast<Pending&>(*pending));
    core.mailboxes.send(io::CoreIndex(0), port, call);
    away_.push_back(pending);
    run();
    return pending;
  }
  std::shared_ptr<Join> join(const JoinArgs& args) {
    return send(std::make_shared<Join>(args), args.group);
  }
  std::shared_ptr<Sync> sync(const SyncArgs& args) {
    return send(std::make_shared<Sync>(args), args.group);
  }
  std::shared_ptr<Commit> commit(const CommitArgs& args) {
    return send(std::make_shared<Commit>(args), args.group);
  }
  std::shared_ptr<Fetch> fetch(const std::string& group, std::optional<std::string> topic = "t",
                               std::vector<int32_t> partitions = {0}, base::Uuid topic_id = {}) {
    return send(std::make_shared<Fetch>(group, std::move(topic), std::move(partitions), topic_id),
                group);
  }

  struct Heartbeat final : Pending {
    GroupCall& call() override { return message; }
    std::string group, member;
    std::optional<std::string> instance;
    wire::HeartbeatRequest request;
    wire::HeartbeatResponse response;
    HeartbeatCall message;
  };
  ErrorCode heartbeat(const std::string& group, int32_t generation, const std::string& member,
                      std::optional<std::string> instance = {}) {
    auto beat = std::make_shared<Heartbeat>();
    beat->group = group;
    beat->member = member;
    beat->instance = std::move(instance);
    beat->request = {beat->group, generation, beat->member, view(beat->instance)};
    beat->message.request = &beat->request;
    beat->message.response = &beat->response;
    beat->message.api_version = 4;
    send(beat, group);
    EXPECT_TRUE(beat->done);
    return static_cast<ErrorCode>(beat->response.error_code);
  }

  struct Leave final : Pending {
    GroupCall& call() override { return message; }
    std::string group;
    std::vector<std::pair<std::string, std::optional<std::string>>> members;
    wire::LeaveGroupRequest request;
    wire::LeaveGroupResponse response;
    LeaveGroupCall message;
    ErrorCode error(size_t i) const {
      return static_cast<ErrorCode>(response.members[i].error_code);
    }
  };
  std::shared_ptr<Leave> leave(
      const std::string& group,
      std::vector<std::pair<std::string, std::optional<std::string>>> members,
      int16_t version = 5) {
    auto leave = std::make_shared<Leave>();
    leave->group = group;
    leave->members = std::move(members);
    leave->request.group_id = leave->group;
    if (!leave->members.empty()) leave->request.member_id = leave->members[0].first;
    leave->request.members = wire::make_array<wire::LeaveGroupRequest::Member>(
        leave->arena, leave->members.size());
    for (size_t i = 0; i < leave->members.size(); ++i) {
      leave->request.members[i] = {leave->members[i].first, view(leave->members[i].second), {}};
    }
    leave->message.request = &leave->request;
    leave->message.response = &leave->response;
    leave->message.api_version = version;
    return send(leave, group);
  }

  struct Describe final : Pending {
    GroupCall& call() override { return message; }
    std::string group;
    wire::DescribeGroupsResponse::Group response;
    DescribeItem item;
    DescribeGroupsCall message;
  };
  std::shared_ptr<Describe> describe(const std::string& group, int16_t version = 6) {
    auto describe = std::make_shared<Describe>();
    describe->group = group;
    describe->item = {describe->group, &describe->response};
    describe->message.items = {&describe->item, 1};
    describe->message.api_version = version;
    return send(describe, group);
  }
  std::string state(const std::string& group) {
    return std::string(describe(group)->response.group_state);
  }

  struct Delete final : Pending {
    GroupCall& call() override { return message; }
    std::vector<std::string> groups;
    std::vector<wire::DeleteGroupsResponse::Group> answers;
    std::vector<DeleteItem> items;
    DeleteGroupsCall message;
    ErrorCode error(size_t i = 0) const { return static_cast<ErrorCode>(answers[i].error_code); }
  };
  std::shared_ptr<Delete> remove(std::vector<std::string> groups) {
    auto remove = std::make_shared<Delete>();
    remove->groups = std::move(groups);
    remove->answers.resize(remove->groups.size());
    for (size_t i = 0; i < remove->groups.size(); ++i) {
      remove->items.push_back({remove->groups[i], &remove->answers[i]});
    }
    remove->message.items = remove->items;
    return send(remove, "");
  }

  struct List final : Pending {
    GroupCall& call() override { return message; }
    std::vector<std::string_view> states, types;
    wire::ListGroupsRequest request;
    ListGroupsCall message;
    std::vector<std::string> names() const {
      std::vector<std::string> names;
      for (const auto& group : message.groups) names.emplace_back(group.group_id);
      std::ranges::sort(names);
      return names;
    }
  };
  std::shared_ptr<List> list(std::vector<std::string_view> states = {},
                             std::vector<std::string_view> types = {}) {
    auto list = std::make_shared<List>();
    list->states = std::move(states);
    list->types = std::move(types);
    list->request.states_filter = {list->states.data(), list->states.size()};
    list->request.types_filter = {list->types.data(), list->types.size()};
    list->message.request = &list->request;
    return send(list, "", model::ports::kListGroups);
  }

  // --- several steps at once

  // The join of a new dynamic member, through MEMBER_ID_REQUIRED where the version has it.
  std::shared_ptr<Join> join_new(JoinArgs args = {}) {
    auto first = join(args);
    if (first->done && first->error() == ErrorCode::member_id_required) {
      args.member = first->member();
      first = join(args);
    }
    // Timers tick in milliseconds, also one of no delay.
    if (config.initial_rebalance_delay_ms == 0) advance_ms(1);
    return first;
  }
  // A group of one member in state Stable, whose assignment is "mine".
  std::shared_ptr<Join> stable(JoinArgs args = {}) {
    auto joined = join_new(args);
    advance_ms(config.initial_rebalance_delay_ms + 1);
    EXPECT_TRUE(joined->done);
    EXPECT_EQ(joined->error(), ErrorCode::none);
    auto synced = sync({.group = args.group,
                        .generation = joined->generation(),
                        .member = joined->member(),
                        .assignments = {{joined->member(), "mine"}},
                        .instance = args.instance,
                        .type = args.type,
                        .protocol = args.protocols[0].first});
    EXPECT_TRUE(synced->done);
    EXPECT_EQ(synced->error(), ErrorCode::none);
    EXPECT_EQ(state(args.group), "Stable");
    return joined;
  }
  // Two members, the first leading, in state Stable of generation 2; assignments "a0" and "b0".
  std::pair<std::string, std::string> pair_stable(const JoinArgs& args = {}) {
    const std::string first = stable(args)->member();
    auto second = join_new(args);
    JoinArgs again = args;
    again.member = first;
    auto rejoined = join(again);
    EXPECT_TRUE(second->done && rejoined->done);
    EXPECT_EQ(second->generation(), 2);
    EXPECT_TRUE(rejoined->leads());
    auto follower = sync({.group = args.group, .generation = 2, .member = second->member()});
    auto leader = sync({.group = args.group,
                        .generation = 2,
                        .member = first,
                        .assignments = {{first, "a0"}, {second->member(), "b0"}}});
    EXPECT_EQ(leader->assignment(), "a0");
    EXPECT_EQ(follower->assignment(), "b0");
    return {first, second->member()};
  }

  test::ManualCore core;
  FakeGroupLog log;
  GroupConfig config;
  FakeTopics topics{config};
  std::unique_ptr<GroupCoordinator> coordinator;

 private:
  void start() {
    coordinator = std::make_unique<GroupCoordinator>(core.io, log, topics, config);
    for (const auto& [partition, batch] : log.batches) coordinator->replay(partition, batch);
    coordinator->replay_done();
  }

  std::vector<std::shared_ptr<Pending>> away_;
};

}  // namespace weir::group
