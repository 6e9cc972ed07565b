#include "engine/group/group.h"

#include <algorithm>

#include "engine/group/group_partition.h"
#include "io/base/assert.h"

namespace weir::group {

using model::ErrorCode;

std::string_view name(GroupState state) {
  switch (state) {
    case GroupState::empty: return "Empty";
    case GroupState::preparing_rebalance: return "PreparingRebalance";
    case GroupState::completing_rebalance: return "CompletingRebalance";
    case GroupState::stable: return "Stable";
    case GroupState::dead: return "Dead";
  }
  UNREACHABLE("state {}", static_cast<int>(state));
}

Group::Group(std::string id, model::PartitionIndex partition, GroupTimeouts& timeouts)
    : id_(std::move(id)), partition_(partition), timeouts_(timeouts) {
  join_timer.bind<&Group::on_join_timer>(*this);
  sync_timer.bind<&Group::on_sync_timer>(*this);
}

namespace {

bool may_follow(GroupState from, GroupState to) {
  switch (to) {
    case GroupState::preparing_rebalance:
      return from == GroupState::empty || from == GroupState::stable ||
             from == GroupState::completing_rebalance;
    case GroupState::completing_rebalance: return from == GroupState::preparing_rebalance;
    case GroupState::stable: return from == GroupState::completing_rebalance;
    // From dead: the deletion could not be written.
    case GroupState::empty:
      return from == GroupState::preparing_rebalance || from == GroupState::dead;
    case GroupState::dead: return from == GroupState::empty;
  }
  UNREACHABLE("state {}", static_cast<int>(to));
}

}  // namespace

void Group::transition_to(GroupState state, int64_t wall_ms) {
  ASSERT(may_follow(state_, state), "{} -> {}", name(state_), name(state));
  previous_state_ = state_;
  state_ = state;
  // A deletion that failed leaves the group as old as it was.
  const bool deletion = state == GroupState::dead || previous_state_ == GroupState::dead;
  if (!deletion) state_timestamp_ms_ = wall_ms;
}

Member* Group::find_member(std::string_view member_id) const {
  const auto found = by_id_.find(member_id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

Member* Group::find_static(std::string_view instance_id) const {
  const auto found = by_instance_.find(instance_id);
  return found == by_instance_.end() ? nullptr : found->second;
}

bool Group::awaits_any_sync() const {
  return std::ranges::any_of(members_, [](const Member* member) { return member->awaits_sync; });
}

int32_t Group::rebalance_timeout_ms() const {
  int32_t longest = 0;
  for (const Member* member : members_) longest = std::max(longest, member->rebalance_timeout_ms);
  return longest;
}

Member& Group::insert(std::unique_ptr<Member> owned) {
  Member& member = *owned;
  ASSERT(!by_id_.contains(member.id()), "member {} twice", member.id());
  if (member.instance_id) {
    const bool inserted = by_instance_.emplace(*member.instance_id, &member).second;
    ASSERT(inserted, "instance {} twice", *member.instance_id);
  }
  count_protocols(member, +1);
  metadata_size_ += member.metadata_size();
  members_memory_ += member.memory_size();
  members_.push_back(&member);
  by_id_.emplace(member.id(), std::move(owned));
  return member;
}

Member& Group::add(std::unique_ptr<Member> owned, std::string_view protocol_type) {
  if (members_.empty()) {
    protocol_type_ = std::string(protocol_type);
    leader_id_ = owned->id();
  }
  ASSERT(protocol_type_ == protocol_type);
  remove_pending(owned->id());
  return insert(std::move(owned));
}

void Group::remove(Member& member) {
  ASSERT(!member.is_parked());
  count_protocols(member, -1);
  metadata_size_ -= member.metadata_size();
  members_memory_ -= member.memory_size();
  if (member.instance_id) by_instance_.erase(*member.instance_id);
  members_.erase(std::ranges::find(members_, &member));
  if (leader_id_ == member.id()) leader_id_ = members_.empty() ? "" : members_.front()->id();
  by_id_.erase(by_id_.find(member.id()));
}

void Group::update(Member& member, const wire::JoinGroupRequest& request,
                   int32_t rebalance_timeout_ms) {
  count_protocols(member, -1);
  metadata_size_ -= member.metadata_size();
  members_memory_ -= member.memory_size();
  member.protocols.clear();
  member.protocols.reserve(request.protocols.size());
  for (const auto& protocol : request.protocols) {
    member.protocols.push_back({std::string(protocol.name),
                                {protocol.metadata.begin(), protocol.metadata.end()}});
  }
  member.rebalance_timeout_ms = rebalance_timeout_ms;
  member.session_timeout_ms = request.session_timeout_ms;
  count_protocols(member, +1);
  metadata_size_ += member.metadata_size();
  members_memory_ += member.memory_size();
}

void Group::replace_id(Member& member, std::string member_id) {
  ASSERT(member.is_static() && !member.is_parked() && !by_id_.contains(member_id));
  auto node = by_id_.extract(by_id_.find(member.id()));
  ASSERT(!node.empty());
  if (leader_id_ == member.id()) leader_id_ = member_id;
  members_memory_ += member_id.size();
  members_memory_ -= member.id_.size();
  node.key() = member_id;
  member.id_ = std::move(member_id);
  by_id_.insert(std::move(node));
}

void Group::set_client(Member& member, std::string_view client_id, std::string_view client_host) {
  members_memory_ += client_id.size() + client_host.size();
  members_memory_ -= member.client_id.size() + member.client_host.size();
  member.client_id = client_id;
  member.client_host = client_host;
}

void Group::set_assignment(Member& member, std::vector<std::byte> assignment) {
  members_memory_ += assignment.size();
  members_memory_ -= member.assignment.size();
  member.assignment = std::move(assignment);
}

void Group::park_join(Member& member, JoinGroupCall& call) {
  ASSERT(member.join_call == nullptr);
  member.join_call = &call;
  ++awaiting_join_;
}

JoinGroupCall* Group::take_join(Member& member) {
  JoinGroupCall* const call = member.join_call;
  if (call != nullptr) --awaiting_join_;
  member.join_call = nullptr;
  return call;
}

PendingMember& Group::add_pending(std::string member_id) {
  auto pending = std::make_unique<PendingMember>(*this, timeouts_, member_id);
  members_memory_ += pending->memory_size();
  return *pending_.emplace(std::move(member_id), std::move(pending)).first->second;
}

void Group::remove_pending(std::string_view member_id) {
  const auto found = pending_.find(member_id);
  if (found == pending_.end()) return;
  members_memory_ -= found->second->memory_size();
  pending_.erase(found);
}

bool Group::supports(std::string_view protocol_type,
                     std::span<const wire::JoinGroupRequest::Protocol> protocols) const {
  if (is(GroupState::empty)) return !protocol_type.empty() && !protocols.empty();
  if (protocol_type_ != protocol_type) return false;
  return std::ranges::any_of(protocols, [&](const auto& protocol) {
    const auto found = protocol_counts_.find(protocol.name);
    const int count = found == protocol_counts_.end() ? 0 : found->second;
    return static_cast<size_t>(count) == members_.size();
  });
}

namespace {

// Equal votes go the way they go in Kafka: by the order of a HashMap of up to 12 names.
size_t tie_order(std::string_view protocol) {
  const auto hash = static_cast<uint32_t>(java_string_hash(protocol));
  return (hash ^ hash >> 16) & 15;
}

}  // namespace

std::string Group::select_protocol() const {
  ASSERT(!members_.empty());
  const auto is_candidate = [&](std::string_view protocol) {
    const auto found = protocol_counts_.find(protocol);
    return found != protocol_counts_.end() &&
           static_cast<size_t>(found->second) == members_.size();
  };
  std::unordered_map<std::string_view, size_t> votes;
  for (const Member* member : members_) {
    for (const Protocol& protocol : member->protocols) {
      if (!is_candidate(protocol.name)) continue;
      ++votes[protocol.name];
      break;
    }
  }
  ASSERT(!votes.empty(), "no protocol that all members of {} know", id_);
  const auto better = [](const auto& a, const auto& b) {
    if (a.second != b.second) return a.second < b.second;
    if (tie_order(a.first) != tie_order(b.first)) return tie_order(a.first) > tie_order(b.first);
    return a.first > b.first;
  };
  return std::string(std::ranges::max_element(votes, better)->first);
}

bool Group::elect_leader() {
  const Member* const leader = find_member(leader_id_);
  if (leader == nullptr) return false;
  if (leader->join_call != nullptr) return true;
  for (const Member* member : members_) {
    if (member->join_call == nullptr) continue;
    leader_id_ = member->id();
    return true;
  }
  return false;
}

void Group::next_generation(int64_t wall_ms) {
  // After 2^31 - 1 rebalances Kafka would go negative; start again like a new group.
  generation_ = generation_ == INT32_MAX ? 1 : generation_ + 1;
  plan_in_flight = false;
  for (Member* member : members_) member->awaits_sync = false;
  if (members_.empty()) {
    protocol_.reset();
    transition_to(GroupState::empty, wall_ms);
  } else {
    protocol_ = select_protocol();
    transition_to(GroupState::completing_rebalance, wall_ms);
  }
}

ErrorCode Group::check_member(std::string_view member_id,
                              const wire::NullableString& instance_id) const {
  if (instance_id) {
    const Member* const holder = find_static(*instance_id);
    if (holder == nullptr) return ErrorCode::unknown_member_id;
    if (holder->id() != member_id) return ErrorCode::fenced_instance_id;
  }
  return find_member(member_id) == nullptr ? ErrorCode::unknown_member_id : ErrorCode::none;
}

void Group::restore(std::optional<std::string> protocol_type, int32_t generation,
                    std::optional<std::string> protocol, int64_t state_timestamp_ms) {
  ASSERT(members_.empty());
  protocol_type_ = std::move(protocol_type);
  protocol_ = std::move(protocol);
  generation_ = generation;
  state_ = previous_state_ = GroupState::empty;
  state_timestamp_ms_ = state_timestamp_ms;
  leader_id_.clear();
}

void Group::restore_member(std::unique_ptr<Member> member) {
  member->is_new = false;
  state_ = GroupState::stable;
  if (members_.empty()) leader_id_ = member->id();
  insert(std::move(member));
}

void Group::restore_leader(std::string_view leader_id) {
  if (find_member(leader_id) != nullptr) leader_id_ = leader_id;
}

void Group::forget_members() {
  while (!members_.empty()) remove(*members_.back());
  members_memory_ = 0;
  metadata_size_ = 0;
}

size_t Group::memory_size() const {
  return kGroupCost + 2 * id_.size() + members_memory_ + offsets.memory_size() +
         (consumer ? consumer->memory_size() : 0);
}

void Group::count_protocols(const Member& member, int by) {
  // A name that a member lists twice counts once.
  for (size_t i = 0; i < member.protocols.size(); ++i) {
    const std::string& protocol = member.protocols[i].name;
    const auto same = [&](const Protocol& other) { return other.name == protocol; };
    if (std::any_of(member.protocols.begin(),
                    member.protocols.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      continue;
    }
    int& count = protocol_counts_[protocol];
    count += by;
    if (count == 0) protocol_counts_.erase(protocol);
  }
}

}  // namespace weir::group
