#pragma once
// Auditor: after a restart, reads everything back through the protocol and has it checked: topics,
// offsets, every batch of every partition, lookups by time, committed offsets of groups.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/sim/actor.h"
#include "tests/sim/invariants.h"

namespace weir::simtest {

class Auditor : public Actor {
 public:
  Auditor(Context& context, std::string name);

  bool done() const override { return step_ == Step::finished; }
  const Contents& contents() const { return contents_; }

 protected:
  void act() override;
  void on_response(int32_t correlation, Api api, Reader& body) override;
  void on_lost() override {}
  bool wants_connection() const override { return !done(); }
  bool works_while_paused() const override { return true; }

 private:
  enum class Step : uint8_t { topics, earliest, latest, content, by_time, groups, finished };
  static constexpr uint32_t kRetriesMax = 2'000;

  void send_fetch();
  void send_by_time();
  void send_group();
  void on_topics(Reader& body);
  void on_offsets(Reader& body);
  void on_content(Reader& body);
  void on_by_time(Reader& body);
  void on_group(Reader& body);
  void take(const TopicPartition& where, const FetchResult& result);
  bool time_agrees(const TopicPartition& where, const OffsetResult& result) const;
  bool skip_rot(const TopicPartition& where, int error);
  void check_all();
  void advance();
  // Whether the error passes by itself; counts, and reports what never passes.
  bool passing(int error, const std::string& what);

  Step step_ = Step::topics;
  std::map<std::string, int32_t> asked_;  // topics known before they were asked for
  std::vector<TopicPartition> all_;
  Contents contents_;
  std::map<TopicPartition, int64_t> positions_;
  std::map<TopicPartition, Floors> floors_;
  std::vector<std::string> groups_;
  size_t group_ = 0;
  int64_t timestamp_ = 0;
  uint32_t rounds_by_time_ = 0;
  uint32_t retries_ = 0;
};

}  // namespace weir::simtest
