// What of a consumer group is there after a restart: all of it that anybody was told, at every
// point of its life, and also where writes were lost.
#include <gtest/gtest.h>

#include <set>

#include "io/base/random.h"
#include "tests/engine/group/consumer_world.h"

namespace weir::group {
namespace {

TEST(ConsumerRestart, EveryStateSurvives) {
  ConsumerWorld world;
  world.topics.set("t", 4);
  world.topics.set("u", 1);
  const auto same_after_restart = [&](const char* state) {
    SCOPED_TRACE(state);
    EXPECT_EQ(world.consumer_state(), state);
    const std::string before = world.snapshot();
    world.crash();
    EXPECT_EQ(world.snapshot(), before);
  };
  BeatArgs first = joining("a", {"t"});
  first.instance = "i";
  first.rack = "r";
  first.assignor = "range";
  world.beat(first);
  same_after_restart("Stable");
  world.beat(joining("b", {"t", "u"}));
  same_after_restart("Reconciling");
  EXPECT_TRUE(world.alive("a", 2)->assigned());
  same_after_restart("Reconciling");
  // The member is still asked for what it was asked for before, and put out when it does not.
  EXPECT_EQ(world.alive("a", 2)->epoch(), 2);
  EXPECT_EQ(world.owns("a", 2, {{"t", {0, 1}}})->epoch(), 3);
  world.alive("b", 3);
  same_after_restart("Stable");
  world.beat({.member = "a", .epoch = -2, .instance = "i"});
  same_after_restart("Reconciling");
  world.leave_epoch("b", -1);
  same_after_restart("Assigning");
  BeatArgs regex = joining("x", {"u"});
  regex.regex = "t.*";
  world.beat(regex);
  world.advance_ms(1);
  same_after_restart("Assigning");
  EXPECT_EQ(world.alive("x", 5)->error(), ErrorCode::none);
  // The one that is away is put out by its session, counted from the restart.
  world.advance_ms(45'000);
  same_after_restart("Empty");
  EXPECT_EQ(world.remove({"g"})->error(), ErrorCode::none);
  world.crash();
  EXPECT_EQ(world.coordinator->group_count(), 0u);
}

TEST(ConsumerRestart, TheRebalanceTimeoutRunsAgain) {
  ConsumerWorld world;
  world.topics.set("t", 2);
  world.beat(joining("a", {"t"}));
  world.beat(joining("b", {"t"}));
  EXPECT_TRUE(world.alive("a", 2)->assigned());
  world.crash();
  world.advance_ms(10'000);
  EXPECT_EQ(world.error({.member = "a", .epoch = 2}), ErrorCode::unknown_member_id);
}

// An answer waits for its records; what was never answered may be lost.
TEST(ConsumerRestart, NothingIsToldThatIsNotDurable) {
  ConsumerWorld world;
  world.topics.set("t", 1);
  world.log.hold = true;
  auto joined = world.beat(joining("m", {"t"}));
  EXPECT_FALSE(joined->done);
  // Not even by a heartbeat that changes nothing itself.
  auto again = world.beat(joining("m", {"t"}));
  EXPECT_FALSE(again->done);
  world.log.hold = false;
  world.run();
  EXPECT_TRUE(joined->done && again->done);
  world.log.hold = true;
  auto left = world.beat({.epoch = -1});
  EXPECT_FALSE(left->done);
  world.log.hold = false;
  world.crash();
  EXPECT_EQ(world.consumer_state(), "Stable");
}

TEST(ConsumerRestart, ALostWriteIsWrittenAgain) {
  ConsumerWorld world;
  world.topics.set("t", 2);
  world.beat(joining("a", {"t"}));
  world.beat(joining("b", {"t"}));
  world.log.fail = ErrorCode::kafka_storage_error;
  EXPECT_EQ(world.error({.member = "b", .epoch = -1}), ErrorCode::not_coordinator);
  // Until it is, nobody is served.
  EXPECT_EQ(world.error({.member = "a", .epoch = 2}), ErrorCode::coordinator_not_available);
  world.advance_ms(1'000);
  EXPECT_EQ(world.error({.member = "a", .epoch = 2}), ErrorCode::coordinator_not_available);
  world.log.fail = ErrorCode::none;
  world.advance_ms(1'000);
  EXPECT_EQ(world.alive("a", 2)->epoch(), 4);
  const std::string before = world.snapshot();
  EXPECT_EQ(before.find("\nb "), std::string::npos);
  world.crash();
  EXPECT_EQ(world.snapshot(), before);
}

// Members do what they like, and believe what they are told; crashes and lost writes between. At no
// moment do two believe that one partition is theirs, and at rest every one has its owner.
class RandomMembers {
 public:
  explicit RandomMembers(uint64_t seed) : random_(seed) {
    world_.topics.set("t", 5);
    world_.topics.set("u", 3);
    clients_.resize(4);
    for (size_t i = 0; i < clients_.size(); ++i) clients_[i].id = "m" + std::to_string(i);
  }

  void run() {
    for (int step = 0; step < 150 && !::testing::Test::HasFailure(); ++step) {
      Client& client = clients_[random_.below(clients_.size())];
      switch (random_.below(10)) {
        case 0: leave(client); break;
        case 1: world_.topics.set("t", static_cast<int32_t>(1 + random_.below(7))); break;
        case 2: world_.topics.set("u", static_cast<int32_t>(random_.below(5))); break;
        case 3: restart(); break;
        case 4: subscribe(client); break;
        case 5: lose_write(client); break;
        case 6: lose_answer(client); break;
        default: beat(client);
      }
      expect_one_owner();
    }
    rest();
  }

 private:
  struct Client {
    std::string id;
    int32_t epoch = 0;  // 0: not a member
    std::vector<std::string> topics{"t"};
    Parts owned{};
  };

  BeatArgs args_of(const Client& client) {
    BeatArgs args = joining(client.id, client.topics);
    args.epoch = client.epoch;
    args.rebalance_ms = 60'000;
    if (client.epoch != 0) args.owned = client.owned;
    return args;
  }
  void take(Client& client, const Beat& answer) {
    if (!answer.done) return;
    const ErrorCode error = answer.error();
    if (error == ErrorCode::none) {
      client.epoch = answer.epoch();
      if (answer.assigned()) client.owned = *answer.assigned();
    } else if (error == ErrorCode::fenced_member_epoch || error == ErrorCode::unknown_member_id ||
               error == ErrorCode::group_id_not_found) {
      client.owned.clear();
      client.epoch = 0;
    }
  }
  void beat(Client& client) {
    world_.advance_ms(static_cast<int64_t>(random_.below(200)));
    take(client, *world_.beat(args_of(client)));
  }
  void lose_answer(Client& client) { world_.beat(args_of(client)); }
  void leave(Client& client) {
    if (client.epoch == 0) return;
    client.owned.clear();
    client.epoch = 0;
    world_.beat({.member = client.id, .epoch = -1});
  }
  void subscribe(Client& client) {
    const std::vector<std::vector<std::string>> choices{{"t"}, {"u"}, {"t", "u"}, {}};
    client.topics = choices[random_.below(choices.size())];
    // A client that does not read a topic any more lets go of it.
    std::erase_if(client.owned, [&](const auto& entry) {
      return std::ranges::find(client.topics, entry.first) == client.topics.end();
    });
    beat(client);
  }
  void lose_write(Client& client) {
    world_.log.fail = ErrorCode::kafka_storage_error;
    take(client, *world_.beat(args_of(client)));
    world_.log.fail = ErrorCode::none;
    if (random_.below(2) == 0) world_.advance_ms(1'000);
  }
  void restart() {
    if (random_.below(2) == 0) {
      world_.log.hold = true;
      world_.beat(args_of(clients_[random_.below(clients_.size())]));
      world_.log.hold = false;
    }
    world_.crash();
  }

  void expect_one_owner() {
    std::set<std::pair<std::string, int32_t>> owned;
    for (const Client& client : clients_) {
      for (const auto& [topic, partitions] : client.owned) {
        for (const int32_t partition : partitions) {
          EXPECT_TRUE(owned.emplace(topic, partition).second)
              << topic << "-" << partition << " has two owners, one is " << client.id;
        }
      }
    }
  }
  void rest() {
    world_.topics.set("t", 5);
    world_.topics.set("u", 3);
    for (int round = 0; round < 30; ++round) {
      for (Client& client : clients_) {
        beat(client);
        expect_one_owner();
      }
    }
    EXPECT_EQ(world_.consumer_state(), "Stable");
    std::map<std::string, size_t> counts;
    std::set<std::string> read;
    for (const Client& client : clients_) {
      read.insert(client.topics.begin(), client.topics.end());
      for (const auto& [topic, partitions] : client.owned) counts[topic] += partitions.size();
    }
    EXPECT_EQ(counts["t"], read.contains("t") ? 5u : 0u);
    EXPECT_EQ(counts["u"], read.contains("u") ? 3u : 0u);
  }

  ConsumerWorld world_;
  base::RandomStream random_;
  std::vector<Client> clients_;
};

TEST(ConsumerRestart, NeverTwoOwners) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    RandomMembers(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace weir::group
