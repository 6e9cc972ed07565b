// How committed offsets are forgotten: by age, with their topic, with their group.

#include <algorithm>
#include <set>

#include "engine/group/append_errors.h"
#include "engine/group/consumer_protocol.h"
#include "engine/group/limits.h"
#include "engine/group/offsets.h"
#include "io/base/logging.h"

namespace weir::group {

using model::ErrorCode;

// --- tombstones ----------------------------------------------------------------------------------

Offsets::Removal& Offsets::begin_removal(Group& group) {
  Removal& removal = removals_.emplace_back();
  removal.self = std::prev(removals_.end());
  removal.group = &group;
  removal.bind<&Offsets::on_removed>(*this);
  return removal;
}

void Offsets::write_removal(Removal& removal) {
  Group& group = *removal.group;
  ASSERT(!removal.keys.empty() || removal.whole_group);
  for (const auto& [topic, partition] : removal.keys) {
    log_writer_.open(group.partition(), group.id().size() + topic.size() + 64);
    encoder_.add_offset_tombstone(group.id(), topic, partition);
  }
  if (removal.whole_group) {
    log_writer_.open(group.partition(), group.id().size() + 64);
    if (group.consumer) {
      consumer_groups_.add_tombstones(group);
    } else {
      encoder_.add_group_tombstone(group.id());
    }
  }
  ++group.writes_in_flight;
  log_writer_.wait(removal);
}

void Offsets::on_removed(LogWrite& write) {
  auto& removal = static_cast<Removal&>(write);
  Group& group = *removal.group;
  --group.writes_in_flight;
  const ErrorCode error = error_of_group_write(write.error);
  if (error == ErrorCode::none) {
    for (const auto& [topic, partition] : removal.keys) {
      pending_.forget(group, topic, partition);
      OffsetSlot* const slot = group.offsets.find_slot(topic, partition);
      if (slot == nullptr) continue;
      if (removal.expiry && slot->has_value) ++metrics_.offsets_expired;
      group.offsets.clear(*slot);
      group.offsets.erase_if_free(topic, partition);
    }
  } else {
    base::log_error("group", "tombstones not written group={} error={}", group.id(),
                    static_cast<int>(error));
  }
  if (removal.whole_group) {
    // Members are kept out while it is dead; commits on their way before it are gone too.
    group.transition_to(GroupState::empty, io_.clock.wall_ms());
    if (error == ErrorCode::none) {
      group.forget_pending();
      group.consumer.reset();
      group.on_log = false;
    }
  }
  if (removal.call != nullptr) {
    removal.answer->error_code = static_cast<int16_t>(error);
    removal.call->outcome_unknown |= write.outcome_unknown;
    if (--removal.call->outstanding == 0) io_.mailboxes.reply(*removal.call);
  }
  if (removal.offset_delete != nullptr) {
    removal.offset_delete->error = error;
    removal.offset_delete->outcome_unknown = write.outcome_unknown;
    io_.mailboxes.reply(*removal.offset_delete);
  }
  removals_.erase(removal.self);
  table_.forget_if_idle(group);
}

// --- DeleteGroups --------------------------------------------------------------------------------

void Offsets::delete_groups(DeleteGroupsCall& call) {
  call.outstanding = 1;
  for (const DeleteItem& item : call.items) {
    item.answer->group_id = item.group_id;
    Group* const group = table_.find(item.group_id);
    if (group == nullptr || group->is(GroupState::dead)) {
      item.answer->error_code = static_cast<int16_t>(ErrorCode::group_id_not_found);
      continue;
    }
    if (!group->is_empty()) {
      item.answer->error_code = static_cast<int16_t>(ErrorCode::non_empty_group);
      continue;
    }
    group->transition_to(GroupState::dead, io_.clock.wall_ms());
    Removal& removal = begin_removal(*group);
    removal.whole_group = true;
    removal.call = &call;
    removal.answer = item.answer;
    // Slots without value too: their commits are in the log before the tombstones.
    for (const auto& [topic, partitions] : group->offsets.topics()) {
      for (const auto& [partition, slot] : partitions) removal.keys.emplace_back(topic, partition);
    }
    ++call.outstanding;
    write_removal(removal);
  }
  if (--call.outstanding == 0) io_.mailboxes.reply(call);
}

// --- OffsetDelete --------------------------------------------------------------------------------

namespace {

// What the members read, as their subscriptions in the group's protocol say; what cannot be read
// names nothing (ClassicGroup.isSubscribedToTopic).
std::set<std::string, std::less<>> subscribed_topics(const Group& group) {
  std::set<std::string, std::less<>> topics;
  for (const Member* member : group.members()) {
    const Protocol* const protocol = member->find_protocol(group.protocol().value_or(""));
    if (protocol == nullptr || !add_subscribed_topics(protocol->metadata, topics)) return {};
  }
  return topics;
}

}  // namespace

void Offsets::delete_offsets(OffsetDeleteCall& call) {
  Group* const group = table_.find(call.group_id);
  call.error = ErrorCode::none;
  if (group == nullptr || group->is(GroupState::dead)) {
    call.error = ErrorCode::group_id_not_found;
  } else if (!group->is(GroupState::empty) && group->protocol_type() != "consumer") {
    call.error = ErrorCode::non_empty_group;  // what its members use is not known
  }
  if (call.error != ErrorCode::none) return io_.mailboxes.reply(call);
  const auto subscribed = subscribed_topics(*group);
  std::set<std::pair<std::string_view, int32_t>> keys;
  for (const OffsetDeleteItem& item : call.items) {
    const bool in_use = subscribed.contains(item.topic) ||
                        (group->consumer && group->consumer->is_subscribed(item.topic));
    if (in_use) {
      item.answer->error_code = static_cast<int16_t>(ErrorCode::group_subscribed_to_topic);
    } else if (group->offsets.find_slot(item.topic, item.answer->partition_index) != nullptr) {
      // A slot without value too: its commit is in the log before the tombstone.
      keys.emplace(item.topic, item.answer->partition_index);
    }
  }
  if (keys.empty()) return io_.mailboxes.reply(call);
  Removal& removal = begin_removal(*group);
  removal.keys.assign(keys.begin(), keys.end());
  removal.offset_delete = &call;
  write_removal(removal);
}

// --- topics --------------------------------------------------------------------------------------

void Offsets::on_topic_deleted(std::string_view topic, const base::Uuid& topic_id) {
  table_.for_each([&](Group& group) {
    const auto found = group.offsets.topics().find(topic);
    if (found == group.offsets.topics().end()) return;
    Removal* removal = nullptr;
    for (const auto& [partition, slot] : found->second) {
      // What is committed for a later life of the topic stays.
      const base::Uuid& life = slot.value.topic_id;
      const bool other_life = slot.has_value && !life.is_zero() && !topic_id.is_zero() &&
                              life != topic_id && slot.pending == 0;
      if (other_life) continue;
      if (removal == nullptr) removal = &begin_removal(group);
      removal->keys.emplace_back(std::string(topic), partition);
    }
    if (removal != nullptr) write_removal(*removal);
  });
}

// --- age -----------------------------------------------------------------------------------------

void Offsets::start() {
  retention_clock_.start(io_.clock);
  io_.loop.timers().arm_after(expiry_timer_,
                              config_.offsets_retention_check_interval_ms * 1'000'000);
}

void Offsets::stop() { io_.loop.timers().cancel(expiry_timer_); }

void Offsets::on_expiry_timer() {
  if (groups_to_check_ == 0) groups_to_check_ = table_.size();
  expire_slice();
  // Between slices the loop serves others.
  const int64_t pause_ns = groups_to_check_ > 0
                               ? 1'000'000
                               : config_.offsets_retention_check_interval_ms * 1'000'000;
  io_.loop.timers().arm_after(expiry_timer_, pause_ns);
}

void Offsets::expire_slice() {
  const int64_t now_ms = retention_clock_.now_ms(io_.clock);
  const size_t count = std::min({groups_to_check_, kExpirySliceGroups, table_.size()});
  groups_to_check_ = count == 0 ? 0 : groups_to_check_ - count;
  table_.for_next(count, [&](Group& group) { expire(group, now_ms); });
}

namespace {

// When the offsets of a group begin to age, and which do not.
struct ExpiryRule {
  bool never = false;
  bool from_state = false;  // since the group became empty, not since the commit
  std::set<std::string, std::less<>> subscribed;
};

ExpiryRule expiry_rule(const Group& group) {
  ExpiryRule rule;
  if (group.consumer) {
    for (const std::string_view topic : group.consumer->subscribed_topics()) {
      rule.subscribed.emplace(topic);
    }
    return rule;
  }
  if (!group.protocol_type() || group.protocol_type()->empty()) return rule;  // simple group
  if (group.is(GroupState::empty)) {
    rule.from_state = group.state_timestamp_ms() != -1;
    return rule;
  }
  rule.never = group.protocol_type() != "consumer" || !group.is(GroupState::stable);
  for (const Member* member : group.members()) {
    const Protocol* const protocol = member->find_protocol(group.protocol().value_or(""));
    if (rule.never || protocol == nullptr ||
        !add_subscribed_topics(protocol->metadata, rule.subscribed)) {
      rule.never = true;
      break;
    }
  }
  return rule;
}

}  // namespace

void Offsets::expire(Group& group, int64_t now_ms) {
  if (group.is(GroupState::dead) || group.writes_in_flight > 0) return;
  const ExpiryRule rule = expiry_rule(group);
  const int64_t retention_ms = int64_t{config_.offsets_retention_minutes} * 60'000;
  const auto is_expired = [&](std::string_view topic, const CommittedOffset& value) {
    if (rule.subscribed.contains(topic)) return false;
    if (value.expire_timestamp_ms != -1) return now_ms >= value.expire_timestamp_ms;
    const int64_t since_ms =
        rule.from_state ? group.state_timestamp_ms() : value.commit_timestamp_ms;
    return now_ms - std::max<int64_t>(since_ms, 0) >= retention_ms;
  };
  std::vector<std::pair<std::string, int32_t>> keys;
  bool any_transactional = false;
  for (const auto& [topic, partitions] : group.offsets.topics()) {
    for (const auto& [partition, slot] : partitions) {
      any_transactional = any_transactional || slot.transactional > 0;
      if (slot.transactional > 0) continue;
      if (!rule.never && is_expired(topic, slot.value)) keys.emplace_back(topic, partition);
    }
  }
  const bool nothing_left = group.is_empty() && group.pending_count() == 0 &&
                            keys.size() == group.offsets.value_count() && !any_transactional;
  if (keys.empty() && !nothing_left) return;
  Removal& removal = begin_removal(group);
  removal.expiry = true;
  removal.keys = std::move(keys);
  removal.whole_group = nothing_left;
  if (nothing_left) group.transition_to(GroupState::dead, io_.clock.wall_ms());
  write_removal(removal);
}

}  // namespace weir::group
