#pragma once
// ConsumerGroup: what a Group has when its members speak the consumer protocol (KIP-848). It keeps
// its own invariants and knows neither log nor clients; ConsumerGroups drives it.
//
//   epoch             grows when members, subscriptions or the topics behind them change
//   assignment_epoch  the epoch that the members' targets were computed for
//   a member's epoch  the last target it has taken up
//
//   empty        no member             assigning    targets are older than the group
//   reconciling  members are on their way to their targets        stable   all have arrived
//
// Invariants: an instance id has one member; owners() is what the members have, no more and no
// less; every regular expression of a member is in regexes(), and no other.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/group/assignor.h"
#include "engine/group/consumer_member.h"
#include "engine/group/topics.h"

namespace weir::group {

class LogWrite;

enum class ConsumerGroupState : uint8_t { empty, assigning, reconciling, stable };

// As ConsumerGroupDescribe and ListGroups spell it.
[[nodiscard]] std::string_view name(ConsumerGroupState state);

struct ResolvedRegex {
  bool resolved = false;
  std::vector<std::string> topics{};  // ascending
  int64_t version = 0;                // of the topics it was matched against
  int64_t timestamp_ms = 0;           // wall time
};

class ConsumerGroup {
 public:
  using Members = std::map<std::string, std::unique_ptr<ConsumerMember>, std::less<>>;
  using Regexes = std::map<std::string, ResolvedRegex, std::less<>>;

  ConsumerGroup(Group& group, ConsumerTimeouts& timeouts);
  ConsumerGroup(const ConsumerGroup&) = delete;
  ConsumerGroup& operator=(const ConsumerGroup&) = delete;

  [[nodiscard]] ConsumerGroupState state() const;
  const Members& members() const { return members_; }
  size_t member_count() const { return members_.size(); }
  [[nodiscard]] ConsumerMember* find(std::string_view member_id) const;
  [[nodiscard]] ConsumerMember* find_static(std::string_view instance_id) const;

  ConsumerMember& add(std::string member_id);
  void remove(ConsumerMember& member);  // destroys it
  void set_info(ConsumerMember& member, ConsumerMemberInfo info);
  void set_current(ConsumerMember& member, CurrentAssignment current);
  void set_target(ConsumerMember& member, Assignment target);
  // Another member id for a static member that comes back; it begins at epoch 0 with what it had.
  ConsumerMember& replace(ConsumerMember& member, std::string member_id);

  const Regexes& regexes() const { return regexes_; }
  void set_regex(std::string_view text, ResolvedRegex resolved);
  bool is_regex_used(std::string_view text) const;
  void expire_regexes() {  // all are to be matched again
    for (auto& [text, regex] : regexes_) regex.version = -1;
  }
  void erase_regex(std::string_view text) { regexes_.erase(std::string(text)); }

  // Topics that a member, or any member, subscribes to, by name or as its expression was resolved.
  std::set<std::string_view> topics_of(const ConsumerMember& member) const;
  std::set<std::string_view> subscribed_topics() const;
  bool is_subscribed(std::string_view topic) const;
  // Changes with the ids and partition counts of the topics subscribed to; 0: none of them exists.
  int64_t metadata_hash_of(const Topics& topics) const;
  // What an assignor is asked; views into the group.
  AssignorInput assignor_input(const Topics& topics) const;
  // The assignor most members ask for; nothing: none does.
  std::optional<std::string> preferred_assignor() const;

  const PartitionOwners& owners() const { return owners_; }
  size_t memory_size() const;

  int32_t epoch = 0;
  int32_t assignment_epoch = 0;
  int64_t metadata_hash = 0;

  // --- ConsumerGroups's own
  LogWrite* last_write = nullptr;          // on its way to the log; answers wait for it
  int64_t seen_topics_version = -1;        // metadata_hash is of
  int64_t assigned_ms = -1;                // monotonic; -1: no assignment since the start
  io::Timer regex_timer;                   // expressions are to be matched
  int64_t regex_refreshed_ms = -1;         // monotonic
  bool needs_rewrite = false;              // a write was lost: the log may not know all of this
  std::set<std::string, std::less<>> lost_tombstones;        // of members
  std::set<std::string, std::less<>> lost_regex_tombstones;
  io::Timer rewrite_timer;
  bool has_partition_metadata = false;     // a record that Kafka wrote before 4.0

 private:
  void recount(ConsumerMember& member);
  void on_regex_timer() { timeouts_.on_regexes_due(group_); }
  void on_rewrite_timer() { timeouts_.on_rewrite_due(group_); }

  Group& group_;
  ConsumerTimeouts& timeouts_;
  Members members_;
  std::map<std::string, ConsumerMember*, std::less<>> by_instance_;
  Regexes regexes_;
  PartitionOwners owners_;
  size_t members_memory_ = 0;
};

}  // namespace weir::group
