#include "engine/group/consumer_group.h"

#include <algorithm>
#include <span>

#include "engine/group/limits.h"
#include "io/base/assert.h"

namespace weir::group {

std::string_view name(ConsumerGroupState state) {
  switch (state) {
    case ConsumerGroupState::empty: return "Empty";
    case ConsumerGroupState::assigning: return "Assigning";
    case ConsumerGroupState::reconciling: return "Reconciling";
    case ConsumerGroupState::stable: return "Stable";
  }
  UNREACHABLE("state {}", static_cast<int>(state));
}

size_t ConsumerMember::memory_size() const {
  size_t size = kMemberCost + 2 * id_.size() + info_.client_id.size() + info_.client_host.size() +
                info_.regex.size() + info_.rack_id.value_or("").size() +
                2 * info_.instance_id.value_or("").size() + info_.assignor.value_or("").size();
  for (const std::string& topic : info_.topic_names) size += kTextCost + topic.size();
  return size + group::memory_size(target_) + 3 * group::memory_size(current_.assigned) +
         3 * group::memory_size(current_.pending_revocation);
}

ConsumerGroup::ConsumerGroup(Group& group, ConsumerTimeouts& timeouts)
    : group_(group), timeouts_(timeouts) {
  regex_timer.bind<&ConsumerGroup::on_regex_timer>(*this);
  rewrite_timer.bind<&ConsumerGroup::on_rewrite_timer>(*this);
}

ConsumerGroupState ConsumerGroup::state() const {
  if (members_.empty()) return ConsumerGroupState::empty;
  if (epoch > assignment_epoch) return ConsumerGroupState::assigning;
  const bool all = std::ranges::all_of(members_, [&](const auto& entry) {
    return entry.second->current().is_reconciled_to(assignment_epoch);
  });
  return all ? ConsumerGroupState::stable : ConsumerGroupState::reconciling;
}

ConsumerMember* ConsumerGroup::find(std::string_view member_id) const {
  const auto found = members_.find(member_id);
  return found == members_.end() ? nullptr : found->second.get();
}

ConsumerMember* ConsumerGroup::find_static(std::string_view instance_id) const {
  const auto found = by_instance_.find(instance_id);
  return found == by_instance_.end() ? nullptr : found->second;
}

ConsumerMember& ConsumerGroup::add(std::string member_id) {
  auto owned = std::make_unique<ConsumerMember>(group_, timeouts_, member_id);
  ConsumerMember& member = *owned;
  const bool inserted = members_.emplace(std::move(member_id), std::move(owned)).second;
  ASSERT(inserted, "member {} twice", member.id());
  recount(member);
  return member;
}

void ConsumerGroup::remove(ConsumerMember& member) {
  owners_.remove(member.current_.assigned);
  owners_.remove(member.current_.pending_revocation);
  members_memory_ -= member.counted_memory_;
  if (member.info_.instance_id) by_instance_.erase(*member.info_.instance_id);
  members_.erase(members_.find(member.id()));
}

void ConsumerGroup::set_info(ConsumerMember& member, ConsumerMemberInfo info) {
  if (member.info_.instance_id) by_instance_.erase(*member.info_.instance_id);
  member.info_ = std::move(info);
  if (member.info_.instance_id) by_instance_.insert_or_assign(*member.info_.instance_id, &member);
  if (!member.info_.regex.empty()) regexes_.try_emplace(member.info_.regex);
  recount(member);
}

void ConsumerGroup::set_current(ConsumerMember& member, CurrentAssignment current) {
  owners_.remove(member.current_.assigned);
  owners_.remove(member.current_.pending_revocation);
  member.current_ = std::move(current);
  owners_.add(member.current_.assigned);
  owners_.add(member.current_.pending_revocation);
  recount(member);
}

void ConsumerGroup::set_target(ConsumerMember& member, Assignment target) {
  member.target_ = std::move(target);
  recount(member);
}

ConsumerMember& ConsumerGroup::replace(ConsumerMember& member, std::string member_id) {
  ConsumerMemberInfo info = member.info_;
  CurrentAssignment current = member.current_;
  Assignment target = member.target_;
  current.epoch = current.previous_epoch = 0;
  remove(member);
  ConsumerMember& added = add(std::move(member_id));
  set_info(added, std::move(info));
  set_current(added, std::move(current));
  set_target(added, std::move(target));
  return added;
}

void ConsumerGroup::set_regex(std::string_view text, ResolvedRegex resolved) {
  regexes_[std::string(text)] = std::move(resolved);
}

bool ConsumerGroup::is_regex_used(std::string_view text) const {
  return std::ranges::any_of(members_,
                             [&](const auto& entry) { return entry.second->info_.regex == text; });
}

std::set<std::string_view> ConsumerGroup::topics_of(const ConsumerMember& member) const {
  std::set<std::string_view> topics(member.info_.topic_names.begin(),
                                    member.info_.topic_names.end());
  const auto regex = regexes_.find(member.info_.regex);
  if (regex != regexes_.end()) {
    topics.insert(regex->second.topics.begin(), regex->second.topics.end());
  }
  return topics;
}

std::set<std::string_view> ConsumerGroup::subscribed_topics() const {
  std::set<std::string_view> topics;
  for (const auto& [id, member] : members_) {
    topics.insert(member->info_.topic_names.begin(), member->info_.topic_names.end());
  }
  for (const auto& [text, regex] : regexes_) {
    topics.insert(regex.topics.begin(), regex.topics.end());
  }
  return topics;
}

bool ConsumerGroup::is_subscribed(std::string_view topic) const {
  const auto is_topic = [&](const std::string& other) { return other == topic; };
  return std::ranges::any_of(members_,
                             [&](const auto& entry) {
                               return std::ranges::any_of(entry.second->info_.topic_names,
                                                          is_topic);
                             }) ||
         std::ranges::any_of(regexes_, [&](const auto& entry) {
           return std::ranges::any_of(entry.second.topics, is_topic);
         });
}

int64_t ConsumerGroup::metadata_hash_of(const Topics& topics) const {
  uint64_t hash = 0;
  const auto mix = [&](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3u;
    }
  };
  for (const std::string_view name : subscribed_topics()) {
    const auto topic = topics.find(name);
    if (!topic) continue;
    if (hash == 0) hash = 0xcbf29ce484222325u;
    mix(topic->id.bytes);
    mix(std::as_bytes(std::span(&topic->partition_count, 1)));
  }
  return static_cast<int64_t>(hash);
}

AssignorInput ConsumerGroup::assignor_input(const Topics& topics) const {
  AssignorInput input;
  std::map<std::string_view, base::Uuid> ids;
  for (const std::string_view name : subscribed_topics()) {
    const auto topic = topics.find(name);
    if (!topic) continue;
    ids.emplace(name, topic->id);
    input.partition_counts.emplace(topic->id, topic->partition_count);
  }
  for (const auto& [id, member] : members_) {
    AssignorMember& added = input.members.emplace_back();
    added.id = id;
    if (member->info_.instance_id) added.instance_id = *member->info_.instance_id;
    added.current = &member->target_;
    for (const std::string_view name : topics_of(*member)) {
      if (const auto found = ids.find(name); found != ids.end()) {
        added.topics.push_back(found->second);
      }
    }
    std::ranges::sort(added.topics);
  }
  return input;
}

std::optional<std::string> ConsumerGroup::preferred_assignor() const {
  std::map<std::string, size_t> votes;
  for (const auto& [id, member] : members_) {
    if (member->info_.assignor) ++votes[*member->info_.assignor];
  }
  if (votes.empty()) return std::nullopt;
  return std::ranges::max_element(votes, {}, [](const auto& entry) { return entry.second; })->first;
}

size_t ConsumerGroup::memory_size() const {
  size_t size = kGroupCost + members_memory_;
  for (const auto& [text, regex] : regexes_) {
    size += kTextCost + text.size() + regex.topics.size() * 2 * kTextCost;
  }
  return size;
}

void ConsumerGroup::recount(ConsumerMember& member) {
  const size_t size = member.memory_size();
  members_memory_ += size;
  members_memory_ -= member.counted_memory_;
  member.counted_memory_ = size;
}

}  // namespace weir::group
