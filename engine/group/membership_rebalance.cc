// The phases of a rebalance, and the records that outlive a restart.

#include <algorithm>

#include "engine/group/append_errors.h"
#include "engine/group/membership.h"
#include "io/base/logging.h"

namespace weir::group {

using model::ErrorCode;

namespace {

constexpr int16_t kVersionSkipAssignment = 9;

}  // namespace

void Membership::prepare_or_complete(Group& group) {
  if (group.is(GroupState::preparing_rebalance)) {
    maybe_complete_join(group);
  } else {
    prepare(group);
  }
}

void Membership::prepare(Group& group) {
  if (group.is(GroupState::completing_rebalance)) {
    answer_parked_syncs(group, ErrorCode::rebalance_in_progress, false);
  }
  io_.loop.timers().cancel(group.sync_timer);
  const bool initial = group.is(GroupState::empty);
  group.transition_to(GroupState::preparing_rebalance, io_.clock.wall_ms());
  if (initial) {
    // The first members give others time to come, so that N consumers that start together make one
    // rebalance instead of N.
    group.member_added = false;
    group.delay_ms = config_.initial_rebalance_delay_ms;
    group.delay_remaining_ms = std::max(group.rebalance_timeout_ms() - group.delay_ms, 0);
    group.in_initial_delay = true;
    return arm_ms(group.join_timer, group.delay_ms);
  }
  if (group.has_all_members_joined()) return complete_join(group);
  arm_ms(group.join_timer, group.rebalance_timeout_ms());
}

void Membership::maybe_complete_join(Group& group) {
  // What started from Empty ends by its timer only.
  if (group.is(GroupState::preparing_rebalance) && group.previous_state() != GroupState::empty &&
      group.has_all_members_joined()) {
    complete_join(group);
  }
}

void Membership::on_join_timeout(Group& group) {
  if (!group.is(GroupState::preparing_rebalance)) return;
  if (group.in_initial_delay && group.member_added && group.delay_remaining_ms != 0) {
    group.member_added = false;
    const int32_t next_ms = std::min(config_.initial_rebalance_delay_ms, group.delay_remaining_ms);
    group.delay_remaining_ms = std::max(group.delay_remaining_ms - group.delay_ms, 0);
    group.delay_ms = next_ms;
    return arm_ms(group.join_timer, next_ms);
  }
  complete_join(group);
  table_.account(group);
}

void Membership::complete_join(Group& group) {
  io_.loop.timers().cancel(group.join_timer);
  group.in_initial_delay = false;
  // Nobody may be told a generation before the ids of replaced static members are durable: a
  // restart would fence them (C74).
  group.join_due = group.replacements_in_flight > 0;
  if (group.join_due) return;
  remove_not_rejoined(group);
  if (!group.elect_leader() && group.member_count() > 0) {
    // Only static members are left, and none came: their session timeouts will empty the group.
    return arm_ms(group.join_timer, group.rebalance_timeout_ms());
  }
  group.next_generation(io_.clock.wall_ms());
  ++metrics_.rebalances;
  if (group.is(GroupState::empty)) return write_empty(group);
  tell_generation(group);
}

void Membership::remove_not_rejoined(Group& group) {
  std::vector<Member*> gone;
  for (Member* member : group.members()) {
    if (!member->is_static() && member->join_call == nullptr) gone.push_back(member);
  }
  for (Member* member : gone) {
    ++metrics_.members_expired;
    remove_member(group, *member, ErrorCode::unknown_member_id);
  }
}

void Membership::tell_generation(Group& group) {
  for (Member* member : group.members()) {
    JoinGroupCall* const call = group.take_join(*member);
    // A static member that is away keeps its place, but its session goes on running out.
    if (call == nullptr) continue;
    member->is_new = false;
    member->awaits_sync = true;
    touch(*member);
    answer_current(*call, group, *member);
  }
  arm_ms(group.sync_timer, group.rebalance_timeout_ms());
}

// Members that have not synced hold up everybody, however lively their heartbeats are (C67).
void Membership::on_sync_timeout(Group& group) {
  if (!group.is(GroupState::completing_rebalance) && !group.is(GroupState::stable)) return;
  std::vector<Member*> late;
  for (Member* member : group.members()) {
    if (member->awaits_sync) late.push_back(member);
  }
  if (late.empty()) return;
  for (Member* member : late) {
    ++metrics_.members_expired;
    remove_member(group, *member, ErrorCode::unknown_member_id);
  }
  prepare(group);
  table_.account(group);
}

// The plan becomes part of the group when it is handed to the log, for the sake of records written
// after it; members learn it when it is durable.
void Membership::store_plan(Group& group, const SyncGroupCall& call) {
  TextMap<wire::Bytes> plan;
  for (const auto& assignment : call.request->assignments) {
    plan.insert_or_assign(std::string(assignment.member_id), assignment.assignment);
  }
  for (Member* member : group.members()) {
    const auto found = plan.find(member->id());
    const wire::Bytes bytes = found == plan.end() ? wire::Bytes{} : found->second;
    group.set_assignment(*member, {bytes.begin(), bytes.end()});
    member->in_durable_generation = true;
  }
  group.durable_generation = group.generation();
  group.durable_protocol = group.protocol().value_or("");
  group.plan_in_flight = true;
  MetadataWrite& write = begin_write(MetadataWrite::Kind::plan, group, group.generation());
  write_members(group, group.generation(), group.durable_protocol, false, write);
}

void Membership::write_replacement(Group& group, Member& member, std::string old_member_id,
                                   std::string old_leader_id) {
  MetadataWrite& write =
      begin_write(MetadataWrite::Kind::replacement, group, group.durable_generation);
  write.member_id = member.id();
  write.old_member_id = std::move(old_member_id);
  write.old_leader_id = std::move(old_leader_id);
  ++group.replacements_in_flight;
  write_members(group, group.durable_generation, group.durable_protocol, true, write);
}

void Membership::write_empty(Group& group) {
  MetadataWrite& write = begin_write(MetadataWrite::Kind::empty, group, group.generation());
  write_members(group, group.generation(), "", false, write);
}

Membership::MetadataWrite& Membership::begin_write(MetadataWrite::Kind kind, Group& group,
                                                   int32_t generation) {
  MetadataWrite& write = writes_.emplace_back();
  write.self = std::prev(writes_.end());
  write.kind = kind;
  write.group = &group;
  write.generation = generation;
  write.bind<&Membership::on_metadata_written>(*this);
  ++group.writes_in_flight;
  group.on_log = true;
  return write;
}

// A record with the members as they are, under the given generation.
void Membership::write_members(Group& group, int32_t generation, std::string_view protocol,
                               bool durable_only, MetadataWrite& write) {
  std::vector<const Member*> members;
  for (const Member* member : group.members()) {
    if (!durable_only || member->in_durable_generation) members.push_back(member);
  }
  wire::GroupMetadataValue value;
  value.protocol_type = group.protocol_type() ? std::string_view(*group.protocol_type()) : "";
  value.generation = generation;
  value.protocol = members.empty() ? wire::NullableString() : wire::NullableString(protocol);
  value.leader = members.empty() ? wire::NullableString() : wire::NullableString(group.leader_id());
  value.current_state_timestamp = group.state_timestamp_ms();
  value.members =
      wire::make_array<wire::GroupMetadataValue::Member>(encoder_.arena(), members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = *members[i];
    const Protocol* const chosen = member.find_protocol(protocol);
    value.members[i] = {
        .member_id = member.id(),
        .group_instance_id = member.instance_id ? wire::NullableString(*member.instance_id)
                                                : wire::NullableString(),
        .client_id = member.client_id,
        .client_host = member.client_host,
        .rebalance_timeout = member.rebalance_timeout_ms,
        .session_timeout = member.session_timeout_ms,
        .subscription = chosen == nullptr ? wire::Bytes{} : wire::Bytes(chosen->metadata),
        .assignment = member.assignment};
  }
  log_writer_.open(group.partition(), group.memory_size() - group.offsets.memory_size());
  encoder_.add_group(group.id(), value);
  log_writer_.wait(write);
}

void Membership::on_metadata_written(LogWrite& done) {
  auto& write = static_cast<MetadataWrite&>(done);
  Group& group = *write.group;
  --group.writes_in_flight;
  if (write.error != ErrorCode::none) {
    base::log_error("group", "record not written group={} generation={} error={}", group.id(),
                    write.generation, static_cast<int>(write.error));
  }
  switch (write.kind) {
    case MetadataWrite::Kind::plan: on_plan_written(group, write); break;
    case MetadataWrite::Kind::replacement: on_replacement_written(group, write); break;
    case MetadataWrite::Kind::empty: break;
  }
  writes_.erase(write.self);
  table_.forget_if_idle(group);
}

void Membership::on_plan_written(Group& group, const MetadataWrite& write) {
  // The group may have moved on while the record was on its way.
  if (!group.is(GroupState::completing_rebalance) || group.generation() != write.generation) return;
  group.plan_in_flight = false;
  if (write.error != ErrorCode::none) {
    answer_parked_syncs(group, error_of_group_write(write.error), write.outcome_unknown);
    return prepare(group);
  }
  group.transition_to(GroupState::stable, io_.clock.wall_ms());
  answer_parked_syncs(group, ErrorCode::none, false);
}

void Membership::on_replacement_written(Group& group, const MetadataWrite& write) {
  --group.replacements_in_flight;
  Member* const member = group.find_member(write.member_id);
  if (member != nullptr && write.error != ErrorCode::none) {
    // The log knows the old holder: it stays the holder.
    if (JoinGroupCall* call = group.take_join(*member)) {
      call->outcome_unknown = write.outcome_unknown;
      refuse(*call, error_of_group_write(write.error), "");
    }
    group.replace_id(*member, write.old_member_id);
  } else if (member != nullptr && group.is(GroupState::stable) && member->join_call != nullptr) {
    JoinGroupCall& call = *group.take_join(*member);
    touch(*member);
    const bool leads = group.is_leader(*member);
    // Version 9 can say that a leader need not assign; before it, a leader is not told that it
    // leads.
    if (call.api_version >= kVersionSkipAssignment) {
      answer_join(call, group, *member, group.leader_id(), leads, leads);
    } else {
      answer_join(call, group, *member, write.old_leader_id, false, false);
    }
  }
  if (group.replacements_in_flight > 0) return;
  if (group.join_due) {
    complete_join(group);
  } else {
    maybe_complete_join(group);
  }
}

}  // namespace weir::group
