#include "engine/group/reconciliation.h"

#include <algorithm>
#include <iterator>

namespace weir::group {

namespace {

// The set operation on the partitions of one topic after the other.
template <class Operation>
Assignment combine(const Assignment& a, const Assignment& b, Operation operation) {
  static const std::vector<int32_t> nothing;
  Assignment result;
  for (const auto& [topic, partitions] : a) {
    const auto found = b.find(topic);
    std::vector<int32_t> left;
    operation(partitions, found == b.end() ? nothing : found->second, std::back_inserter(left));
    if (!left.empty()) result.emplace(topic, std::move(left));
  }
  return result;
}

void merge(const Assignment& from, Assignment& into) {
  for (const auto& [topic, partitions] : from) {
    std::vector<int32_t> both;
    auto& present = into[topic];
    std::ranges::set_union(present, partitions, std::back_inserter(both));
    present = std::move(both);
  }
}

// Takes out what others hold; true when there was any.
bool drop_held(Assignment& wanted, const PartitionOwners& owners) {
  bool any = false;
  for (auto entry = wanted.begin(); entry != wanted.end();) {
    const size_t held = std::erase_if(entry->second, [&](int32_t partition) {
      return owners.is_owned(entry->first, partition);
    });
    any = any || held > 0;
    entry = entry->second.empty() ? wanted.erase(entry) : std::next(entry);
  }
  return any;
}

bool still_has(const Assignment& revoked, const Assignment* owned) {
  return owned == nullptr || intersects(revoked, *owned);
}

CurrentAssignment next(const CurrentAssignment& current, int32_t epoch, int32_t target_epoch,
                       const Assignment& target, const Assignment* owned,
                       const PartitionOwners& owners) {
  CurrentAssignment result;
  const auto set_epoch = [&](int32_t to) {
    result.epoch = to;
    result.previous_epoch = to == current.epoch ? current.previous_epoch : current.epoch;
  };
  result.assigned = combine(current.assigned, target, std::ranges::set_intersection);
  Assignment revoked = combine(current.assigned, target, std::ranges::set_difference);
  if (!revoked.empty() && still_has(revoked, owned)) {
    result.state = MemberState::unrevoked_partitions;
    set_epoch(epoch);
    result.pending_revocation = std::move(revoked);
    return result;
  }
  Assignment wanted = combine(target, result.assigned, std::ranges::set_difference);
  const bool waits = drop_held(wanted, owners);
  merge(wanted, result.assigned);
  result.state = waits ? MemberState::unreleased_partitions : MemberState::stable;
  set_epoch(target_epoch);
  return result;
}

}  // namespace

CurrentAssignment reconcile(const CurrentAssignment& current, int32_t target_epoch,
                            const Assignment& target, const Assignment* owned,
                            const PartitionOwners& owners) {
  switch (current.state) {
    case MemberState::stable:
      if (current.epoch == target_epoch) return current;
      return next(current, current.epoch, target_epoch, target, owned, owners);
    case MemberState::unrevoked_partitions:
      if (still_has(current.pending_revocation, owned)) return current;
      // Done with that revocation; the newest target may ask for another one.
      return next(current, current.epoch + 1, target_epoch, target, owned, owners);
    case MemberState::unreleased_partitions:
      return next(current, current.epoch, target_epoch, target, owned, owners);
  }
  return current;
}

}  // namespace weir::group
