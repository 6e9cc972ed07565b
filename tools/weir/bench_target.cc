#include "tools/weir/bench_target.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "engine/wire/messages/create_topics.h"
#include "engine/wire/messages/delete_topics.h"
#include "engine/wire/messages/list_offsets.h"
#include "engine/wire/messages/metadata.h"
#include "tools/weir/cluster.h"

namespace weir::tools {
namespace {

constexpr int32_t kTimeout_ms = 30'000;
constexpr int kPollInterval_ms = 20;
// Later ones delete by id as well, in another field.
constexpr int16_t kDeleteTopicsByNameMax = 5;

struct Leaders {
  std::vector<io::Address> brokers;
  std::vector<uint16_t> leaders;
};

// Nothing: a partition has no leader yet.
std::optional<Leaders> find_leaders(WireClient& client, const std::string& name) {
  std::vector<wire::MetadataRequest::Topic> asked{{.name = name}};
  const auto answer = client.call<wire::MetadataResponse>(
      wire::MetadataRequest{.topics = array_of(asked), .allow_auto_topic_creation = false});
  std::map<int32_t, io::Address> addresses;
  for (const auto& broker : answer->brokers) {
    addresses[broker.node_id] = {std::string(broker.host), static_cast<uint16_t>(broker.port)};
  }
  for (const auto& topic : answer->topics) {
    const auto error = static_cast<model::ErrorCode>(topic.error_code);
    if (error == model::ErrorCode::unknown_topic_or_partition ||
        error == model::ErrorCode::leader_not_available) {
      return std::nullopt;
    }
    check(topic.error_code, fmt::format("topic {}", name));
    Leaders found;
    found.leaders.resize(topic.partitions.size());
    std::map<int32_t, uint16_t> places;  // by node
    for (const auto& partition : topic.partitions) {
      const auto address = addresses.find(partition.leader_id);
      if (address == addresses.end()) return std::nullopt;
      const auto [place, is_new] =
          places.try_emplace(partition.leader_id, static_cast<uint16_t>(found.brokers.size()));
      if (is_new) found.brokers.push_back(address->second);
      const auto index = static_cast<size_t>(partition.partition_index);
      if (index >= found.leaders.size()) fail("topic {} has no partition 0 to {}", name, index);
      found.leaders[index] = place->second;
    }
    if (!found.leaders.empty()) return found;
  }
  return std::nullopt;
}

// What a leader answers that does not know yet that it is one: Kafka names it in Metadata first.
bool is_early(int16_t code) {
  const auto error = static_cast<model::ErrorCode>(code);
  return error == model::ErrorCode::unknown_topic_or_partition ||
         error == model::ErrorCode::leader_not_available ||
         error == model::ErrorCode::not_leader_or_follower;
}

// By partition. Nothing: a partition's leader is not ready.
std::optional<std::vector<int64_t>> find_offsets(WireClient& client, const std::string& name,
                                                 size_t count, int64_t timestamp) {
  std::vector<wire::ListOffsetsRequest::Partition> partitions;
  for (size_t i = 0; i < count; ++i) {
    partitions.push_back({.partition_index = static_cast<int32_t>(i), .timestamp = timestamp});
  }
  std::vector<wire::ListOffsetsRequest::Topic> topics{{name, array_of(partitions)}};
  const auto answer = client.call<wire::ListOffsetsResponse>(
      wire::ListOffsetsRequest{.replica_id = -1, .topics = array_of(topics)});
  std::vector<int64_t> offsets(count);
  for (const auto& topic : answer->topics) {
    for (const auto& partition : topic.partitions) {
      if (is_early(partition.error_code)) return std::nullopt;
      check(partition.error_code,
            fmt::format("offsets of {}-{}", name, partition.partition_index));
      const auto index = static_cast<size_t>(partition.partition_index);
      if (index < count) offsets[index] = std::max<int64_t>(0, partition.offset);
    }
  }
  return offsets;
}

// Asks until there is an answer.
template <class Ask>
auto ask_until(const std::string& topic, Ask ask) {
  using Clock = std::chrono::steady_clock;
  const auto give_up = Clock::now() + std::chrono::milliseconds(kLeaderTimeout_ms);
  while (true) {
    if (auto found = ask()) return *std::move(found);
    if (Clock::now() > give_up) {
      fail("topic {} does not exist, or its partitions have had no leader for {} s", topic,
           kLeaderTimeout_ms / 1000);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollInterval_ms));
  }
}

}  // namespace

void create_bench_topic(WireClient& client, const BenchTopic& topic) {
  std::vector<wire::CreateTopicsRequest::Config> configs;
  for (const auto& [name, value] : topic.configs) configs.push_back({name, value});
  std::vector<wire::CreateTopicsRequest::Topic> topics{{.name = topic.name,
                                                        .num_partitions = topic.partitions,
                                                        .replication_factor = -1,
                                                        .configs = array_of(configs)}};
  const auto answer = client.call<wire::CreateTopicsResponse>(
      wire::CreateTopicsRequest{.topics = array_of(topics), .timeout_ms = kTimeout_ms});
  for (const auto& created : answer->topics) {
    check(created.error_code, fmt::format("topic {} was not created", topic.name),
          created.error_message);
  }
}

void delete_bench_topic(WireClient& client, const std::string& name) {
  std::vector<std::string_view> names{name};
  const auto answer = client.call<wire::DeleteTopicsResponse>(
      wire::DeleteTopicsRequest{.topic_names = array_of(names), .timeout_ms = kTimeout_ms},
      kDeleteTopicsByNameMax);
  for (const auto& deleted : answer->responses) {
    const auto error = static_cast<model::ErrorCode>(deleted.error_code);
    if (error == model::ErrorCode::unknown_topic_or_partition) continue;
    check(deleted.error_code, fmt::format("topic {} was not deleted", name));
  }
}

load::Target find_target(WireClient& client, const std::string& topic) {
  Leaders found = ask_until(topic, [&] { return find_leaders(client, topic); });
  const size_t count = found.leaders.size();
  const auto offsets = [&](int64_t timestamp) {
    return ask_until(topic, [&] { return find_offsets(client, topic, count, timestamp); });
  };
  return {.topic = topic,
          .brokers = std::move(found.brokers),
          .leaders = std::move(found.leaders),
          .start_offsets = offsets(kEarliest),
          .end_offsets = offsets(kLatest),
          .produce_version = client.version(wire::ApiKey::produce, load::kProduceVersionMax),
          .fetch_version = client.version(wire::ApiKey::fetch, load::kFetchVersionMax)};
}

}  // namespace weir::tools
