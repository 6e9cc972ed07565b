#pragma once
// Moving a group's committed offsets: what the new ones are, and committing them. The group must
// have
// no members meanwhile.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/weir/cluster.h"

namespace weir::tools {

// Where to: the one thing that was asked for.
struct ResetTarget {
  enum class Kind : uint8_t { earliest, latest, offset, time };
  Kind kind = Kind::earliest;
  int64_t value = 0;  // offset, or milliseconds since the epoch
};

struct ResetStep {
  PartitionName name;
  int64_t from = -1;  // -1: not committed before
  int64_t to = 0;     // within log start ... log end
};

// topics: "name" or "name:0,2"; none: every partition the group has committed to.
std::vector<ResetStep> plan_reset(WireClient& client, const std::string& group_id,
                                  const std::vector<std::string>& topics,
                                  const ResetTarget& target);

// Commits all steps. Throws Failure, with what to do, when the group has members.
void execute_reset(WireClient& client, const std::string& group_id,
                   const std::vector<ResetStep>& steps);

}  // namespace weir::tools
