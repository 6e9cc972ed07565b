#include "engine/group/assignment.h"

#include <algorithm>

#include "io/base/assert.h"

namespace weir::group {

namespace {

// Of one topic in an assignment, besides its partitions.
constexpr size_t kTopicCost = 96;

}  // namespace

size_t partition_count(const Assignment& assignment) {
  size_t count = 0;
  for (const auto& [topic, partitions] : assignment) count += partitions.size();
  return count;
}

bool contains(const Assignment& assignment, const base::Uuid& topic, int32_t partition) {
  const auto found = assignment.find(topic);
  return found != assignment.end() && std::ranges::binary_search(found->second, partition);
}

bool is_subset(const Assignment& part, const Assignment& whole) {
  return std::ranges::all_of(part, [&](const auto& entry) {
    const auto found = whole.find(entry.first);
    return found != whole.end() && std::ranges::includes(found->second, entry.second);
  });
}

bool intersects(const Assignment& a, const Assignment& b) {
  return std::ranges::any_of(a, [&](const auto& entry) {
    return std::ranges::any_of(entry.second, [&](int32_t partition) {
      return contains(b, entry.first, partition);
    });
  });
}

size_t memory_size(const Assignment& assignment) {
  size_t size = 0;
  for (const auto& [topic, partitions] : assignment) {
    size += kTopicCost + partitions.size() * sizeof(int32_t);
  }
  return size;
}

void PartitionOwners::add(const Assignment& assignment) {
  for (const auto& [topic, partitions] : assignment) {
    auto& holders = holders_[topic];
    for (const int32_t partition : partitions) ++holders[partition];
  }
}

void PartitionOwners::remove(const Assignment& assignment) {
  for (const auto& [topic, partitions] : assignment) {
    const auto found = holders_.find(topic);
    ASSERT(found != holders_.end());
    for (const int32_t partition : partitions) {
      const auto holder = found->second.find(partition);
      ASSERT(holder != found->second.end());
      if (--holder->second == 0) found->second.erase(holder);
    }
    if (found->second.empty()) holders_.erase(found);
  }
}

bool PartitionOwners::is_owned(const base::Uuid& topic, int32_t partition) const {
  const auto found = holders_.find(topic);
  return found != holders_.end() && found->second.contains(partition);
}

}  // namespace weir::group
