// Every rule of reconciliation, one row each; then many members that follow it at random: no
// partition is with two members at any moment, and everything is where it belongs at rest.
#include "engine/group/reconciliation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/base/random.h"

namespace weir::group {
namespace {

using enum MemberState;

const base::Uuid kTopic = [] {
  base::Uuid id;
  id.bytes[0] = std::byte{1};
  return id;
}();

Assignment of(std::vector<int32_t> partitions) {
  if (partitions.empty()) return {};
  return {{kTopic, std::move(partitions)}};
}

PartitionOwners held(const Assignment& partitions) {
  PartitionOwners owners;
  owners.add(partitions);
  return owners;
}

CurrentAssignment has(MemberState state, int32_t epoch, std::vector<int32_t> assigned,
                      std::vector<int32_t> revoking = {}) {
  return {.state = state,
          .epoch = epoch,
          .previous_epoch = epoch - 1,
          .assigned = of(std::move(assigned)),
          .pending_revocation = of(std::move(revoking))};
}

TEST(Reconciliation, StableInTheTargetsEpochStays) {
  const auto current = has(stable, 5, {1, 2});
  EXPECT_EQ(reconcile(current, 5, of({3}), nullptr, held(of({1, 2}))), current);
}

TEST(Reconciliation, ANewMemberIsGivenWhatIsFree) {
  const auto after = reconcile(has(stable, 0, {}), 7, of({1, 2}), nullptr, {});
  EXPECT_EQ(after.state, stable);
  EXPECT_EQ(after.epoch, 7);
  EXPECT_EQ(after.previous_epoch, 0);
  EXPECT_EQ(after.assigned, of({1, 2}));
}

TEST(Reconciliation, WhatOthersHoldIsWaitedFor) {
  auto after = reconcile(has(stable, 0, {}), 7, of({1, 2}), nullptr, held(of({2})));
  EXPECT_EQ(after.state, unreleased_partitions);
  EXPECT_EQ(after.epoch, 7);
  EXPECT_EQ(after.assigned, of({1}));
  // Nothing has changed: nothing changes, and the epoch before stays acceptable.
  const auto waiting = reconcile(after, 7, of({1, 2}), nullptr, held(of({1, 2})));
  EXPECT_EQ(waiting, after);
  after = reconcile(after, 7, of({1, 2}), nullptr, held(of({1})));
  EXPECT_EQ(after.state, stable);
  EXPECT_EQ(after.assigned, of({1, 2}));
  // It may have to give back before it was given everything.
  after = reconcile(has(unreleased_partitions, 7, {1}), 8, of({2}), nullptr, held(of({1, 2})));
  EXPECT_EQ(after.state, unrevoked_partitions);
  EXPECT_EQ(after.pending_revocation, of({1}));
}

TEST(Reconciliation, GivesBackFirst) {
  const auto current = has(stable, 5, {1, 2});
  const auto owners = held(of({1, 2}));
  auto after = reconcile(current, 6, of({2, 3}), nullptr, owners);
  EXPECT_EQ(after.state, unrevoked_partitions);
  EXPECT_EQ(after.epoch, 5);
  EXPECT_EQ(after.assigned, of({2}));
  EXPECT_EQ(after.pending_revocation, of({1}));
  // Until its list is without them.
  EXPECT_EQ(reconcile(after, 6, of({2, 3}), nullptr, owners), after);
  const Assignment both = of({1, 2});
  EXPECT_EQ(reconcile(after, 6, of({2, 3}), &both, owners), after);
  const Assignment kept = of({2});
  after = reconcile(after, 6, of({2, 3}), &kept, owners);
  EXPECT_EQ(after.state, stable);
  EXPECT_EQ(after.epoch, 6);
  EXPECT_EQ(after.assigned, of({2, 3}));
  EXPECT_TRUE(after.pending_revocation.empty());
}

TEST(Reconciliation, WhatItNeverTookNeedNotBeGivenBack) {
  const Assignment kept = of({2});
  const auto after = reconcile(has(stable, 5, {1, 2}), 6, of({2}), &kept, held(of({1, 2})));
  EXPECT_EQ(after.state, stable);
  EXPECT_EQ(after.assigned, of({2}));
}

TEST(Reconciliation, ANewerTargetMayAskForMore) {
  const Assignment kept = of({2, 3});
  const auto after = reconcile(has(unrevoked_partitions, 5, {2, 3}, {1}), 8, of({3}), &kept,
                               held(of({1, 2, 3})));
  EXPECT_EQ(after.state, unrevoked_partitions);
  EXPECT_EQ(after.epoch, 6);
  EXPECT_EQ(after.previous_epoch, 5);
  EXPECT_EQ(after.pending_revocation, of({2}));
}

// What it is giving back is in its target again: given once it has let go.
TEST(Reconciliation, TakesBackWhatItGaveBack) {
  const Assignment nothing;
  auto after = reconcile(has(unrevoked_partitions, 5, {}, {1}), 7, of({1}), &nothing,
                         held(of({1})));
  EXPECT_EQ(after.state, unreleased_partitions);
  after = reconcile(after, 7, of({1}), &nothing, {});
  EXPECT_EQ(after.state, stable);
  EXPECT_EQ(after.assigned, of({1}));
}

struct Actor {
  CurrentAssignment current;
  Assignment target;
  Assignment owned;  // what the client has: told by an answer, given back of its own accord later
};

void expect_one_owner(const std::vector<Actor>& actors) {
  std::map<int32_t, int> holders;
  for (const Actor& actor : actors) {
    const auto found = actor.owned.find(kTopic);
    if (found == actor.owned.end()) continue;
    for (const int32_t partition : found->second) {
      EXPECT_EQ(++holders[partition], 1) << "partition " << partition << " has two owners";
    }
  }
}

TEST(Reconciliation, NeverTwoOwnersAndEverythingAtRest) {
  constexpr int32_t kPartitionCount = 12;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    base::RandomStream random(seed);
    std::vector<Actor> actors(4);
    PartitionOwners owners;
    int32_t epoch = 0;
    const auto new_target = [&] {
      ++epoch;
      for (Actor& actor : actors) actor.target.clear();
      for (int32_t p = 0; p < kPartitionCount; ++p) {
        actors[random.below(actors.size())].target[kTopic].push_back(p);
      }
    };
    const auto beat = [&](Actor& actor, bool tells) {
      const Assignment told = actor.owned;
      auto after = reconcile(actor.current, epoch, actor.target, tells ? &told : nullptr, owners);
      owners.remove(actor.current.assigned);
      owners.remove(actor.current.pending_revocation);
      owners.add(after.assigned);
      owners.add(after.pending_revocation);
      actor.current = std::move(after);
      // The client does what it is told: at once it has less, and more.
      actor.owned = actor.current.assigned;
      expect_one_owner(actors);
    };
    for (int step = 0; step < 60; ++step) {
      if (random.below(8) == 0) new_target();
      beat(actors[random.below(actors.size())], random.below(3) > 0);
    }
    new_target();
    for (int round = 0; round < 12; ++round) {
      for (Actor& actor : actors) beat(actor, true);
    }
    for (const Actor& actor : actors) {
      EXPECT_TRUE(actor.current.is_reconciled_to(epoch));
      EXPECT_EQ(actor.owned, actor.target);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir::group
