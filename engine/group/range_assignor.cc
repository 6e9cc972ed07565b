#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/group/assignor.h"

namespace weir::group {

namespace {

// Where a member stands among the subscribers of every topic. Whoever has partitions stays where
// those are, so that a join or a leave moves the borders of runs and not their order.
using Place = std::tuple<int32_t, bool, std::string_view, std::string_view>;

Place place_of(const AssignorMember& member) {
  int32_t first = std::numeric_limits<int32_t>::max();
  for (const auto& [topic, partitions] : *member.current) {
    if (!partitions.empty()) first = std::min(first, partitions.front());
  }
  return {first, !member.instance_id.has_value(), member.instance_id.value_or(""), member.id};
}

}  // namespace

Assignments assign_range(const AssignorInput& input) {
  std::vector<std::pair<Place, size_t>> order;
  for (size_t i = 0; i < input.members.size(); ++i) {
    order.emplace_back(place_of(input.members[i]), i);
  }
  std::ranges::sort(order);
  std::map<base::Uuid, std::vector<size_t>> subscribers;
  for (const auto& [place, index] : order) {
    for (const base::Uuid& topic : input.members[index].topics) subscribers[topic].push_back(index);
  }
  Assignments result(input.members.size());
  for (const auto& [topic, members] : subscribers) {
    const int32_t partitions = input.partition_counts.at(topic);
    const auto count = static_cast<int32_t>(members.size());
    int32_t next = 0;
    for (int32_t i = 0; i < count && next < partitions; ++i) {
      const int32_t run = partitions / count + (i < partitions % count ? 1 : 0);
      auto& assigned = result[members[static_cast<size_t>(i)]][topic];
      for (int32_t k = 0; k < run; ++k) assigned.push_back(next++);
    }
  }
  return result;
}

}  // namespace weir::group
