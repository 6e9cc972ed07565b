#pragma once
// The other clients of a run: consumers, committers of group offsets, the admin that creates the
// topics, and a hostile one.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/sim/actor.h"

namespace weir::simtest {

// Reads every partition from the start, with long polls at the end, and tells the model what it
// got.
class Consumer : public Actor {
 public:
  using Actor::Actor;
  bool done() const override { return true; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override {}

 private:
  void take(const TopicPartition& where, const FetchResult& result);
  void on_earliest(Reader& body);

  std::map<TopicPartition, int64_t> positions_;
  std::map<TopicPartition, Floors> floors_;  // at the time of the request
  std::set<TopicPartition> behind_;          // the log starts behind its position
};

// Deletes records up to some offset that exists, now and then all of them.
class Trimmer : public Actor {
 public:
  using Actor::Actor;
  bool done() const override { return true; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override {}

 private:
  TopicPartition where_;
  int64_t offset_ = 0;
  Floors floors_;
};

// Commits growing offsets of one group and reads them back.
class Committer : public Actor {
 public:
  Committer(Context& context, std::string name);
  bool done() const override { return left_ == 0 && !pending_; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override;
  bool wants_connection() const override { return !done(); }

 private:
  void on_commit(Reader& body);
  void on_fetched(Reader& body);

  bool found_ = false;  // the coordinator answered
  uint32_t left_;
  int64_t next_value_ = 1;
  std::optional<CommitPart> pending_;  // unanswered commit
};

// Creates the topics of the scenario, one after another.
class Admin : public Actor {
 public:
  using Actor::Actor;
  bool done() const override { return next_ >= context_.scenario.topics.size(); }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override { lost_ = true; }
  bool wants_connection() const override { return !done(); }

 private:
  size_t next_ = 0;
  bool lost_ = false;  // an earlier request for this topic may have been carried out
};

// Sends garbage in several tastes and hangs up.
class Hostile : public Actor {
 public:
  using Actor::Actor;
  bool done() const override { return true; }

 protected:
  void act() override;
  void on_response(int32_t, Api, Reader&) override {}
  void on_lost() override {}
  bool wants_connection() const override { return rounds_ < 20; }
  bool ignores_answers() const override { return true; }

 private:
  ByteString garbage();
  uint32_t rounds_ = 0;
};

}  // namespace weir::simtest
