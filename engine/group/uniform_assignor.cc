#include <algorithm>
#include <deque>
#include <numeric>
#include <tuple>

#include "engine/group/assignor.h"
#include "engine/group/limits.h"
#include "io/base/assert.h"

namespace weir::group {

namespace {

constexpr size_t kNobody = SIZE_MAX;

class UniformAssignor {
 public:
  explicit UniformAssignor(const AssignorInput& input) : input_(input) {}

  Assignments run() {
    prepare();
    keep_current();
    if (subscriptions_are_equal()) {
      fill_quotas();
    } else {
      place_rest();
      balance();
    }
    Assignments result(members_.size());
    for (size_t m = 0; m < members_.size(); ++m) {
      for (const auto& [topic, partitions] : members_[m].partitions) {
        auto sorted = partitions;
        std::ranges::sort(sorted);
        if (!sorted.empty()) result[members_[m].input_index][topics_[topic].id] = std::move(sorted);
      }
    }
    return result;
  }

 private:
  struct Topic {
    base::Uuid id;
    std::vector<size_t> subscribers{};
    std::vector<size_t> owners{};  // of each partition
    size_t seen_in = 0;            // search
  };
  struct Member {
    size_t input_index = 0;
    std::vector<size_t> topics{};
    std::map<size_t, std::vector<int32_t>> partitions{};  // by topic
    size_t load = 0;
    size_t seen_in = 0;  // search
  };
  struct Step {  // on the way of a search: `member` may take one of `topic` from `from`
    size_t from = kNobody;
    size_t topic = 0;
  };

  // Members in the order of their ids: the same members give the same result in any order.
  void prepare() {
    std::map<base::Uuid, size_t> index_of;
    for (const auto& [id, count] : input_.partition_counts) {
      index_of.emplace(id, topics_.size());
      topics_.push_back({.id = id});
      topics_.back().owners.assign(static_cast<size_t>(count), kNobody);
    }
    std::vector<size_t> order(input_.members.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return input_.members[i].id; });
    for (const size_t i : order) {
      Member& member = members_.emplace_back();
      member.input_index = i;
      for (const base::Uuid& id : input_.members[i].topics) {
        const size_t topic = index_of.at(id);
        member.topics.push_back(topic);
        topics_[topic].subscribers.push_back(members_.size() - 1);
      }
    }
    index_of_ = std::move(index_of);
  }

  void give(size_t topic, int32_t partition, size_t m) {
    topics_[topic].owners[static_cast<size_t>(partition)] = m;
    members_[m].partitions[topic].push_back(partition);
    ++members_[m].load;
  }
  int32_t take(size_t topic, size_t m) {
    auto& partitions = members_[m].partitions[topic];
    ASSERT(!partitions.empty());
    const int32_t partition = partitions.back();
    partitions.pop_back();
    topics_[topic].owners[static_cast<size_t>(partition)] = kNobody;
    --members_[m].load;
    return partition;
  }

  void keep_current() {
    for (size_t m = 0; m < members_.size(); ++m) {
      const AssignorMember& member = input_.members[members_[m].input_index];
      for (const auto& [id, partitions] : *member.current) {
        if (!std::ranges::binary_search(member.topics, id)) continue;
        const size_t topic = index_of_.at(id);
        const auto& owners = topics_[topic].owners;
        for (const int32_t partition : partitions) {
          const auto index = static_cast<size_t>(partition);
          if (index < owners.size() && owners[index] == kNobody) give(topic, partition, m);
        }
      }
    }
  }

  bool subscriptions_are_equal() const {
    return std::ranges::all_of(members_, [&](const Member& member) {
      return member.topics == members_.front().topics;
    });
  }

  template <class Visit>
  void for_each_free(Visit visit) {
    for (size_t topic = 0; topic < topics_.size(); ++topic) {
      if (topics_[topic].subscribers.empty()) continue;
      for (size_t p = 0; p < topics_[topic].owners.size(); ++p) {
        if (topics_[topic].owners[p] == kNobody) visit(topic, static_cast<int32_t>(p));
      }
    }
  }

  // Everybody may have everything: so many each, and one more for as many as there are left over.
  void fill_quotas() {
    size_t total = 0;
    for (const Topic& topic : topics_) {
      if (!topic.subscribers.empty()) total += topic.owners.size();
    }
    if (total == 0) return;
    const size_t quota = total / members_.size();
    size_t extra = total % members_.size();
    std::vector<size_t> limits(members_.size(), quota);
    for (const bool who_has_more : {true, false}) {
      for (size_t m = 0; m < members_.size() && extra > 0; ++m) {
        if (limits[m] != quota || (who_has_more && members_[m].load <= quota)) continue;
        limits[m] = quota + 1;
        --extra;
      }
    }
    for (size_t m = 0; m < members_.size(); ++m) {
      for (const size_t topic : members_[m].topics) {
        while (members_[m].load > limits[m] && !members_[m].partitions[topic].empty()) {
          take(topic, m);
        }
      }
    }
    size_t next = 0;
    for_each_free([&](size_t topic, int32_t partition) {
      while (members_[next].load == limits[next]) ++next;
      give(topic, partition, next);
    });
  }

  // What nobody had goes to the subscriber with the least; topics with few subscribers first.
  void place_rest() {
    std::vector<std::pair<size_t, int32_t>> rest;
    for_each_free([&](size_t topic, int32_t partition) { rest.emplace_back(topic, partition); });
    std::ranges::sort(rest, {}, [&](const auto& entry) {
      return std::tuple(topics_[entry.first].subscribers.size(), entry.first, entry.second);
    });
    for (const auto& [topic, partition] : rest) {
      give(topic, partition,
           *std::ranges::min_element(topics_[topic].subscribers, {},
                                     [&](size_t m) { return members_[m].load; }));
    }
  }

  // While somebody has two more than another whom partitions could reach, over others or not, one
  // goes that way; then no other distribution is more even. The work is bounded: what is left when
  // it is used up is correct, if less even.
  void balance() {
    steps_.resize(members_.size());
    std::vector<size_t> order(members_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (bool moved = true; moved && work_ < kAssignorWorkMax;) {
      moved = false;
      std::ranges::sort(order, [&](size_t a, size_t b) {
        return std::pair(members_[b].load, a) < std::pair(members_[a].load, b);
      });
      for (const size_t m : order) {
        while (work_ < kAssignorWorkMax && relieve(m)) moved = true;
      }
    }
  }

  // One partition less for m, if there is somebody to take it.
  bool relieve(size_t m) {
    if (members_[m].load < 2) return false;
    ++search_;
    std::deque<size_t> queue{m};
    members_[m].seen_in = search_;
    steps_[m] = {};
    while (!queue.empty()) {
      const size_t from = queue.front();
      queue.pop_front();
      for (const auto& [topic, partitions] : members_[from].partitions) {
        ++work_;
        if (partitions.empty() || topics_[topic].seen_in == search_) continue;
        topics_[topic].seen_in = search_;
        for (const size_t to : topics_[topic].subscribers) {
          ++work_;
          if (members_[to].seen_in == search_) continue;
          members_[to].seen_in = search_;
          steps_[to] = {.from = from, .topic = topic};
          if (members_[to].load + 2 <= members_[m].load) {
            shift(to);
            return true;
          }
          queue.push_back(to);
        }
      }
    }
    return false;
  }

  void shift(size_t to) {
    while (steps_[to].from != kNobody) {
      const Step& step = steps_[to];
      give(step.topic, take(step.topic, step.from), to);
      to = step.from;
    }
  }

  const AssignorInput& input_;
  std::vector<Topic> topics_;
  std::vector<Member> members_;
  std::map<base::Uuid, size_t> index_of_;
  std::vector<Step> steps_;  // of a member seen in this search
  size_t search_ = 0;
  size_t work_ = 0;
};

}  // namespace

Assignments assign_uniform(const AssignorInput& input) {
  return input.members.empty() ? Assignments{} : UniformAssignor(input).run();
}

}  // namespace weir::group
