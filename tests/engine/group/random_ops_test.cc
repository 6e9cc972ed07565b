// Proves, over random clients, crashes and failures of the log, what must hold whatever happens: in
// each generation one leader; generations grow while the node lives; a member's assignment is what
// the leader of that generation handed out, so that no partition has two owners in a generation;
// acknowledged commits are there, also after a crash; every call comes back; a group left alone
// settles (F47, F48).

#include <gtest/gtest.h>

#include <set>

#include "tests/engine/group/group_world.h"

namespace weir::group {

namespace {

constexpr int kPartitions = 6;

// A consumer that behaves, most of the time.
struct Client {
  std::optional<std::string> instance;
  std::string member;
  int32_t generation = -1;
  std::string assignment;  // partitions it believes to own, while `owns`
  bool owns = false;
  bool gone = false;
  std::shared_ptr<Join> join;
  std::shared_ptr<Sync> sync;
};

class Storm {
 public:
  explicit Storm(uint64_t seed) : random_(seed), world_(seed) {
    world_.config.initial_rebalance_delay_ms = 100;
    for (int i = 0; i < 8; ++i) {
      clients_.emplace_back();
      if (i % 3 == 0) clients_.back().instance = "i" + std::to_string(i / 2);  // some share one
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      check();
    }
  }
  // Everybody behaves; within two rebalance timeouts all own what one leader gave them.
  void settle() {
    world_.log.hold = false;
    for (Client& client : clients_) client.gone = false;
    for (int i = 0; i < 200; ++i) {
      for (Client& client : clients_) act(client);
      world_.advance_ms(250);
      check();
    }
    std::set<char> owned;
    int32_t generation = -1;
    for (const Client& client : clients_) {
      if (fenced_.contains(&client)) continue;
      EXPECT_TRUE(client.owns);
      if (generation == -1) generation = client.generation;
      EXPECT_EQ(client.generation, generation);
      for (const char partition : client.assignment) EXPECT_TRUE(owned.insert(partition).second);
    }
    EXPECT_EQ(owned.size(), static_cast<size_t>(kPartitions));
    EXPECT_EQ(world_.state("g"), "Stable");
  }

 private:
  Client& any() { return clients_[random_.below(clients_.size())]; }

  void step() {
    const uint64_t dice = random_.below(100);
    Client& client = any();
    if (dice < 55) {
      act(client);
    } else if (dice < 70) {
      commit(client);
    } else if (dice < 78) {
      world_.advance_ms(static_cast<int64_t>(random_.below(3'000)));
    } else if (dice < 82) {
      leave(client);
    } else if (dice < 86) {
      client.gone = !client.gone;
    } else if (dice < 90) {
      forget(client);  // restarts without a word
    } else if (dice < 93) {
      nonsense(client);
    } else if (dice < 98) {
      world_.log.hold = !world_.log.hold;
      world_.run();
    } else {
      crash();
    }
  }

  // The next thing a consumer would do.
  void act(Client& client) {
    if (client.gone || fenced_.contains(&client)) return;
    poll(client);
    if (client.join || client.sync) return;
    if (client.generation < 0) {
      client.join = world_.join({.member = client.member,
                                 .instance = client.instance,
                                 .session_ms = 6'000,
                                 .rebalance_ms = 4'000});
      return;
    }
    react(client, world_.heartbeat("g", client.generation, client.member, client.instance));
  }

  void poll(Client& client) {
    if (client.join && client.join->done) on_joined(client, *std::exchange(client.join, nullptr));
    if (client.sync && client.sync->done) on_synced(client, *std::exchange(client.sync, nullptr));
  }

  void on_joined(Client& client, const Join& join) {
    if (join.error() == ErrorCode::member_id_required) {
      client.member = join.member();
      return;
    }
    if (join.error() != ErrorCode::none) return react(client, join.error());
    client.member = join.member();
    client.generation = join.generation();
    EXPECT_GE(join.generation(), last_generation_) << "generations do not go back";
    last_generation_ = std::max(last_generation_, join.generation());
    SyncArgs args{.generation = client.generation, .member = client.member,
                  .instance = client.instance};
    if (join.leads() && !join.response.skip_assignment) {
      const auto& leader =
          leaders_.emplace(std::pair(life_, client.generation), client.member).first->second;
      EXPECT_EQ(leader, client.member) << "two leaders in one generation";
      args.assignments = make_plan(join);
    }
    client.sync = world_.sync(args);
  }

  std::vector<std::pair<std::string, std::string>> make_plan(const Join& join) {
    std::vector<std::pair<std::string, std::string>> plan;
    for (const auto& member : join.response.members) plan.emplace_back(member.member_id, "");
    for (int p = 0; p < kPartitions; ++p) {
      plan[random_.below(plan.size())].second += static_cast<char>('0' + p);
    }
    return plan;
  }

  void on_synced(Client& client, const Sync& sync) {
    if (sync.error() != ErrorCode::none) return react(client, sync.error());
    client.assignment = sync.assignment();
    client.owns = true;
  }

  void react(Client& client, ErrorCode error) {
    if (error == ErrorCode::none) return;
    client.owns = false;
    if (error == ErrorCode::fenced_instance_id) {
      // Another client has the same instance id: this one stops for good.
      fenced_.insert(&client);
      return;
    }
    client.generation = -1;
    if (error == ErrorCode::unknown_member_id || error == ErrorCode::illegal_generation) {
      if (error == ErrorCode::unknown_member_id) client.member.clear();
      return;
    }
    EXPECT_TRUE(error == ErrorCode::rebalance_in_progress || error == ErrorCode::not_coordinator ||
                error == ErrorCode::group_max_size_reached)
        << static_cast<int>(error);
  }

  void commit(Client& client) {
    poll(client);
    if (!client.owns || client.assignment.empty()) return;
    const int32_t partition = client.assignment[0] - '0';
    auto commit = world_.commit({.generation = client.generation,
                                 .member = client.member,
                                 .instance = client.instance,
                                 .partitions = {partition},
                                 .offset = ++offset_});
    commits_.push_back(commit);
  }

  void leave(Client& client) {
    poll(client);
    if (client.member.empty()) return;
    world_.leave("g", {{client.member, client.instance}});
    forget(client);
  }

  void forget(Client& client) {
    client.join.reset();
    client.sync.reset();
    client.member.clear();
    client.generation = -1;
    client.owns = false;
  }

  // F48: old generations, unknown members, foreign instances must change nothing.
  void nonsense(Client& client) {
    const std::string before = world_.state("g");
    EXPECT_NE(world_.heartbeat("g", 99'999, client.member), ErrorCode::none);
    EXPECT_NE(world_.heartbeat("g", 1, "nobody"), ErrorCode::none);
    EXPECT_NE(world_.sync({.generation = 99'999, .member = client.member})->error(),
              ErrorCode::none);
    auto commit =
        world_.commit({.generation = 99'999, .member = client.member, .topic = "bad"});
    EXPECT_NE(commit->error(), ErrorCode::none);
    EXPECT_EQ(world_.fetch("g", "bad")->at().committed_offset, -1);
    EXPECT_EQ(world_.state("g"), before);
  }

  void crash() {
    drain_commits();
    world_.crash();
    world_.log.hold = false;
    for (Client& client : clients_) {
      poll(client);
      client.join.reset();
      client.sync.reset();
    }
    for (const auto& commit : commits_) unknown_.insert(commit->args.offset);
    commits_.clear();
    ++life_;
    last_generation_ = 0;
  }

  void drain_commits() {
    std::erase_if(commits_, [&](const auto& commit) {
      if (!commit->done) return false;
      if (commit->error() == ErrorCode::none) {
        acknowledged_[commit->args.partitions[0]] = commit->args.offset;
      }
      return true;
    });
  }

  void check() {
    for (Client& client : clients_) poll(client);
    drain_commits();
    check_owners();
    for (const auto& [partition, offset] : acknowledged_) {
      const int64_t found = world_.fetch("g", "t", {partition})->at().committed_offset;
      // One that a crash left without an answer may be there instead, nothing older.
      EXPECT_TRUE(found == offset || (found > offset && unknown_.contains(found)))
          << "partition " << partition << " found " << found << " acknowledged " << offset;
    }
  }

  // In one generation of one life of the node, nobody owns what another owns.
  void check_owners() {
    std::map<std::pair<int32_t, char>, const Client*> owners;
    for (const Client& client : clients_) {
      if (!client.owns || client.instance) continue;  // two processes may share a static id
      for (const char partition : client.assignment) {
        const auto [owner, is_new] =
            owners.emplace(std::pair(client.generation, partition), &client);
        EXPECT_TRUE(is_new) << "partition " << partition << " of generation " << client.generation;
      }
    }
  }

  base::RandomStream random_;
  GroupWorld world_;
  std::deque<Client> clients_;
  std::set<const Client*> fenced_;
  std::map<std::pair<int, int32_t>, std::string> leaders_;
  std::vector<std::shared_ptr<Commit>> commits_;
  std::map<int32_t, int64_t> acknowledged_;
  std::set<int64_t> unknown_;
  int64_t offset_ = 0;
  int32_t last_generation_ = 0;
  int life_ = 0;
};

}  // namespace

TEST(RandomOps, InvariantsHoldAndGroupsSettle) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Storm storm(seed);
    storm.run(600);
    storm.settle();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace weir::group
