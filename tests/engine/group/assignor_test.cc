// Assignors over random groups: every partition of a subscribed topic has exactly one owner, who
// subscribes to it; nobody could be relieved; what need not move stays; the order of members does
// not matter. And a few groups by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "engine/group/assignor.h"
#include "io/base/random.h"

namespace weir::group {
namespace {

base::Uuid topic_id(size_t n) {
  base::Uuid id;
  id.bytes[0] = static_cast<std::byte>(n + 1);
  return id;
}

// A group that lives on from one assignment to the next.
struct World {
  struct Member {
    std::string id;
    std::set<size_t> topics;
    Assignment current;
  };
  std::vector<Member> members;
  std::map<base::Uuid, int32_t> counts;

  AssignorInput input() const {
    AssignorInput input;
    input.partition_counts = counts;
    for (const Member& member : members) {
      AssignorMember& added = input.members.emplace_back();
      added.id = member.id;
      added.current = &member.current;
      for (const size_t topic : member.topics) {
        if (counts.contains(topic_id(topic))) added.topics.push_back(topic_id(topic));
      }
    }
    return input;
  }
  void take(const Assignments& assignments) {
    for (size_t i = 0; i < members.size(); ++i) members[i].current = assignments[i];
  }
  void set_topic(size_t topic, int32_t partitions) { counts[topic_id(topic)] = partitions; }
};

void expect_valid(const World& world, const Assignments& result) {
  ASSERT_EQ(result.size(), world.members.size());
  std::map<base::Uuid, std::set<int32_t>> given;
  for (size_t i = 0; i < result.size(); ++i) {
    for (const auto& [topic, partitions] : result[i]) {
      EXPECT_FALSE(partitions.empty());
      EXPECT_TRUE(std::ranges::is_sorted(partitions));
      const auto subscribes = [&](size_t n) { return topic_id(n) == topic; };
      EXPECT_TRUE(std::ranges::any_of(world.members[i].topics, subscribes));
      for (const int32_t partition : partitions) {
        EXPECT_TRUE(given[topic].insert(partition).second) << "two owners";
        EXPECT_LT(partition, world.counts.at(topic));
      }
    }
  }
  for (const auto& member : world.members) {
    for (const size_t topic : member.topics) {
      const auto count = world.counts.find(topic_id(topic));
      if (count == world.counts.end()) continue;
      EXPECT_EQ(given[count->first].size(), static_cast<size_t>(count->second)) << "left over";
    }
  }
}

// No partition could go to a subscriber that has two less than its owner.
void expect_balanced(const World& world, const Assignments& result) {
  for (size_t a = 0; a < result.size(); ++a) {
    for (size_t b = 0; b < result.size(); ++b) {
      for (const size_t topic : world.members[b].topics) {
        if (!result[a].contains(topic_id(topic))) continue;
        EXPECT_LE(partition_count(result[a]), partition_count(result[b]) + 1);
      }
    }
  }
}

size_t moved(const World& world, const Assignments& result) {
  size_t count = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    for (const auto& [topic, partitions] : world.members[i].current) {
      for (const int32_t partition : partitions) count += !contains(result[i], topic, partition);
    }
  }
  return count;
}

World random_world(base::RandomStream& random, bool equal) {
  World world;
  const size_t topics = 1 + random.below(6);
  for (size_t t = 0; t < topics; ++t) {
    world.set_topic(t, static_cast<int32_t>(random.below(12)));
  }
  const size_t members = 1 + random.below(8);
  std::set<size_t> all;
  for (size_t t = 0; t <= topics; ++t) all.insert(t);  // one of them does not exist
  for (size_t m = 0; m < members; ++m) {
    World::Member& member = world.members.emplace_back();
    member.id = "m" + std::to_string(random.below(1'000'000'000));
    if (equal) {
      member.topics = all;
      continue;
    }
    for (const size_t t : all) {
      if (random.below(2) == 0) member.topics.insert(t);
    }
  }
  return world;
}

void change(World& world, base::RandomStream& random, bool equal) {
  const size_t what = random.below(4);
  if (what == 0 && world.members.size() > 1) {
    world.members.erase(world.members.begin() +
                        static_cast<std::ptrdiff_t>(random.below(world.members.size())));
  } else if (what == 1) {
    World::Member member = world.members.front();
    member.id += "x" + std::to_string(random.below(1'000'000));
    member.current.clear();
    world.members.push_back(member);
  } else if (what == 2) {
    const size_t topic = random.below(6);
    world.set_topic(topic, static_cast<int32_t>(random.below(14)));
  } else if (!equal) {
    auto& topics = world.members[random.below(world.members.size())].topics;
    const size_t topic = random.below(6);
    if (topics.erase(topic) == 0) topics.insert(topic);
  }
}

void run_uniform(bool equal) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    base::RandomStream random(seed);
    World world = random_world(random, equal);
    for (int step = 0; step < 12; ++step) {
      const Assignments result = assign_uniform(world.input());
      expect_valid(world, result);
      expect_balanced(world, result);
      // In another order the same.
      AssignorInput turned = world.input();
      std::ranges::reverse(turned.members);
      Assignments again = assign_uniform(turned);
      std::ranges::reverse(again);
      EXPECT_EQ(again, result);
      world.take(result);
      EXPECT_EQ(moved(world, assign_uniform(world.input())), 0u) << "moved for nothing";
      if (::testing::Test::HasFailure()) return;
      change(world, random, equal);
    }
  }
}

TEST(UniformAssignor, EqualSubscriptions) { run_uniform(true); }
TEST(UniformAssignor, AnySubscriptions) { run_uniform(false); }

TEST(UniformAssignor, AJoinMovesNoMoreThanItsShare) {
  for (size_t members = 1; members < 20; ++members) {
    World world;
    world.set_topic(0, 30);
    world.set_topic(1, 31);
    for (size_t m = 0; m < members; ++m) {
      world.members.push_back({"m" + std::to_string(m), {0, 1}, {}});
    }
    world.take(assign_uniform(world.input()));
    world.members.push_back({"new", {0, 1}, {}});
    const Assignments result = assign_uniform(world.input());
    EXPECT_EQ(moved(world, result), partition_count(result.back()));
    EXPECT_LE(partition_count(result.back()), 61 / (members + 1) + 1);
    // And a leave moves what the one who left had.
    world.take(result);
    world.members.erase(world.members.begin());
    EXPECT_EQ(moved(world, assign_uniform(world.input())), 0u);
  }
}

// Partitions reach whoever has room over a third member, though no two of them differ by two.
TEST(UniformAssignor, EvensOutOverOthers) {
  World world;
  world.set_topic(0, 3);
  world.set_topic(1, 3);
  world.members.push_back({"a", {0}, {}});
  world.members.push_back({"b", {0, 1}, {}});
  world.members.push_back({"c", {1}, {}});
  world.members[0].current = {{topic_id(0), {0, 1, 2}}};
  world.members[1].current = {{topic_id(1), {0, 1}}};
  world.members[2].current = {{topic_id(1), {2}}};
  const Assignments result = assign_uniform(world.input());
  expect_valid(world, result);
  for (const Assignment& assignment : result) EXPECT_EQ(partition_count(assignment), 2u);
}

// A large group whose members agree on nothing.
TEST(UniformAssignor, ManyMembersOfManyMinds) {
  World world;
  base::RandomStream random(1);
  for (size_t t = 0; t < 200; ++t) world.set_topic(t, 60);
  for (size_t m = 0; m < 1'500; ++m) {
    World::Member& member = world.members.emplace_back();
    member.id = "m" + std::to_string(m);
    while (member.topics.size() < 40) member.topics.insert(random.below(200));
  }
  expect_valid(world, assign_uniform(world.input()));
}

TEST(UniformAssignor, NobodyAndNothing) {
  EXPECT_TRUE(assign_uniform({}).empty());
  World world;
  world.members.push_back({"a", {7}, {}});
  EXPECT_TRUE(assign_uniform(world.input())[0].empty());
  world.set_topic(7, 0);
  EXPECT_TRUE(assign_uniform(world.input())[0].empty());
}

TEST(RangeAssignor, RunsOfNeighboursThatStay) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    base::RandomStream random(seed);
    World world = random_world(random, seed % 2 == 0);
    for (int step = 0; step < 12; ++step) {
      const Assignments result = assign_range(world.input());
      expect_valid(world, result);
      std::map<base::Uuid, std::pair<size_t, size_t>> sizes;
      for (size_t i = 0; i < result.size(); ++i) {
        for (const base::Uuid& topic : world.input().members[i].topics) {
          const auto found = result[i].find(topic);
          const size_t size = found == result[i].end() ? 0 : found->second.size();
          auto [entry, is_new] = sizes.try_emplace(topic, size, size);
          entry->second = {std::min(entry->second.first, size),
                           std::max(entry->second.second, size)};
          if (size == 0) continue;
          EXPECT_EQ(found->second.back() - found->second.front() + 1,
                    static_cast<int32_t>(size));
        }
      }
      for (const auto& [topic, size] : sizes) EXPECT_LE(size.second, size.first + 1);
      if (::testing::Test::HasFailure()) return;
      world.take(result);
      change(world, random, seed % 2 == 0);
    }
  }
}

// Equal subscriptions: the same run of every topic, and the same again when nothing has changed.
TEST(RangeAssignor, TopicsGoTogether) {
  World world;
  world.set_topic(0, 10);
  world.set_topic(1, 10);
  for (const char* id : {"c", "a", "b"}) world.members.push_back({id, {0, 1}, {}});
  const Assignments first = assign_range(world.input());
  for (const Assignment& assignment : first) {
    EXPECT_EQ(assignment.at(topic_id(0)), assignment.at(topic_id(1)));
  }
  world.take(first);
  EXPECT_EQ(assign_range(world.input()), first);
  // Whoever comes gets the end, whatever its id.
  world.members.push_back({"0", {0, 1}, {}});
  EXPECT_EQ(assign_range(world.input()).back().at(topic_id(0)), (std::vector<int32_t>{8, 9}));
}

}  // namespace
}  // namespace weir::group
