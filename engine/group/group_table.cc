#include "engine/group/group_table.h"

#include "engine/group/limits.h"

namespace weir::group {

Group* GroupTable::find(std::string_view group_id) const {
  const auto found = groups_.find(group_id);
  return found == groups_.end() ? nullptr : found->second.get();
}

Group* GroupTable::create(std::string_view group_id, model::PartitionIndex partition,
                          GroupTimeouts& timeouts) {
  ASSERT(find(group_id) == nullptr);
  if (groups_.size() >= kGroupsPerCoreMax) {
    log_limit("groups");
    return nullptr;
  }
  if (!has_room(kGroupCost + 2 * group_id.size())) return nullptr;
  return &insert(group_id, partition, timeouts);
}

Group& GroupTable::find_or_restore(std::string_view group_id, model::PartitionIndex partition,
                                   GroupTimeouts& timeouts) {
  Group* const group = find(group_id);
  return group != nullptr ? *group : insert(group_id, partition, timeouts);
}

Group& GroupTable::insert(std::string_view group_id, model::PartitionIndex partition,
                          GroupTimeouts& timeouts) {
  auto owned = std::make_unique<Group>(std::string(group_id), partition, timeouts);
  Group& group = *owned;
  groups_.emplace(group.id(), std::move(owned));
  order_.push_back(group);
  metrics_.groups = groups_.size();
  account(group);
  return group;
}

void GroupTable::account(Group& group) {
  const size_t size = group.memory_size();
  memory_size_ = memory_size_ - group.counted_memory + size;
  const size_t members =
      group.member_count() + (group.consumer ? group.consumer->member_count() : 0);
  metrics_.members = metrics_.members - group.counted_members + members;
  metrics_.offsets = metrics_.offsets - group.counted_offsets + group.offsets.value_count();
  group.counted_memory = size;
  group.counted_members = members;
  group.counted_offsets = group.offsets.value_count();
}

bool GroupTable::has_room(size_t size) {
  if (memory_size_ + size <= kMemorySizeMax) return true;
  log_limit("memory");
  return false;
}

void GroupTable::forget_if_idle(Group& group) {
  account(group);
  const bool idle = group.is_empty() && group.member_count() == 0 && group.pending_count() == 0 &&
                    group.offsets.empty() && !group.on_log && group.writes_in_flight == 0;
  if (idle) erase(group);
}

void GroupTable::erase(Group& group) {
  ASSERT(group.member_count() == 0 && group.writes_in_flight == 0);
  memory_size_ -= group.counted_memory;
  metrics_.members -= group.counted_members;
  metrics_.offsets -= group.counted_offsets;
  group.unlink();
  groups_.erase(groups_.find(group.id()));
  metrics_.groups = groups_.size();
}

void GroupTable::log_limit(std::string_view what) {
  ++metrics_.refused_for_limits;
  if (!limiter_.allow(io_.clock.now().ns)) return;
  base::log_warning("group", "limit reached what={} groups={} memory_bytes={}", what,
                    groups_.size(), memory_size_);
}

}  // namespace weir::group
