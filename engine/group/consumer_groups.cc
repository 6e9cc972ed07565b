#include "engine/group/consumer_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/group/append_errors.h"
#include "engine/group/arena_copy.h"
#include "engine/group/limits.h"
#include "engine/model/planted.h"
#include "io/base/logging.h"

namespace weir::group {

using model::ErrorCode;

namespace {

constexpr int64_t kRewriteDelayMs = 1'000;

}  // namespace

ConsumerGroups::ConsumerGroups(io::CoreIo& io, const GroupConfig& config, const Topics& topics,
                               GroupTable& table, GroupTimeouts& timeouts, LogWriter& log_writer,
                               RecordEncoder& classic_encoder, GroupMetrics& metrics)
    : io_(io),
      config_(config),
      topics_(topics),
      table_(table),
      timeouts_(timeouts),
      log_writer_(log_writer),
      classic_encoder_(classic_encoder),
      encoder_(log_writer),
      metrics_(metrics) {}

void ConsumerGroups::arm_ms(io::Timer& timer, int64_t delay_ms) {
  io_.loop.timers().arm_after(timer, delay_ms * 1'000'000);
}

void ConsumerGroups::touch(const Group& group, ConsumerMember& member) {
  arm_ms(member.session_timer, topics_.settings_of(group.id()).session_timeout_ms);
}

void ConsumerGroups::start(Group& group) {
  ConsumerGroup& consumer = *group.consumer;
  std::vector<ConsumerMember*> unknown;
  for (const auto& [id, member] : consumer.members()) {
    if (!member->has_record) unknown.push_back(member.get());
  }
  for (ConsumerMember* member : unknown) consumer.remove(*member);
  std::vector<std::string> unused;
  for (const auto& [text, regex] : consumer.regexes()) {
    if (!consumer.is_regex_used(text)) unused.push_back(text);
  }
  for (const std::string& text : unused) consumer.erase_regex(text);
  for (const auto& [id, member] : consumer.members()) {
    touch(group, *member);
    if (member->current().state == MemberState::unrevoked_partitions) {
      arm_ms(member->rebalance_timer, std::max(member->info().rebalance_timeout_ms, 0));
    }
  }
}

void ConsumerGroups::stop() {
  stopped_ = true;
  table_.for_each([&](Group& group) {
    if (!group.consumer) return;
    io_.loop.timers().cancel(group.consumer->regex_timer);
    io_.loop.timers().cancel(group.consumer->rewrite_timer);
    for (const auto& [id, member] : group.consumer->members()) {
      io_.loop.timers().cancel(member->session_timer);
      io_.loop.timers().cancel(member->rebalance_timer);
    }
  });
}

// --- coming and going ----------------------------------------------------------------------------

void ConsumerGroups::leave(ConsumerGroupHeartbeatCall& call, Group* group) {
  const wire::ConsumerGroupHeartbeatRequest& request = *call.request;
  ConsumerGroup& consumer = *group->consumer;
  ConsumerMember& member = request.instance_id ? *consumer.find_static(*request.instance_id)
                                               : *consumer.find(request.member_id);
  wire::ConsumerGroupHeartbeatResponse& response = *call.response;
  response = {};
  response.member_id = request.member_id;
  response.member_epoch = request.member_epoch;
  if (request.member_epoch == kStaticLeaveEpoch) {
    // It keeps what it has; whoever comes with its instance id within the session gets that.
    CurrentAssignment away = member.current();
    away.epoch = kStaticLeaveEpoch;
    away.pending_revocation.clear();
    io_.loop.timers().cancel(member.rebalance_timer);
    write_to(*group);
    consumer.set_current(member, std::move(away));
    encoder_.add_current(group->id(), member);
  } else {
    remove_member(*group, member);
  }
  finish(call, *group);
}

// Members leave by their heartbeat; by this call nobody but an administrator can make one.
void ConsumerGroups::leave_group(LeaveGroupCall& call, Group& group) {
  const wire::LeaveGroupRequest& request = *call.request;
  wire::LeaveGroupResponse& response = *call.response;
  response = {};
  if (call.api_version <= 2) return fail(call, ErrorCode::unknown_member_id);
  response.members = wire::make_array<wire::LeaveGroupResponse::Member>(*call.arena,
                                                                        request.members.size());
  if (response.members.is_null()) return fail(call, ErrorCode::invalid_request);
  for (size_t i = 0; i < request.members.size(); ++i) {
    const auto& asked = request.members[i];
    ConsumerMember* const member = asked.member_id.empty() && asked.group_instance_id
                                       ? group.consumer->find_static(*asked.group_instance_id)
                                       : nullptr;
    const ErrorCode error = member == nullptr ? ErrorCode::unknown_member_id : ErrorCode::none;
    if (member != nullptr) remove_member(group, *member);
    response.members[i] = {.member_id = asked.member_id,
                           .group_instance_id = asked.group_instance_id,
                           .error_code = static_cast<int16_t>(error)};
  }
  finish(call, group);
}

void ConsumerGroups::remove_member(Group& group, ConsumerMember& member) {
  ConsumerGroup& consumer = *group.consumer;
  Write& write = write_to(group);
  encoder_.add_member_tombstones(group.id(), member.id());
  write.removed_members.push_back(member.id());
  const std::string regex = member.info().regex;
  consumer.remove(member);
  forget_unused_regex(group, regex);
  update_epoch(group, true);
  table_.account(group);
}

void ConsumerGroups::forget_unused_regex(Group& group, std::string_view text) {
  if (text.empty() || group.consumer->is_regex_used(text)) return;
  write_to(group).removed_regexes.emplace_back(text);
  encoder_.add_regex_tombstone(group.id(), text);
  group.consumer->erase_regex(text);
}

void ConsumerGroups::on_session_timeout(Group& group, ConsumerMember& member) {
  ++metrics_.members_expired;
  base::log_info("group", "member expired group={} member={} reason=session", group.id(),
                 member.id());
  remove_member(group, member);
  close_write();
}

void ConsumerGroups::on_rebalance_timeout(Group& group, ConsumerMember& member) {
  if (member.current().state != MemberState::unrevoked_partitions) return;
  ++metrics_.members_expired;
  base::log_info("group", "member expired group={} member={} reason=rebalance", group.id(),
                 member.id());
  remove_member(group, member);
  close_write();
}

void ConsumerGroups::make_classic(Group& group) {
  ASSERT(group.is_empty());
  write_to(group);
  add_tombstones(group);
  close_write();
  group.consumer.reset();
  group.on_log = false;
}

ErrorCode ConsumerGroups::check_epoch(const ConsumerGroup& group, std::string_view member_id,
                                      int32_t epoch) {
  const ConsumerMember* const member = group.find(member_id);
  if (member == nullptr) return ErrorCode::unknown_member_id;
  return member->current().epoch == epoch ? ErrorCode::none : ErrorCode::stale_member_epoch;
}

// As Kafka's: a random UUID, as topic ids are written. Only version 0 lets the broker choose.
std::string ConsumerGroups::make_member_id() {
  base::Uuid id;
  const std::array<uint64_t, 2> halves{io_.random.next(), io_.random.next()};
  std::ranges::copy(std::as_bytes(std::span(halves)), id.bytes.begin());
  return id.to_string();
}

// --- records -------------------------------------------------------------------------------------

ConsumerGroups::Write& ConsumerGroups::write_to(Group& group) {
  if (open_ != nullptr) {
    ASSERT(open_->group == &group);
    return *open_;
  }
  Write& write = writes_.emplace_back();
  write.self = std::prev(writes_.end());
  write.group = &group;
  write.bind<&ConsumerGroups::on_written>(*this);
  ++group.writes_in_flight;
  group.on_log = true;
  log_writer_.open(group.partition(), group.memory_size() - group.offsets.memory_size());
  open_ = &write;
  return write;
}

void ConsumerGroups::close_write() {
  if (open_ == nullptr) return;
  Write& write = *std::exchange(open_, nullptr);
  if (write.group->consumer) write.group->consumer->last_write = &write;
  log_writer_.wait(write);
}

// The answer waits for what this call has changed, or for what was changed before it.
void ConsumerGroups::finish(GroupCall& call, Group& group) {
  table_.account(group);
  close_write();
  auto* const last = static_cast<Write*>(group.consumer->last_write);
  if (last == nullptr || model::planted(model::Bug::group_epoch_not_durable)) {
    return io_.mailboxes.reply(call);
  }
  last->calls.push_back(&call);
}

void ConsumerGroups::on_written(LogWrite& done) {
  auto& write = static_cast<Write&>(done);
  Group& group = *write.group;
  --group.writes_in_flight;
  ConsumerGroup* const consumer = group.consumer.get();
  if (consumer != nullptr && consumer->last_write == &write) consumer->last_write = nullptr;
  if (write.error != ErrorCode::none) {
    base::log_error("group", "records not written group={} error={}", group.id(),
                    static_cast<int>(write.error));
    if (consumer != nullptr) {
      consumer->lost_tombstones.insert(write.removed_members.begin(), write.removed_members.end());
      consumer->lost_regex_tombstones.insert(write.removed_regexes.begin(),
                                             write.removed_regexes.end());
      consumer->needs_rewrite = true;
      if (!write.outcome_unknown) retry_later(group);
    }
  } else if (write.rewrite && consumer != nullptr) {
    consumer->needs_rewrite = false;
    consumer->lost_tombstones.clear();
    consumer->lost_regex_tombstones.clear();
  }
  const ErrorCode error = write.error != ErrorCode::none ? error_of_group_write(write.error)
                          : consumer != nullptr && consumer->needs_rewrite
                              ? ErrorCode::coordinator_not_available
                              : ErrorCode::none;
  for (GroupCall* call : write.calls) {
    call->outcome_unknown = write.outcome_unknown;
    if (error != ErrorCode::none) {
      fail(*call, error);
    } else {
      io_.mailboxes.reply(*call);
    }
  }
  writes_.erase(write.self);
  table_.forget_if_idle(group);
}

void ConsumerGroups::retry_later(Group& group) {
  if (!stopped_) arm_ms(group.consumer->rewrite_timer, kRewriteDelayMs);
}

void ConsumerGroups::on_rewrite_due(Group& group) {
  ConsumerGroup& consumer = *group.consumer;
  if (!consumer.needs_rewrite) return;
  // A group that is being deleted must not come back behind its tombstones.
  if (consumer.last_write != nullptr || group.is(GroupState::dead)) return retry_later(group);
  Write& write = write_to(group);
  write.rewrite = true;
  for (const std::string& id : consumer.lost_tombstones) {
    if (consumer.find(id) == nullptr) encoder_.add_member_tombstones(group.id(), id);
  }
  for (const std::string& text : consumer.lost_regex_tombstones) {
    if (!consumer.is_regex_used(text)) encoder_.add_regex_tombstone(group.id(), text);
  }
  encoder_.add_all(group.id(), consumer);
  close_write();
}

// --- answers -------------------------------------------------------------------------------------

void ConsumerGroups::refuse(ConsumerGroupHeartbeatCall& call, const Fault& fault) {
  *call.response = {};
  call.response->error_code = static_cast<int16_t>(fault.error);
  ArenaCopy copy(*call.arena);
  call.response->error_message = copy.text(fault.message);
  if (!copy.ok()) call.response->error_message = std::nullopt;
  io_.mailboxes.reply(call);
}

void ConsumerGroups::fail(GroupCall& call, ErrorCode error) {
  if (call.api == wire::ApiKey::consumer_group_heartbeat) {
    return refuse(static_cast<ConsumerGroupHeartbeatCall&>(call),
                  {error, "The group's change could not be stored."});
  }
  auto& response = *static_cast<LeaveGroupCall&>(call).response;
  response = {};
  response.error_code = static_cast<int16_t>(error);
  io_.mailboxes.reply(call);
}

// False when the arena is full.
bool ConsumerGroups::fill(ConsumerGroupHeartbeatCall& call, const ConsumerMember& member,
                          bool with_assignment) {
  wire::ConsumerGroupHeartbeatResponse& response = *call.response;
  response = {};
  ArenaCopy copy(*call.arena);
  response.member_id = copy.text(member.id());
  response.member_epoch = member.current().epoch;
  const ConsumerGroupSettings settings = topics_.settings_of(call.request->group_id);
  response.heartbeat_interval_ms = settings.heartbeat_interval_ms;
  if (!with_assignment) return copy.ok();
  const Assignment& assigned = member.current().assigned;
  using Row = wire::ConsumerGroupHeartbeatPartitions;
  auto rows = copy.array<Row>(assigned.size());
  size_t next = 0;
  for (const auto& [topic, partitions] : assigned) {
    if (rows.is_null()) break;
    Row& row = rows[next++];
    row.topic_id = topic;
    row.partitions = copy.array<int32_t>(partitions.size());
    if (!row.partitions.is_null()) std::ranges::copy(partitions, row.partitions.begin());
  }
  response.assignment = wire::ConsumerGroupHeartbeatAssignment{rows};
  return copy.ok();
}

}  // namespace weir::group
