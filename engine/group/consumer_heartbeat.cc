// The heartbeat of a consumer group (KIP-848): what a member says becomes what the group knows,
// that moves the group's epoch, that makes targets, and the member takes a step to its own.

#include <algorithm>

#include "engine/group/consumer_groups.h"
#include "engine/group/limits.h"
#include "engine/group/topic_regex.h"
#include "io/base/logging.h"

namespace weir::group {

using model::ErrorCode;

namespace {

// Of expressions that were matched before, when topics change; as in Kafka.
constexpr int64_t kRegexRefreshPauseMs = 10'000;

using Request = wire::ConsumerGroupHeartbeatRequest;

std::optional<std::string> changed(const wire::NullableString& said,
                                   const std::optional<std::string>& known) {
  return said ? std::optional<std::string>(*said) : known;
}

}  // namespace

void ConsumerGroups::heartbeat(ConsumerGroupHeartbeatCall& call) {
  const Request& request = *call.request;
  if (const Fault fault = check_request(call); fault.found()) return refuse(call, fault);
  Group* known = table_.find(request.group_id);
  if (const Fault fault = check_group(request, known); fault.found()) {
    // It is alive, though the group cannot serve it now.
    if (known != nullptr && known->consumer) {
      if (ConsumerMember* member = known->consumer->find(request.member_id)) touch(*known, *member);
    }
    return refuse(call, fault);
  }
  if (const Fault fault = check_member(request, known); fault.found()) return refuse(call, fault);
  if (request.member_epoch < 0) return leave(call, known);
  if (const Fault fault = check_room(request, known); fault.found()) return refuse(call, fault);
  if (known == nullptr) known = table_.create(request.group_id, call.offsets_partition, timeouts_);
  if (known == nullptr) {
    return refuse(call, {ErrorCode::coordinator_not_available, "There are too many groups."});
  }
  Group& group = *known;
  if (!group.consumer) make_consumer(group);
  ConsumerMember& member = member_for(call, group);
  const Assignment before = member.current().assigned;
  const bool is_new = member.current().epoch == 0;
  const bool subscription_changed = update_info(call, group, member);
  update_epoch(group, subscription_changed);
  const bool at_once = subscription_changed && !is_new;
  if (is_target_due(group, at_once)) update_target(group);
  const Assignment owned = owned_of(request);
  update_current(group, member, request.topic_partitions.is_null() ? nullptr : &owned);
  touch(group, member);
  arm_regexes(group);
  const bool has_subscription =
      !request.subscribed_topic_names.is_null() || request.subscribed_topic_regex;
  const bool full = request.member_epoch == 0 ||
                    (request.rebalance_timeout_ms != -1 && has_subscription &&
                     !request.topic_partitions.is_null());
  if (!fill(call, member, full || member.current().assigned != before)) {
    table_.account(group);
    close_write();
    return refuse(call, {ErrorCode::group_max_size_reached, "The assignment is too large."});
  }
  finish(call, group);
}

void ConsumerGroups::make_consumer(Group& group) {
  ASSERT(group.is_empty());
  const bool was_on_log = group.on_log;
  group.forget_pending();
  write_to(group);
  if (was_on_log) classic_encoder_.add_group_tombstone(group.id());
  group.restore(std::nullopt, 0, std::nullopt, -1);
  group.durable_generation = -1;
  group.consumer = std::make_unique<ConsumerGroup>(group, *this);
  // A group begins with epoch 1; its first subscription makes it 2, as in Kafka.
  group.consumer->epoch = 1;
  encoder_.add_epoch(group.id(), *group.consumer);
}

ConsumerMember& ConsumerGroups::member_for(ConsumerGroupHeartbeatCall& call, Group& group) {
  const Request& request = *call.request;
  ConsumerGroup& consumer = *group.consumer;
  if (!request.member_id.empty()) {
    if (ConsumerMember* member = consumer.find(request.member_id)) {
      if (!member->is_away()) return *member;
      // Back under its own id.
      CurrentAssignment current = member->current();
      current.epoch = current.previous_epoch = 0;
      consumer.set_current(*member, std::move(current));
      return *member;
    }
  }
  std::string id = request.member_id.empty() ? make_member_id() : std::string(request.member_id);
  ConsumerMember* const holder =
      request.instance_id ? consumer.find_static(*request.instance_id) : nullptr;
  Write& write = write_to(group);
  if (holder == nullptr) {
    ConsumerMember& member = consumer.add(std::move(id));
    encoder_.add_member(group.id(), member);
    return member;
  }
  encoder_.add_member_tombstones(group.id(), holder->id());
  write.removed_members.push_back(holder->id());
  ConsumerMember& member = consumer.replace(*holder, std::move(id));
  encoder_.add_member(group.id(), member);
  encoder_.add_target(group.id(), member);
  return member;
}

// Takes what the member says of itself; true when it reads something else than before.
bool ConsumerGroups::update_info(const ConsumerGroupHeartbeatCall& call, Group& group,
                                 ConsumerMember& member) {
  const Request& request = *call.request;
  const ConsumerMemberInfo old = member.info();
  ConsumerMemberInfo info = old;
  info.instance_id = changed(request.instance_id, old.instance_id);
  info.rack_id = changed(request.rack_id, old.rack_id);
  info.assignor = changed(request.server_assignor, old.assignor);
  info.client_id = call.client_id;
  info.client_host = call.client_host;
  if (request.rebalance_timeout_ms != -1) info.rebalance_timeout_ms = request.rebalance_timeout_ms;
  if (request.subscribed_topic_regex) info.regex = *request.subscribed_topic_regex;
  if (!request.subscribed_topic_names.is_null()) {
    info.topic_names.assign(request.subscribed_topic_names.begin(),
                            request.subscribed_topic_names.end());
    std::ranges::sort(info.topic_names);
    const auto twice = std::ranges::unique(info.topic_names);
    info.topic_names.erase(twice.begin(), twice.end());
  }
  if (info == old) return false;
  const bool names_changed = info.topic_names != old.topic_names;
  const bool regex_changed = info.regex != old.regex;
  group.consumer->set_info(member, std::move(info));
  write_to(group);
  encoder_.add_member(group.id(), member);
  if (regex_changed) forget_unused_regex(group, old.regex);
  // A new expression counts when it has been matched.
  const auto regex = group.consumer->regexes().find(member.info().regex);
  const bool regex_counts = regex == group.consumer->regexes().end() || regex->second.resolved;
  return names_changed || (regex_changed && regex_counts);
}

void ConsumerGroups::update_epoch(Group& group, bool changed) {
  ConsumerGroup& consumer = *group.consumer;
  if (!changed && consumer.seen_topics_version == topics_.version()) return;
  consumer.seen_topics_version = topics_.version();
  const int64_t hash = consumer.metadata_hash_of(topics_);
  if (!changed && hash == consumer.metadata_hash) return;
  consumer.metadata_hash = hash;
  if (consumer.epoch < INT32_MAX) ++consumer.epoch;
  write_to(group);
  encoder_.add_epoch(group.id(), consumer);
}

// Many that join together make few assignments. Whoever reads something else now has partitions
// that are not its own any more: it does not wait.
bool ConsumerGroups::is_target_due(const Group& group, bool at_once) const {
  const ConsumerGroup& consumer = *group.consumer;
  if (consumer.epoch <= consumer.assignment_epoch) return false;
  if (consumer.assigned_ms == -1 || at_once) return true;
  return now_ms() - consumer.assigned_ms >= topics_.settings_of(group.id()).assignment_interval_ms;
}

bool ConsumerGroups::has_assignor(std::string_view name) const {
  const auto names = config_.assignors();
  return std::ranges::find(names, name) != names.end();
}

// What most members ask for, else the first that is set.
std::string ConsumerGroups::assignor_of(const ConsumerGroup& group) const {
  const auto preferred = group.preferred_assignor();
  if (preferred && has_assignor(*preferred)) return *preferred;
  return std::string(config_.assignors().front());
}

void ConsumerGroups::update_target(Group& group) {
  ConsumerGroup& consumer = *group.consumer;
  const std::string assignor = assignor_of(consumer);
  const AssignorInput input = consumer.assignor_input(topics_);
  const Assignments targets =
      assignor == kRangeAssignor ? assign_range(input) : assign_uniform(input);
  write_to(group);
  size_t next = 0;
  for (const auto& [id, member] : consumer.members()) {
    const Assignment& target = targets[next++];
    if (target == member->target()) continue;
    consumer.set_target(*member, target);
    encoder_.add_target(group.id(), *member);
  }
  consumer.assignment_epoch = consumer.epoch;
  consumer.assigned_ms = now_ms();
  encoder_.add_target_epoch(group.id(), consumer.assignment_epoch);
  ++metrics_.rebalances;
}

void ConsumerGroups::update_current(Group& group, ConsumerMember& member, const Assignment* owned) {
  ConsumerGroup& consumer = *group.consumer;
  CurrentAssignment after = reconcile(member.current(), consumer.assignment_epoch, member.target(),
                                      owned, consumer.owners());
  if (after == member.current()) return;
  consumer.set_current(member, std::move(after));
  write_to(group);
  encoder_.add_current(group.id(), member);
  if (member.current().state == MemberState::unrevoked_partitions) {
    arm_ms(member.rebalance_timer, std::max(member.info().rebalance_timeout_ms, 0));
  } else {
    io_.loop.timers().cancel(member.rebalance_timer);
  }
}

// --- regular expressions -------------------------------------------------------------------------

void ConsumerGroups::arm_regexes(Group& group) {
  ConsumerGroup& consumer = *group.consumer;
  if (consumer.regexes().empty() || consumer.regex_timer.armed()) return;
  const int64_t age_ms =
      consumer.regex_refreshed_ms == -1 ? INT64_MAX : now_ms() - consumer.regex_refreshed_ms;
  const int64_t version = topics_.version();
  const bool due = std::ranges::any_of(consumer.regexes(), [&](const auto& entry) {
    if (!entry.second.resolved) return true;
    return age_ms >= config_.consumer_regex_refresh_interval_ms ||
           (entry.second.version != version && age_ms >= kRegexRefreshPauseMs);
  });
  if (!due) return;
  if (age_ms >= config_.consumer_regex_refresh_interval_ms) consumer.expire_regexes();
  arm_ms(consumer.regex_timer, 0);
}

// One expression a turn: the loop serves others between them.
void ConsumerGroups::on_regexes_due(Group& group) {
  ConsumerGroup& consumer = *group.consumer;
  const int64_t version = topics_.version();
  const auto stale = [&](const auto& entry) {
    return !entry.second.resolved || entry.second.version != version;
  };
  const auto next = std::ranges::find_if(consumer.regexes(), stale);
  if (next == consumer.regexes().end()) {
    consumer.regex_refreshed_ms = now_ms();
    return;
  }
  const std::string text = next->first;
  if (resolve_regex(group, text)) update_epoch(group, true);
  table_.account(group);
  close_write();
  if (std::ranges::any_of(consumer.regexes(), stale)) return arm_ms(consumer.regex_timer, 0);
  consumer.regex_refreshed_ms = now_ms();
}

// True when it matches other topics than before.
bool ConsumerGroups::resolve_regex(Group& group, std::string_view text) {
  ConsumerGroup& consumer = *group.consumer;
  ResolvedRegex regex{.resolved = true,
                      .version = topics_.version(),
                      .timestamp_ms = io_.clock.wall_ms()};
  // What could not be compiled was refused; a log of another broker may hold such a thing.
  if (const auto compiled = TopicRegex::compile(text)) {
    for (const std::string_view topic : topics_.names()) {
      if (compiled->matches(topic)) regex.topics.emplace_back(topic);
    }
    std::ranges::sort(regex.topics);
    // Many names for one expression must not cost what other groups need.
    if (!table_.has_room(regex.topics.size() * 2 * kTextCost)) regex.topics.clear();
  } else {
    base::log_warning("group", "cannot match group={} regex={} reason={}", group.id(), text,
                      compiled.error().detail);
  }
  const ResolvedRegex& old = consumer.regexes().find(text)->second;
  const bool differs = !old.resolved || old.topics != regex.topics;
  const bool counts = old.topics != regex.topics;
  consumer.set_regex(text, std::move(regex));
  if (!differs) return false;
  write_to(group);
  encoder_.add_regex(group.id(), text, consumer.regexes().find(text)->second);
  return counts;
}

}  // namespace weir::group
