// ConsumerGroupDescribe of one core.

#include <fmt/format.h>

#include <algorithm>

#include "engine/group/arena_copy.h"
#include "engine/group/consumer_groups.h"

namespace weir::group {

using model::ErrorCode;

namespace {

using Response = wire::ConsumerGroupDescribeResponse;

constexpr int8_t kConsumerMember = 1;

Response::Assignment rows_of(const Assignment& assignment, const Topics& topics, ArenaCopy& copy) {
  Response::Assignment rows;
  // A topic that was deleted meanwhile has no name any more.
  const auto exists = [&](const auto& entry) { return topics.find(entry.first).has_value(); };
  rows.topic_partitions = copy.array<Response::TopicPartitions>(
      static_cast<size_t>(std::ranges::count_if(assignment, exists)));
  size_t next = 0;
  for (const auto& [id, partitions] : assignment) {
    const auto topic = topics.find(id);
    if (!topic || rows.topic_partitions.is_null()) continue;
    auto& row = rows.topic_partitions[next++];
    row.topic_id = id;
    row.topic_name = copy.text(topic->name);
    row.partitions = copy.array<int32_t>(partitions.size());
    if (!row.partitions.is_null()) std::ranges::copy(partitions, row.partitions.begin());
  }
  return rows;
}

// As Kafka shows it: with what the member must give back and has not yet.
Assignment held_by(const ConsumerMember& member) {
  Assignment held = member.current().assigned;
  for (const auto& [topic, partitions] : member.current().pending_revocation) {
    auto& all = held[topic];
    all.insert(all.end(), partitions.begin(), partitions.end());
    std::ranges::sort(all);
  }
  return held;
}

void describe_member(const ConsumerMember& member, const Topics& topics, ArenaCopy& copy,
                     Response::Member& answer) {
  const ConsumerMemberInfo& info = member.info();
  answer.member_id = copy.text(member.id());
  answer.instance_id = copy.nullable_text(info.instance_id);
  answer.rack_id = copy.nullable_text(info.rack_id);
  answer.member_epoch = member.current().epoch;
  answer.client_id = copy.text(info.client_id);
  answer.client_host = copy.text(info.client_host);
  answer.subscribed_topic_names = copy.array<std::string_view>(info.topic_names.size());
  if (!answer.subscribed_topic_names.is_null()) {
    std::ranges::transform(info.topic_names, answer.subscribed_topic_names.begin(),
                           [&](const std::string& topic) { return copy.text(topic); });
  }
  answer.subscribed_topic_regex = copy.text(info.regex);
  answer.assignment = rows_of(held_by(member), topics, copy);
  answer.target_assignment = rows_of(member.target(), topics, copy);
  answer.member_type = kConsumerMember;
}

}  // namespace

void ConsumerGroups::describe(ConsumerGroupDescribeCall& call) const {
  for (const ConsumerDescribeItem& item : call.items) {
    Response::Group& answer = *item.answer;
    answer.group_id = item.group_id;
    ArenaCopy copy(*call.arena);
    const Group* const group = table_.find(item.group_id);
    if (group == nullptr || !group->consumer || group->is(GroupState::dead)) {
      answer.error_code = static_cast<int16_t>(ErrorCode::group_id_not_found);
      answer.error_message = copy.text(
          group == nullptr ? fmt::format("Group {} not found.", item.group_id)
                           : fmt::format("Group {} is not a consumer group.", item.group_id));
      continue;
    }
    const ConsumerGroup& consumer = *group->consumer;
    answer.group_state = name(consumer.state());
    answer.group_epoch = consumer.epoch;
    answer.assignment_epoch = consumer.assignment_epoch;
    answer.assignor_name = copy.text(assignor_of(consumer));
    answer.members = copy.array<Response::Member>(consumer.member_count());
    size_t next = 0;
    for (const auto& [id, member] : consumer.members()) {
      if (answer.members.is_null()) break;
      describe_member(*member, topics_, copy, answer.members[next++]);
    }
    if (copy.ok()) continue;
    answer = {.error_code = static_cast<int16_t>(ErrorCode::group_max_size_reached),
              .error_message = "The group is too large for one answer.",
              .group_id = item.group_id};
  }
}

}  // namespace weir::group
