#include "tools/weir/group_reset.h"

#include <algorithm>
#include <charconv>

#include "engine/wire/messages/offset_commit.h"
#include "tools/weir/group_view.h"

namespace weir::tools {
namespace {

using model::ErrorCode;

// Later versions name topics by id only.
constexpr int16_t kOffsetCommitVersionMax = 9;

// "name" or "name:0,2".
std::vector<PartitionName> parse_topic(WireClient& client, const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string name = text.substr(0, colon);
  const auto topics = describe_topics(client, {name});
  if (topics.empty()) fail("topic {}: the broker does not answer for it", name);
  check(topics[0].error_code, fmt::format("topic {}", name));
  const std::vector<int32_t>& existing = topics[0].partitions;
  std::vector<PartitionName> partitions;
  if (colon == std::string::npos) {
    for (const int32_t partition : existing) partitions.push_back({name, partition});
    return partitions;
  }
  std::string_view list = std::string_view(text).substr(colon + 1);
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    int32_t partition = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), partition);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail_usage("--topic wants NAME or NAME:PARTITION,..., not '{}'", text);
    }
    if (std::ranges::find(existing, partition) == existing.end()) {
      fail("topic {} has no partition {}", name, partition);
    }
    partitions.push_back({name, partition});
  }
  return partitions;
}

std::vector<PartitionName> chosen_partitions(WireClient& client, const std::string& group_id,
                                             const std::vector<std::string>& topics,
                                             const OffsetByPartition& committed) {
  std::vector<PartitionName> chosen;
  if (topics.empty()) {
    for (const auto& [name, offset] : committed) chosen.push_back(name);
    if (chosen.empty()) {
      fail("group {} has committed nothing; name the topics to set with --topic", group_id);
    }
    return chosen;
  }
  for (const std::string& topic : topics) {
    for (PartitionName& name : parse_topic(client, topic)) chosen.push_back(std::move(name));
  }
  std::ranges::sort(chosen);
  chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<ResetStep> plan_reset(WireClient& client, const std::string& group_id,
                                  const std::vector<std::string>& topics,
                                  const ResetTarget& target) {
  const auto committed = committed_offsets(client, group_id);
  const auto names = chosen_partitions(client, group_id, topics, committed);
  const auto starts = list_offsets(client, names, kEarliest);
  const auto ends = list_offsets(client, names, kLatest);
  OffsetByPartition by_time;
  if (target.kind == ResetTarget::Kind::time) by_time = list_offsets(client, names, target.value);
  std::vector<ResetStep> steps;
  for (const PartitionName& name : names) {
    const int64_t start = starts.at(name);
    const int64_t end = ends.at(name);
    if (end < 0) continue;  // deleted since it was committed to
    int64_t to = start;
    switch (target.kind) {
      case ResetTarget::Kind::earliest: break;
      case ResetTarget::Kind::latest: to = end; break;
      case ResetTarget::Kind::offset: to = std::clamp(target.value, start, end); break;
      case ResetTarget::Kind::time:
        to = by_time.at(name) < 0 ? end : by_time.at(name);  // nothing so late: what comes next
        break;
    }
    const auto before = committed.find(name);
    steps.push_back({name, before == committed.end() ? -1 : before->second, to});
  }
  return steps;
}

void execute_reset(WireClient& client, const std::string& group_id,
                   const std::vector<ResetStep>& steps) {
  std::map<std::string, std::vector<wire::OffsetCommitRequest::Partition>> by_topic;
  for (const ResetStep& step : steps) {
    by_topic[step.name.topic].push_back(
        {.partition_index = step.name.partition, .committed_offset = step.to});
  }
  std::vector<wire::OffsetCommitRequest::Topic> topics;
  for (auto& [name, partitions] : by_topic) {
    topics.push_back({.name = name, .partitions = array_of(partitions)});
  }
  const wire::OffsetCommitRequest request{.group_id = group_id, .topics = array_of(topics)};
  const auto answer = client.call<wire::OffsetCommitResponse>(request, kOffsetCommitVersionMax);
  for (const auto& topic : answer->topics) {
    for (const auto& partition : topic.partitions) {
      const auto code = static_cast<ErrorCode>(partition.error_code);
      if (code == ErrorCode::unknown_member_id || code == ErrorCode::illegal_generation ||
          code == ErrorCode::rebalance_in_progress) {
        fail("group {} has members; stop its consumers first ('weir group describe {}' shows them)",
             group_id, group_id);
      }
      check(partition.error_code,
            fmt::format("{}-{} keeps its offset", topic.name, partition.partition_index));
    }
  }
}

}  // namespace weir::tools
