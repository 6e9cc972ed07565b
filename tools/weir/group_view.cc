#include "tools/weir/group_view.h"

#include <algorithm>
#include <set>

#include "engine/wire/messages/consumer_group_describe.h"
#include "engine/wire/messages/describe_groups.h"
#include "engine/wire/messages/list_groups.h"
#include "engine/wire/messages/offset_fetch.h"
#include "io/base/bytes.h"
#include "tools/weir/when.h"

namespace weir::tools {
namespace {

using model::ErrorCode;

// Later versions name topics by id only.
constexpr int16_t kOffsetFetchVersionMax = 9;

// Reads integers and strings off the front of bytes; once they end too early, ok() stays false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  T integer() {
    if (left_.size() < sizeof(T)) {
      ok_ = false;
      left_ = {};
      return 0;
    }
    const T value = base::load_be<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  std::string string() {
    const auto size = integer<int16_t>();
    if (size < 0 || static_cast<size_t>(size) > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    std::string text(reinterpret_cast<const char*>(left_.data()), static_cast<size_t>(size));
    left_ = left_.subspan(text.size());
    return text;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

template <class Topics>
void add_committed(const Topics& topics, OffsetByPartition& offsets) {
  for (const auto& topic : topics) {
    for (const auto& partition : topic.partitions) {
      if (partition.error_code != 0 || partition.committed_offset < 0) continue;
      offsets[{std::string(topic.name), partition.partition_index}] = partition.committed_offset;
    }
  }
}

// As Java prints an address: "/127.0.0.1".
std::string host_of(std::string_view client_host) {
  if (client_host.starts_with('/')) client_host.remove_prefix(1);
  return std::string(client_host);
}

bool is_missing(int16_t error_code) {
  return static_cast<ErrorCode>(error_code) == ErrorCode::group_id_not_found;
}

// A group of the consumer protocol; false when there is no such group.
bool fill_consumer_group(WireClient& client, GroupView& view) {
  std::vector<std::string_view> names{view.group_id};
  const auto answer = client.call<wire::ConsumerGroupDescribeResponse>(
      wire::ConsumerGroupDescribeRequest{.group_ids = array_of(names)});
  if (answer->groups.size() != 1 || is_missing(answer->groups[0].error_code)) return false;
  const auto& group = answer->groups[0];
  check(group.error_code, fmt::format("group {}", view.group_id), group.error_message);
  view.state = group.group_state;
  view.protocol_type = "consumer";
  view.protocol = group.assignor_name;
  for (const auto& member : group.members) {
    GroupMember& added = view.members.emplace_back();
    added.member_id = member.member_id;
    added.instance_id = member.instance_id.value_or("");
    added.client_id = member.client_id;
    added.host = host_of(member.client_host);
    for (const auto& topic : member.assignment.topic_partitions) {
      for (const int32_t partition : topic.partitions) {
        added.partitions.push_back({std::string(topic.topic_name), partition});
      }
    }
    std::ranges::sort(added.partitions);
  }
  std::ranges::sort(view.members, {}, &GroupMember::member_id);
  return true;
}

void add_members(const wire::DescribeGroupsResponse::Group& group, GroupView& view) {
  for (const auto& member : group.members) {
    view.members.push_back({.member_id = std::string(member.member_id),
                            .instance_id = std::string(member.group_instance_id.value_or("")),
                            .client_id = std::string(member.client_id),
                            .host = host_of(member.client_host),
                            .partitions = parse_assignment(member.member_assignment)});
  }
  std::ranges::sort(view.members, {}, &GroupMember::member_id);
}

// Committed to or assigned: every partition the group has to do with.
void add_partitions(WireClient& client, GroupView& view) {
  std::map<PartitionName, GroupPartition> partitions;
  const auto committed = committed_offsets(client, view.group_id);
  for (const auto& [name, offset] : committed) partitions[name].committed = offset;
  for (const GroupMember& member : view.members) {
    for (const PartitionName& name : member.partitions) partitions[name].member = &member;
  }
  std::vector<PartitionName> names;
  for (auto& [name, partition] : partitions) {
    partition.name = name;
    names.push_back(name);
  }
  if (names.empty()) return;
  const auto ends = list_offsets(client, names, kLatest);
  for (auto& [name, partition] : partitions) {
    if (const auto end = ends.find(name); end != ends.end()) partition.log_end = end->second;
    view.partitions.push_back(partition);
  }
}

// What is older than the log start cannot be read any more: the first record still there counts.
void add_lags(WireClient& client, GroupView& view) {
  const auto starts = [&] {
    std::vector<PartitionName> names;
    for (const GroupPartition& partition : view.partitions) names.push_back(partition.name);
    return names.empty() ? OffsetByPartition{} : list_offsets(client, names, kEarliest);
  }();
  for (GroupPartition& partition : view.partitions) {
    if (!partition.committed || partition.log_end < 0) continue;
    const int64_t lag = std::max<int64_t>(0, partition.log_end - *partition.committed);
    partition.lag = lag;
    if (lag == 0) {
      partition.lag_seconds = 0;
      continue;
    }
    const int64_t from = std::max(*partition.committed, starts.at(partition.name));
    const auto timestamp = timestamp_at(client, partition.name, from);
    if (!timestamp || *timestamp < 0) continue;
    partition.lag_seconds =
        static_cast<double>(std::max<int64_t>(0, now_ms() - *timestamp)) / 1000;
  }
}

}  // namespace

std::vector<PartitionName> parse_assignment(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  ByteReader reader(bytes);
  reader.integer<int16_t>();  // version: what follows is the same in all of them
  std::vector<PartitionName> partitions;
  const auto topic_count = reader.integer<int32_t>();
  for (int32_t i = 0; i < topic_count && reader.ok(); ++i) {
    const std::string topic = reader.string();
    const auto partition_count = reader.integer<int32_t>();
    for (int32_t k = 0; k < partition_count && reader.ok(); ++k) {
      partitions.push_back({topic, reader.integer<int32_t>()});
    }
  }
  if (!reader.ok()) return {};
  std::ranges::sort(partitions);
  return partitions;
}

std::vector<std::string> list_group_ids(WireClient& client) {
  const auto answer = client.call<wire::ListGroupsResponse>(wire::ListGroupsRequest{});
  check(answer->error_code, "ListGroups");
  std::vector<std::string> ids;
  for (const auto& group : answer->groups) ids.emplace_back(group.group_id);
  std::ranges::sort(ids);
  return ids;
}

OffsetByPartition committed_offsets(WireClient& client, const std::string& group_id) {
  std::vector<wire::OffsetFetchRequest::Group> groups{
      {.group_id = group_id,
       .topics = wire::Array<wire::OffsetFetchRequest::GroupTopic>::null()}};
  // Both forms of the question; the version decides which one is sent.
  const wire::OffsetFetchRequest request{
      .group_id = group_id,
      .topics = wire::Array<wire::OffsetFetchRequest::Topic>::null(),
      .groups = array_of(groups)};
  const auto answer = client.call<wire::OffsetFetchResponse>(request, kOffsetFetchVersionMax);
  check(answer->error_code, fmt::format("offsets of group {}", group_id));
  OffsetByPartition offsets;
  add_committed(answer->topics, offsets);
  for (const auto& group : answer->groups) {
    if (static_cast<ErrorCode>(group.error_code) == ErrorCode::group_id_not_found) continue;
    check(group.error_code, fmt::format("offsets of group {}", group_id));
    add_committed(group.topics, offsets);
  }
  return offsets;
}

GroupView describe_group(WireClient& client, const std::string& group_id) {
  std::vector<std::string_view> names{group_id};
  const auto answer = client.call<wire::DescribeGroupsResponse>(
      wire::DescribeGroupsRequest{.groups = array_of(names)});
  if (answer->groups.size() != 1) fail("group {}: the broker does not answer for it", group_id);
  const auto& group = answer->groups[0];
  const bool missing = is_missing(group.error_code) ||
                       (group.error_code == 0 && group.group_state == "Dead");
  if (missing) {
    GroupView view{.group_id = group_id,
                   .state = {},
                   .protocol_type = {},
                   .protocol = {},
                   .members = {},
                   .partitions = {}};
    if (fill_consumer_group(client, view)) {
      add_partitions(client, view);
      add_lags(client, view);
      return view;
    }
    fail("there is no group {}; 'weir group list' names those there are", group_id);
  }
  check(group.error_code, fmt::format("group {}", group_id), group.error_message);
  GroupView view{.group_id = group_id,
                 .state = std::string(group.group_state),
                 .protocol_type = std::string(group.protocol_type),
                 .protocol = std::string(group.protocol_data),
                 .members = {},
                 .partitions = {}};
  add_members(group, view);
  add_partitions(client, view);
  add_lags(client, view);
  return view;
}

}  // namespace weir::tools
