// JoinGroup (SCOPE 14.2): who may come in, under which id, and what that sets off.

#include <fmt/format.h>

#include "engine/group/arena_copy.h"
#include "engine/group/limits.h"
#include "engine/group/membership.h"

namespace weir::group {

using model::ErrorCode;

namespace {

// Kafka's time for a join that is parked and whose member cannot heartbeat, because it does not
// know its id yet.
constexpr int64_t kNewMemberJoinTimeoutMs = 5 * 60 * 1000;

constexpr int16_t kVersionMemberIdRequired = 4;

size_t metadata_size(const wire::JoinGroupRequest& request) {
  size_t size = 0;
  for (const auto& protocol : request.protocols) {
    size += protocol.name.size() + protocol.metadata.size();
  }
  return size;
}

// Version 0 has none; without one members would have no time at all to rejoin (C68).
int32_t rebalance_timeout_ms(const JoinGroupCall& call) {
  const wire::JoinGroupRequest& request = *call.request;
  const bool given = call.api_version >= 1 && request.rebalance_timeout_ms > 0;
  return given ? request.rebalance_timeout_ms : request.session_timeout_ms;
}

std::span<const wire::JoinGroupRequest::Protocol> protocols_of(
    const wire::JoinGroupRequest& request) {
  return {request.protocols.data(), request.protocols.size()};
}

}  // namespace

void Membership::join(JoinGroupCall& call) {
  const wire::JoinGroupRequest& request = *call.request;
  if (request.group_id.empty()) return refuse(call, ErrorCode::invalid_group_id, "");
  if (request.session_timeout_ms < config_.min_session_timeout_ms ||
      request.session_timeout_ms > config_.max_session_timeout_ms) {
    return refuse(call, ErrorCode::invalid_session_timeout, "");
  }
  const bool is_new = request.member_id.empty();
  Group* group = table_.find(request.group_id);
  if (group == nullptr && !is_new) {
    return refuse(call, ErrorCode::unknown_member_id, request.member_id);
  }
  if (const ErrorCode error = check_join(request, group); error != ErrorCode::none) {
    return refuse(call, error, "");
  }
  if (group == nullptr) {
    // Nothing is created for a request that could not have come in.
    if (request.protocol_type.empty() || request.protocols.empty()) {
      return refuse(call, ErrorCode::inconsistent_group_protocol, "");
    }
    group = table_.create(request.group_id, call.offsets_partition, *this);
    if (group == nullptr) return refuse(call, ErrorCode::coordinator_not_available, "");
  }
  if (group->is(GroupState::dead)) {
    return refuse(call, ErrorCode::coordinator_not_available, request.member_id);
  }
  if (!accepts(*group, request.member_id)) {
    // As in Kafka, the last ones to rejoin a group that became too large are put out.
    if (Member* member = group->find_member(request.member_id)) {
      remove_member(*group, *member, ErrorCode::group_max_size_reached);
      after_removal(*group);
    }
    group->remove_pending(request.member_id);
    ++metrics_.refused_for_limits;
    refuse(call, ErrorCode::group_max_size_reached, "");
  } else if (!group->supports(request.protocol_type, protocols_of(request))) {
    refuse(call, ErrorCode::inconsistent_group_protocol, request.member_id);
  } else if (is_new) {
    join_new(*group, call);
  } else {
    join_known(*group, call);
  }
  table_.forget_if_idle(*group);
}

// Sizes; a member that rejoins is counted as if it came on top, which is close enough.
ErrorCode Membership::check_join(const wire::JoinGroupRequest& request, const Group* group) const {
  const size_t size = metadata_size(request);
  if (size > kMemberMetadataSizeMax || request.protocols.size() > kProtocolsPerMemberMax) {
    return ErrorCode::invalid_request;
  }
  if (group != nullptr && group->metadata_size() + size > kGroupMetadataSizeMax) {
    return ErrorCode::group_max_size_reached;
  }
  if (!table_.has_room(size + kMemberCost)) return ErrorCode::coordinator_not_available;
  return ErrorCode::none;
}

bool Membership::accepts(const Group& group, std::string_view member_id) const {
  const auto size_max = static_cast<size_t>(config_.max_size);
  const Member* const member = group.find_member(member_id);
  switch (group.state()) {
    case GroupState::empty:
    case GroupState::dead: return true;
    // Those who rejoined first stay: whoever is parked already counts, others do not.
    case GroupState::preparing_rebalance:
      return (member != nullptr && member->join_call != nullptr) ||
             group.awaiting_join() < size_max;
    case GroupState::completing_rebalance:
    case GroupState::stable: return member != nullptr || group.member_count() < size_max;
  }
  UNREACHABLE("state {}", static_cast<int>(group.state()));
}

void Membership::join_new(Group& group, JoinGroupCall& call) {
  const wire::JoinGroupRequest& request = *call.request;
  if (!request.group_instance_id) {
    std::string member_id = make_member_id(call.client_id);
    if (call.api_version >= kVersionMemberIdRequired) {
      return give_out_id(group, call, std::move(member_id));
    }
    return add_member(group, call, std::move(member_id));
  }
  std::string member_id = make_member_id(*request.group_instance_id);
  if (Member* holder = group.find_static(*request.group_instance_id)) {
    return replace_static(group, *holder, call, std::move(member_id));
  }
  add_member(group, call, std::move(member_id));
}

void Membership::give_out_id(Group& group, JoinGroupCall& call, std::string member_id) {
  if (group.pending_count() >= static_cast<size_t>(kMembersPerGroupMax)) {
    ++metrics_.refused_for_limits;
    return refuse(call, ErrorCode::group_max_size_reached, "");
  }
  PendingMember& pending = group.add_pending(std::move(member_id));
  arm_ms(pending.timer, call.request->session_timeout_ms);
  refuse(call, ErrorCode::member_id_required, pending.id());
}

void Membership::add_member(Group& group, JoinGroupCall& call, std::string member_id) {
  const wire::JoinGroupRequest& request = *call.request;
  auto member = std::make_unique<Member>(group, *this, std::move(member_id));
  if (request.group_instance_id) member->instance_id = std::string(*request.group_instance_id);
  member->client_id = call.client_id;
  member->client_host = call.client_host;
  // Somebody came while the first members wait for others: wait a little longer.
  if (group.is(GroupState::preparing_rebalance) && group.previous_state() == GroupState::empty) {
    group.member_added = true;
  }
  Member& added = group.add(std::move(member), request.protocol_type);
  group.update(added, request, rebalance_timeout_ms(call));
  group.park_join(added, call);
  arm_ms(added.session_timer, kNewMemberJoinTimeoutMs);
  prepare_or_complete(group);
}

void Membership::join_known(Group& group, JoinGroupCall& call) {
  const wire::JoinGroupRequest& request = *call.request;
  if (group.is_pending(request.member_id)) {
    // Static members never get a pending id.
    if (request.group_instance_id) {
      return refuse(call, ErrorCode::unknown_member_id, request.member_id);
    }
    return add_member(group, call, std::string(request.member_id));
  }
  const ErrorCode error = group.check_member(request.member_id, request.group_instance_id);
  if (error != ErrorCode::none) return refuse(call, error, request.member_id);
  Member& member = *group.find_member(request.member_id);
  const bool unchanged = member.matches(protocols_of(request));
  switch (group.state()) {
    case GroupState::preparing_rebalance: return rejoin(group, member, call);
    // It may have missed the answer to its join.
    case GroupState::completing_rebalance:
      if (unchanged) return answer_current(call, group, member);
      return rejoin(group, member, call);
    // A leader that joins again wants a rebalance: topics changed, for example.
    case GroupState::stable:
      if (unchanged && !group.is_leader(member)) return answer_current(call, group, member);
      return rejoin(group, member, call);
    case GroupState::empty:
    case GroupState::dead: return refuse(call, ErrorCode::unknown_member_id, request.member_id);
  }
}

void Membership::rejoin(Group& group, Member& member, JoinGroupCall& call) {
  group.update(member, *call.request, rebalance_timeout_ms(call));
  park(group, member, call);
  prepare_or_complete(group);
}

void Membership::park(Group& group, Member& member, JoinGroupCall& call) {
  // The client gave up waiting and asks again: nobody listens to the answer of the first request.
  if (JoinGroupCall* stale = group.take_join(member)) {
    refuse(*stale, ErrorCode::rebalance_in_progress, stale->request->member_id);
  }
  group.park_join(member, call);
}

void Membership::replace_static(Group& group, Member& member, JoinGroupCall& call,
                                std::string member_id) {
  std::string old_member_id = member.id();
  std::string old_leader_id = group.leader_id();
  if (JoinGroupCall* parked = group.take_join(member)) {
    refuse(*parked, ErrorCode::fenced_instance_id, old_member_id);
  }
  if (SyncGroupCall* parked = std::exchange(member.sync_call, nullptr)) {
    refuse(*parked, ErrorCode::fenced_instance_id);
  }
  group.replace_id(member, std::move(member_id));
  group.update(member, *call.request, rebalance_timeout_ms(call));
  group.set_client(member, call.client_id, call.client_host);
  group.park_join(member, call);
  arm_ms(member.session_timer, member.session_timeout_ms);
  if (member.in_durable_generation) {
    write_replacement(group, member, std::move(old_member_id), std::move(old_leader_id));
  }
  switch (group.state()) {
    // Nothing changes for the others while the protocol stays: the answer comes with the record.
    case GroupState::stable:
      if (group.select_protocol() != group.protocol()) prepare(group);
      break;
    // The old id is in the leader's plan already.
    case GroupState::completing_rebalance: prepare(group); break;
    case GroupState::preparing_rebalance: maybe_complete_join(group); break;
    case GroupState::empty:
    case GroupState::dead: UNREACHABLE("{} has a member", name(group.state()));
  }
}

// As in Kafka: "<client id>-<uuid>", or the instance id in place of the client's.
std::string Membership::make_member_id(std::string_view prefix) {
  uint64_t high = io_.random.next();
  uint64_t low = io_.random.next();
  high = (high & ~uint64_t{0xf000}) | 0x4000;                        // version 4
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);          // variant of RFC 4122
  return fmt::format("{}-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", prefix, high >> 32,
                     high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
}

void Membership::refuse(JoinGroupCall& call, ErrorCode error, std::string_view member_id) {
  wire::JoinGroupResponse& response = *call.response;
  response = {};
  response.error_code = static_cast<int16_t>(error);
  response.protocol_name = std::nullopt;
  response.member_id = ArenaCopy(*call.arena).text(member_id);
  io_.mailboxes.reply(call);
}

void Membership::answer_current(JoinGroupCall& call, const Group& group, const Member& member) {
  answer_join(call, group, member, group.leader_id(), group.is_leader(member), false);
}

void Membership::answer_join(JoinGroupCall& call, const Group& group, const Member& member,
                             std::string_view leader_id, bool with_members, bool skip_assignment) {
  wire::JoinGroupResponse& response = *call.response;
  response = {};
  ArenaCopy copy(*call.arena);
  response.generation_id = group.generation();
  response.protocol_type = copy.nullable_text(group.protocol_type());
  response.protocol_name = copy.nullable_text(group.protocol());
  response.leader = copy.text(leader_id);
  response.skip_assignment = skip_assignment;
  response.member_id = copy.text(member.id());
  if (with_members) {
    response.members = copy.array<wire::JoinGroupResponse::Member>(group.member_count());
    for (size_t i = 0; i < response.members.size(); ++i) {
      const Member& other = *group.members()[i];
      const Protocol* const protocol = other.find_protocol(group.protocol().value_or(""));
      response.members[i] = {
          .member_id = copy.text(other.id()),
          .group_instance_id = copy.nullable_text(other.instance_id),
          .metadata = protocol == nullptr ? wire::Bytes{} : copy.bytes(protocol->metadata)};
    }
  }
  if (!copy.ok()) return refuse(call, ErrorCode::group_max_size_reached, "");
  io_.mailboxes.reply(call);
}

}  // namespace weir::group
