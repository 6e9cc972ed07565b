#include "engine/group/membership.h"

#include <algorithm>

#include "engine/group/arena_copy.h"
#include "engine/group/limits.h"

namespace weir::group {

using model::ErrorCode;

Membership::Membership(io::CoreIo& io, const GroupConfig& config, GroupTable& table,
                       LogWriter& log_writer, RecordEncoder& encoder, GroupMetrics& metrics)
    : io_(io),
      config_(config),
      table_(table),
      log_writer_(log_writer),
      encoder_(encoder),
      metrics_(metrics) {}

void Membership::arm_ms(io::Timer& timer, int64_t delay_ms) {
  io_.loop.timers().arm_after(timer, delay_ms * 1'000'000);
}

void Membership::touch(Member& member) { arm_ms(member.session_timer, member.session_timeout_ms); }

void Membership::start(Group& group) {
  for (Member* member : group.members()) touch(*member);
  if (group.member_count() > static_cast<size_t>(config_.max_size) &&
      group.is(GroupState::stable)) {
    prepare(group);
  }
}

void Membership::stop() {
  table_.for_each([&](Group& group) {
    io_.loop.timers().cancel(group.join_timer);
    io_.loop.timers().cancel(group.sync_timer);
    for (Member* member : group.members()) {
      io_.loop.timers().cancel(member->session_timer);
      if (JoinGroupCall* call = group.take_join(*member)) {
        refuse(*call, ErrorCode::not_coordinator, call->request->member_id);
      }
      if (SyncGroupCall* call = std::exchange(member->sync_call, nullptr)) {
        refuse(*call, ErrorCode::not_coordinator);
      }
    }
    for (const auto& [id, pending] : group.pending()) io_.loop.timers().cancel(pending->timer);
  });
}

// --- SyncGroup -----------------------------------------------------------------------------------

void Membership::sync(SyncGroupCall& call) {
  const wire::SyncGroupRequest& request = *call.request;
  // Before everything else, as Kafka does.
  if (call.api_version >= 5 && (!request.protocol_type || !request.protocol_name)) {
    return refuse(call, ErrorCode::inconsistent_group_protocol);
  }
  if (request.group_id.empty()) return refuse(call, ErrorCode::invalid_group_id);
  Group* const group = table_.find(request.group_id);
  if (group == nullptr) return refuse(call, ErrorCode::unknown_member_id);
  const ErrorCode error = check_sync(*group, request);
  if (error != ErrorCode::none) return refuse(call, error);

  Member& member = *group->find_member(request.member_id);
  member.awaits_sync = false;
  touch(member);
  if (group->is(GroupState::completing_rebalance)) {
    if (SyncGroupCall* stale = std::exchange(member.sync_call, &call)) {
      refuse(*stale, ErrorCode::rebalance_in_progress);
    }
    // The first plan of the leader counts.
    if (group->is_leader(member) && !group->plan_in_flight) store_plan(*group, call);
  } else {
    answer_sync(call, *group, member);
  }
  if (!group->awaits_any_sync()) io_.loop.timers().cancel(group->sync_timer);
  table_.account(*group);
}

ErrorCode Membership::check_sync(const Group& group, const wire::SyncGroupRequest& request) const {
  const auto differs = [](const wire::NullableString& asked, const std::optional<std::string>& is) {
    return asked && is && *asked != *is;
  };
  if (group.is(GroupState::dead)) return ErrorCode::coordinator_not_available;
  const ErrorCode error = group.check_member(request.member_id, request.group_instance_id);
  if (error != ErrorCode::none) return error;
  if (request.generation_id != group.generation()) return ErrorCode::illegal_generation;
  if (differs(request.protocol_type, group.protocol_type()) ||
      differs(request.protocol_name, group.protocol())) {
    return ErrorCode::inconsistent_group_protocol;
  }
  if (group.is(GroupState::preparing_rebalance)) return ErrorCode::rebalance_in_progress;
  size_t size = 0;
  for (const auto& assignment : request.assignments) size += assignment.assignment.size();
  if (size > kAssignmentsSizeMax) return ErrorCode::group_max_size_reached;
  return ErrorCode::none;
}

void Membership::answer_parked_syncs(Group& group, ErrorCode error, bool outcome_unknown) {
  for (Member* member : group.members()) {
    SyncGroupCall* const call = std::exchange(member->sync_call, nullptr);
    if (call == nullptr) continue;
    touch(*member);
    if (error == ErrorCode::none) {
      answer_sync(*call, group, *member);
    } else {
      call->outcome_unknown = outcome_unknown;
      refuse(*call, error);
    }
  }
}

void Membership::answer_sync(SyncGroupCall& call, const Group& group, const Member& member) {
  wire::SyncGroupResponse& response = *call.response;
  response = {};
  ArenaCopy copy(*call.arena);
  response.protocol_type = copy.nullable_text(group.protocol_type());
  response.protocol_name = copy.nullable_text(group.protocol());
  response.assignment = copy.bytes(member.assignment);
  if (!copy.ok()) return refuse(call, ErrorCode::group_max_size_reached);
  io_.mailboxes.reply(call);
}

void Membership::refuse(SyncGroupCall& call, ErrorCode error) {
  *call.response = {};
  call.response->error_code = static_cast<int16_t>(error);
  io_.mailboxes.reply(call);
}

// --- Heartbeat -----------------------------------------------------------------------------------

void Membership::heartbeat(HeartbeatCall& call) {
  const wire::HeartbeatRequest& request = *call.request;
  const auto verdict = [&] {
    if (request.group_id.empty()) return ErrorCode::invalid_group_id;
    Group* const group = table_.find(request.group_id);
    if (group == nullptr) return ErrorCode::unknown_member_id;
    if (group->is(GroupState::dead)) return ErrorCode::coordinator_not_available;
    const ErrorCode error = group->check_member(request.member_id, request.group_instance_id);
    if (error != ErrorCode::none) return error;
    if (request.generation_id != group->generation()) return ErrorCode::illegal_generation;
    touch(*group->find_member(request.member_id));
    // While a plan is being made heartbeats are fine: an error would send members back to join.
    return group->is(GroupState::preparing_rebalance) ? ErrorCode::rebalance_in_progress
                                                      : ErrorCode::none;
  };
  *call.response = {};
  call.response->error_code = static_cast<int16_t>(verdict());
  io_.mailboxes.reply(call);
}

// --- LeaveGroup ----------------------------------------------------------------------------------

void Membership::leave(LeaveGroupCall& call) {
  const wire::LeaveGroupRequest& request = *call.request;
  wire::LeaveGroupResponse& response = *call.response;
  response = {};
  const auto finish = [&](ErrorCode error) {
    response.error_code = static_cast<int16_t>(error);
    io_.mailboxes.reply(call);
  };
  if (request.group_id.empty()) return finish(ErrorCode::invalid_group_id);
  Group* const group = table_.find(request.group_id);
  if (group != nullptr && group->is(GroupState::dead)) {
    return finish(ErrorCode::coordinator_not_available);
  }
  bool removed = false;
  const auto leave_group = [&](std::string_view member_id,
                               const wire::NullableString& instance_id) {
    if (group == nullptr) return ErrorCode::unknown_member_id;
    return leave_one(*group, member_id, instance_id, removed);
  };
  ErrorCode error = ErrorCode::none;
  if (call.api_version <= 2) {
    error = leave_group(request.member_id, std::nullopt);
  } else {
    response.members = wire::make_array<wire::LeaveGroupResponse::Member>(*call.arena,
                                                                          request.members.size());
    if (response.members.is_null()) return finish(ErrorCode::invalid_request);
    for (size_t i = 0; i < request.members.size(); ++i) {
      const auto& member = request.members[i];
      const ErrorCode result = leave_group(member.member_id, member.group_instance_id);
      response.members[i] = {.member_id = member.member_id,
                             .group_instance_id = member.group_instance_id,
                             .error_code = static_cast<int16_t>(result)};
    }
  }
  if (group != nullptr) {
    // An id that was never used owns nothing: its going rebalances nobody, but may end a wait.
    if (removed) {
      after_removal(*group);
    } else {
      maybe_complete_join(*group);
    }
    table_.forget_if_idle(*group);
  }
  finish(error);
}

ErrorCode Membership::leave_one(Group& group, std::string_view member_id,
                                const wire::NullableString& instance_id, bool& removed) {
  Member* member = nullptr;
  if (member_id.empty()) {
    // An administrator removes a static member by its instance.
    member = instance_id ? group.find_static(*instance_id) : nullptr;
    if (member == nullptr) return ErrorCode::unknown_member_id;
  } else if (group.is_pending(member_id)) {
    group.remove_pending(member_id);
    return ErrorCode::none;
  } else {
    const ErrorCode error = group.check_member(member_id, instance_id);
    if (error != ErrorCode::none) return error;
    member = group.find_member(member_id);
  }
  remove_member(group, *member, ErrorCode::unknown_member_id);
  removed = true;
  return ErrorCode::none;
}

// --- removal -------------------------------------------------------------------------------------

void Membership::remove_member(Group& group, Member& member, ErrorCode answer) {
  io_.loop.timers().cancel(member.session_timer);
  if (JoinGroupCall* call = group.take_join(member)) refuse(*call, answer, "");
  if (SyncGroupCall* call = std::exchange(member.sync_call, nullptr)) refuse(*call, answer);
  group.remove(member);
}

// Whoever is left gets the partitions of those who went.
void Membership::after_removal(Group& group) {
  if (group.is(GroupState::stable) || group.is(GroupState::completing_rebalance)) {
    // Ids given out do not count: a group whose last real member left is prepared and ends at once.
    prepare(group);
  } else {
    maybe_complete_join(group);
  }
}

void Membership::on_session_timeout(Group& group, Member& member) {
  // Whoever waits for us cannot be expected to heartbeat. New members are: they do not know their
  // id, and their connection may be long gone.
  if (!member.is_new && member.is_parked()) return;
  ++metrics_.members_expired;
  remove_member(group, member, ErrorCode::unknown_member_id);
  after_removal(group);
  table_.account(group);
}

void Membership::on_pending_timeout(Group& group, PendingMember& pending) {
  // A copy: the id belongs to what is about to go.
  group.remove_pending(std::string(pending.id()));
  maybe_complete_join(group);
  table_.forget_if_idle(group);
}

}  // namespace weir::group
