#pragma once
// What a coordinator under test stands on: a log in memory, and topics made by hand.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/group/config.h"
#include "engine/group/group_log.h"
#include "engine/group/topics.h"

namespace weir::group {

using model::ErrorCode;

// Completes appends when told, in order; keeps what is durable.
class FakeGroupLog final : public GroupLog {
 public:
  void append(GroupAppend& append) override { queue_.push_back(&append); }
  // True when anything was completed.
  bool complete() {
    if (hold) return false;
    const bool any = !queue_.empty();
    while (!queue_.empty()) complete_one();
    return any;
  }
  void complete_one() {
    GroupAppend& append = *queue_.front();
    queue_.pop_front();
    if (fail == ErrorCode::none && !unknown) {
      batches.emplace_back(append.partition,
                           std::vector(append.batch.begin(), append.batch.end()));
    }
    append.error = unknown ? ErrorCode::kafka_storage_error : fail;
    append.outcome_unknown = unknown;
    append.complete();
  }
  size_t waiting() const { return queue_.size(); }
  void crash() { queue_.clear(); }

  bool hold = false;
  ErrorCode fail = ErrorCode::none;
  bool unknown = false;
  std::vector<std::pair<model::PartitionIndex, std::vector<std::byte>>> batches;

 private:
  std::deque<GroupAppend*> queue_;
};

// Topics that a test makes; an id is the topic's name, padded.
class FakeTopics final : public Topics {
 public:
  std::optional<TopicView> find(std::string_view name) const override {
    const auto found = topics_.find(name);
    if (found == topics_.end()) return std::nullopt;
    return TopicView{found->first, id_of(found->first), found->second};
  }
  std::optional<TopicView> find(const base::Uuid& id) const override {
    for (const auto& [name, count] : topics_) {
      if (id_of(name) == id) return TopicView{name, id, count};
    }
    return std::nullopt;
  }
  std::vector<std::string_view> names() const override {
    std::vector<std::string_view> names;
    for (const auto& [name, count] : topics_) names.emplace_back(name);
    return names;
  }
  int64_t version() const override { return version_; }

  ConsumerGroupSettings settings_of(std::string_view group_id) const override {
    const auto found = settings.find(group_id);
    if (found != settings.end()) return found->second;
    return {.session_timeout_ms = config.consumer_session_timeout_ms,
            .heartbeat_interval_ms = config.consumer_heartbeat_interval_ms,
            .assignment_interval_ms = config.consumer_assignment_interval_ms};
  }
  explicit FakeTopics(const GroupConfig& its_config) : config(its_config) {}

  static base::Uuid id_of(std::string_view name) {
    base::Uuid id;
    for (size_t i = 0; i < name.size() && i < id.bytes.size(); ++i) {
      id.bytes[i] = static_cast<std::byte>(name[i]);
    }
    return id;
  }
  const GroupConfig& config;
  std::map<std::string, ConsumerGroupSettings, std::less<>> settings;  // of single groups
  // 0 partitions: there is no such topic.
  void set(const std::string& name, int32_t partitions) {
    if (partitions == 0) topics_.erase(name);
    else topics_[name] = partitions;
    ++version_;
  }

 private:
  std::map<std::string, int32_t, std::less<>> topics_;
  int64_t version_ = 0;
};

}  // namespace weir::group
