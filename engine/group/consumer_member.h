#pragma once
// ConsumerMember: one member of a consumer group (KIP-848). Lives on the group's home core, inside
// its ConsumerGroup, which changes it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/group/assignment.h"
#include "engine/group/reconciliation.h"
#include "io/timers.h"

namespace weir::group {

class ConsumerMember;
class Group;

// What happens when a timer of a consumer group fires; implemented by ConsumerGroups.
class ConsumerTimeouts {
 public:
  virtual void on_session_timeout(Group& group, ConsumerMember& member) = 0;
  virtual void on_rebalance_timeout(Group& group, ConsumerMember& member) = 0;
  virtual void on_regexes_due(Group& group) = 0;
  virtual void on_rewrite_due(Group& group) = 0;

 protected:
  ~ConsumerTimeouts() = default;
};

inline constexpr int32_t kLeaveEpoch = -1;
inline constexpr int32_t kStaticLeaveEpoch = -2;  // a static member is away and will come back

// What a member says of itself; all of it is in its record.
struct ConsumerMemberInfo {
  std::optional<std::string> instance_id{};
  std::optional<std::string> rack_id{};
  std::string client_id{};
  std::string client_host{};
  std::vector<std::string> topic_names{};  // ascending, each once
  std::string regex{};                     // "": none
  std::optional<std::string> assignor{};
  int32_t rebalance_timeout_ms = -1;

  bool operator==(const ConsumerMemberInfo&) const = default;
};

class ConsumerMember {
 public:
  ConsumerMember(Group& group, ConsumerTimeouts& timeouts, std::string id)
      : id_(std::move(id)), group_(group), timeouts_(timeouts) {
    session_timer.bind<&ConsumerMember::on_session_timer>(*this);
    rebalance_timer.bind<&ConsumerMember::on_rebalance_timer>(*this);
  }

  const std::string& id() const { return id_; }
  const ConsumerMemberInfo& info() const { return info_; }
  const CurrentAssignment& current() const { return current_; }
  const Assignment& target() const { return target_; }
  bool is_away() const { return current_.epoch == kStaticLeaveEpoch; }
  size_t memory_size() const;

  bool has_record = true;     // false while restoring: others of its records came first
  io::Timer session_timer;    // it shows no life
  io::Timer rebalance_timer;  // it does not give back what it must

 private:
  friend class ConsumerGroup;
  void on_session_timer() { timeouts_.on_session_timeout(group_, *this); }
  void on_rebalance_timer() { timeouts_.on_rebalance_timeout(group_, *this); }

  std::string id_;
  Group& group_;
  ConsumerTimeouts& timeouts_;
  ConsumerMemberInfo info_;
  CurrentAssignment current_;
  Assignment target_;
  size_t counted_memory_ = 0;
};

}  // namespace weir::group
