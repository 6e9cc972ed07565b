#pragma once
// ConsumerWorld: a GroupWorld whose clients speak the consumer protocol (KIP-848).

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/group/group_world.h"

namespace weir::group {

// Topic names to partitions: what tests write down in place of ids.
using Parts = std::map<std::string, std::vector<int32_t>>;

struct BeatArgs {
  std::string group = "g";
  std::string member = "m";
  int32_t epoch = 0;
  std::optional<std::vector<std::string>> topics = {};
  std::optional<Parts> owned = {};
  std::optional<std::string> regex = {};
  std::optional<std::string> instance = {};
  std::optional<std::string> rack = {};
  std::optional<std::string> assignor = {};
  int32_t rebalance_ms = -1;
  int16_t version = 1;
};

// What a member says that joins.
inline BeatArgs joining(std::string member, std::vector<std::string> topics) {
  return {.member = std::move(member),
          .topics = std::move(topics),
          .owned = Parts{},
          .rebalance_ms = 10'000};
}

struct Beat final : Pending {
  explicit Beat(const BeatArgs& from) : args(from) {
    request.group_id = args.group;
    request.member_id = args.member;
    request.member_epoch = args.epoch;
    request.instance_id = view(args.instance);
    request.rack_id = view(args.rack);
    request.rebalance_timeout_ms = args.rebalance_ms;
    request.subscribed_topic_regex = view(args.regex);
    request.server_assignor = view(args.assignor);
    if (args.topics) {
      names.assign(args.topics->begin(), args.topics->end());
      request.subscribed_topic_names = {names.data(), names.size()};
    }
    if (args.owned) {
      request.topic_partitions =
          wire::make_array<wire::ConsumerGroupHeartbeatRequest::TopicPartitions>(
              arena, args.owned->size());
      size_t next = 0;
      for (const auto& [topic, partitions] : *args.owned) {
        auto& row = request.topic_partitions[next++];
        row.topic_id = FakeTopics::id_of(topic);
        row.partitions = wire::make_array<int32_t>(arena, partitions.size());
        std::ranges::copy(partitions, row.partitions.begin());
      }
    }
    message.request = &request;
    message.response = &response;
    message.api_version = args.version;
    message.client_id = "client";
    message.client_host = "/127.0.0.1";
  }
  GroupCall& call() override { return message; }
  ErrorCode error() const { return static_cast<ErrorCode>(response.error_code); }
  int32_t epoch() const { return response.member_epoch; }
  // Nothing: it was not told.
  std::optional<Parts> assigned() const {
    if (!response.assignment) return std::nullopt;
    Parts parts;
    for (const auto& row : response.assignment->topic_partitions) {
      std::string name;
      for (const std::byte byte : row.topic_id.bytes) {
        if (byte != std::byte{}) name += static_cast<char>(byte);
      }
      parts[name] = {row.partitions.begin(), row.partitions.end()};
    }
    return parts;
  }

  const BeatArgs args;
  std::vector<std::string_view> names;
  wire::ConsumerGroupHeartbeatRequest request;
  wire::ConsumerGroupHeartbeatResponse response;
  ConsumerGroupHeartbeatCall message;
};

class ConsumerWorld : public GroupWorld {
 public:
  explicit ConsumerWorld(uint64_t seed = 1) : GroupWorld(seed) {
    config.consumer_assignment_interval_ms = 0;
  }
  std::shared_ptr<Beat> beat(const BeatArgs& args) {
    return send(std::make_shared<Beat>(args), args.group);
  }
  ErrorCode error(const BeatArgs& args) {
    auto answered = beat(args);
    EXPECT_TRUE(answered->done);
    if (answered->error() != ErrorCode::none) {
      EXPECT_FALSE(answered->response.member_id);
      EXPECT_EQ(answered->response.heartbeat_interval_ms, 0);
      EXPECT_TRUE(answered->response.error_message.value_or("") != "");
    }
    return answered->error();
  }
  // A heartbeat that says nothing new, and one that says what it has.
  std::shared_ptr<Beat> alive(const std::string& member, int32_t epoch) {
    return beat({.member = member, .epoch = epoch});
  }
  std::shared_ptr<Beat> owns(const std::string& member, int32_t epoch, Parts owned) {
    return beat({.member = member, .epoch = epoch, .owned = std::move(owned)});
  }
  ErrorCode leave_epoch(const std::string& member, int32_t epoch,
                        std::optional<std::string> instance = {}) {
    return beat({.member = member, .epoch = epoch, .instance = std::move(instance)})->error();
  }

  struct DescribeConsumer final : Pending {
    GroupCall& call() override { return message; }
    std::string group;
    wire::ConsumerGroupDescribeResponse::Group response;
    ConsumerDescribeItem item;
    ConsumerGroupDescribeCall message;
  };
  std::shared_ptr<DescribeConsumer> describe_consumer(const std::string& group = "g") {
    auto describe = std::make_shared<DescribeConsumer>();
    describe->group = group;
    describe->item = {describe->group, &describe->response};
    describe->message.items = {&describe->item, 1};
    return send(describe, group);
  }
  std::string consumer_state(const std::string& group = "g") {
    return std::string(describe_consumer(group)->response.group_state);
  }
  int32_t group_epoch(const std::string& group = "g") {
    return describe_consumer(group)->response.group_epoch;
  }
  // Everything a description says, as one text: for comparison before and after a restart.
  std::string snapshot(const std::string& group = "g") {
    const auto described = describe_consumer(group);
    const auto& r = described->response;
    std::string text = fmt::format("{} {} {} {} {}", r.error_code, r.group_state, r.group_epoch,
                                   r.assignment_epoch, r.assignor_name);
    const auto rows = [&](const auto& assignment) {
      for (const auto& row : assignment.topic_partitions) {
        text += fmt::format(" {}:", row.topic_name);
        for (const int32_t partition : row.partitions) text += fmt::format("{},", partition);
      }
      text += " |";
    };
    for (const auto& m : r.members) {
      text += fmt::format("\n{} i={} r={} e={} {} {} x={} n=", m.member_id,
                          m.instance_id.value_or("-"), m.rack_id.value_or("-"), m.member_epoch,
                          m.client_id, m.client_host, m.subscribed_topic_regex.value_or("-"));
      for (const auto& topic : m.subscribed_topic_names) text += fmt::format("{},", topic);
      rows(m.assignment);
      rows(m.target_assignment);
    }
    return text;
  }
};

}  // namespace weir::group
