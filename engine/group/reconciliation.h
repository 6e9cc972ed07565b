#pragma once
// Reconciliation: how one member gets from what it has to what it is to have (KIP-848,
// CurrentAssignmentBuilder). Pure.
//
//   to give back     = what it has, less its target
//   to be given      = its target, less what it has, less what others still hold
//
// First it gives back: it stays in its epoch until its heartbeat lists none of that any more
// (unrevoked_partitions). Then it is given what is free and takes the target's epoch: stable, or
// unreleased_partitions while others hold something of its target. So no partition is ever told to
// two members at once.

#include <cstdint>

#include "engine/group/assignment.h"

namespace weir::group {

// Numbers of the log (MemberState).
enum class MemberState : uint8_t {
  stable = 1,
  unrevoked_partitions = 2,
  unreleased_partitions = 3,
};

struct CurrentAssignment {
  MemberState state = MemberState::stable;
  int32_t epoch = 0;
  int32_t previous_epoch = 0;  // accepted too: the answer with the newer one may have been lost
  Assignment assigned{};
  Assignment pending_revocation{};

  bool operator==(const CurrentAssignment&) const = default;
  bool is_reconciled_to(int32_t target_epoch) const {
    return state == MemberState::stable && epoch == target_epoch;
  }
};

// owned: what the member says it has, null when it said nothing. owners: of the group, this member
// included.
[[nodiscard]] CurrentAssignment reconcile(const CurrentAssignment& current, int32_t target_epoch,
                                          const Assignment& target, const Assignment* owned,
                                          const PartitionOwners& owners);

}  // namespace weir::group
