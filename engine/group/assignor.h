#pragma once
// Assignors: who of a consumer group is to have which partitions (KIP-848). Pure functions of their
// input, equal on every run. Every partition of a topic goes to exactly one of its subscribers.
//
//   uniform  as many partitions for everybody as subscriptions allow; as few moves as that takes
//   range    of each topic a run of neighbours; members with equal subscriptions have the same run
//            of every topic with as many partitions
//
// Any result that is balanced and sticky is one that clients accept: they are told, not asked.

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/group/assignment.h"

namespace weir::group {

struct AssignorMember {
  std::string_view id;
  std::optional<std::string_view> instance_id;
  std::vector<base::Uuid> topics;       // subscribed, ascending, each one of the input's
  const Assignment* current = nullptr;  // what it was to have before
};

struct AssignorInput {
  std::vector<AssignorMember> members;
  std::map<base::Uuid, int32_t> partition_counts;
};

// By these names they are asked for.
inline constexpr std::string_view kUniformAssignor = "uniform";
inline constexpr std::string_view kRangeAssignor = "range";

// In the order of the members.
using Assignments = std::vector<Assignment>;

[[nodiscard]] Assignments assign_uniform(const AssignorInput& input);
[[nodiscard]] Assignments assign_range(const AssignorInput& input);

}  // namespace weir::group
