#include "engine/group/group_admin.h"

#include <algorithm>

#include "engine/group/arena_copy.h"

namespace weir::group {

using model::ErrorCode;

namespace {

constexpr std::string_view kTypeClassic = "classic";
constexpr std::string_view kTypeConsumer = "consumer";
constexpr std::string_view kConsumerProtocolType = "consumer";
constexpr int16_t kDescribeVersionGroupIdNotFound = 6;

void describe(const Group& group, wire::DescribeGroupsResponse::Group& answer, ArenaCopy& copy) {
  const bool is_stable = group.is(GroupState::stable);
  const std::string protocol = is_stable ? group.protocol().value_or("") : "";
  answer.group_state = name(group.state());
  answer.protocol_type = copy.text(group.protocol_type().value_or(""));
  answer.protocol_data = copy.text(protocol);
  answer.members = copy.array<wire::DescribeGroupsResponse::Member>(group.member_count());
  for (size_t i = 0; i < answer.members.size(); ++i) {
    const Member& member = *group.members()[i];
    auto& described = answer.members[i];
    described.member_id = copy.text(member.id());
    described.group_instance_id = copy.nullable_text(member.instance_id);
    described.client_id = copy.text(member.client_id);
    described.client_host = copy.text(member.client_host);
    // What a member holds until it learns of something new; who is between two generations has it
    // from the one before.
    described.member_assignment = copy.bytes(member.assignment);
    if (!is_stable) continue;  // no protocol is chosen
    const Protocol* const chosen = member.find_protocol(protocol);
    if (chosen != nullptr) described.member_metadata = copy.bytes(chosen->metadata);
  }
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// An empty filter lets everything through.
bool passes(const wire::Array<std::string_view>& filter, std::string_view value) {
  return filter.empty() || std::ranges::any_of(filter, [&](std::string_view wanted) {
           return equal_ignoring_case(wanted, value);
         });
}

}  // namespace

void describe_groups(const GroupTable& table, DescribeGroupsCall& call) {
  for (const DescribeItem& item : call.items) {
    wire::DescribeGroupsResponse::Group& answer = *item.answer;
    answer.group_id = item.group_id;
    ArenaCopy copy(*call.arena);
    const Group* const group = table.find(item.group_id);
    if (group != nullptr && !group->consumer) {
      describe(*group, answer, copy);
    } else {
      answer.group_state = name(GroupState::dead);
      if (call.api_version >= kDescribeVersionGroupIdNotFound) {
        answer.error_code = static_cast<int16_t>(ErrorCode::group_id_not_found);
        answer.error_message = group == nullptr ? "The group does not exist."
                                                : "The group is not a classic group.";
      }
    }
    if (copy.ok()) continue;
    answer = {.group_id = item.group_id};
    answer.error_code = static_cast<int16_t>(ErrorCode::group_max_size_reached);
    answer.error_message = "The group is too large for one answer.";
  }
}

void list_groups(GroupTable& table, ListGroupsCall& call) {
  const wire::ListGroupsRequest& request = *call.request;
  call.groups = {};
  call.error = ErrorCode::none;
  const auto type_of = [](const Group& group) {
    return group.consumer ? kTypeConsumer : kTypeClassic;
  };
  const auto state_of = [](const Group& group) {
    const bool is_dead = group.is(GroupState::dead);
    return group.consumer && !is_dead ? name(group.consumer->state()) : name(group.state());
  };
  const auto is_listed = [&](const Group& group) {
    return passes(request.types_filter, type_of(group)) &&
           passes(request.states_filter, state_of(group));
  };
  size_t count = 0;
  table.for_each([&](Group& group) { count += is_listed(group) ? 1 : 0; });
  ArenaCopy copy(*call.arena);
  call.groups = copy.array<wire::ListGroupsResponse::Group>(count);
  size_t next = 0;
  table.for_each([&](Group& group) {
    if (!copy.ok() || !is_listed(group)) return;
    call.groups[next++] = {
        .group_id = copy.text(group.id()),
        .protocol_type = group.consumer ? kConsumerProtocolType
                                        : copy.text(group.protocol_type().value_or("")),
        .group_state = state_of(group),
        .group_type = type_of(group)};
  });
  if (copy.ok()) return;
  call.groups = {};
  call.error = ErrorCode::coordinator_not_available;
}

}  // namespace weir::group
