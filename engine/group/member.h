#pragma once
// Member: one consumer of a classic group. Lives on the group's home core, inside its Group.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/group/limits.h"
#include "engine/group/messages.h"
#include "io/timers.h"

namespace weir::group {

class Group;
class Member;
class PendingMember;

// What happens when a timer of a group fires; implemented by Membership.
class GroupTimeouts {
 public:
  virtual void on_session_timeout(Group& group, Member& member) = 0;
  virtual void on_pending_timeout(Group& group, PendingMember& pending) = 0;
  virtual void on_join_timeout(Group& group) = 0;
  virtual void on_sync_timeout(Group& group) = 0;

 protected:
  ~GroupTimeouts() = default;
};

// A protocol a member can use; the bytes are never looked into, but for expiry
// (consumer_protocol.h).
struct Protocol {
  std::string name;
  std::vector<std::byte> metadata;
};

class Member {
 public:
  Member(Group& group, GroupTimeouts& timeouts, std::string id)
      : id_(std::move(id)), group_(group), timeouts_(timeouts) {
    session_timer.bind<&Member::on_session_timer>(*this);
  }

  const std::string& id() const { return id_; }
  bool is_static() const { return instance_id.has_value(); }
  bool is_parked() const { return join_call != nullptr || sync_call != nullptr; }
  // Null when the member does not know the protocol.
  const Protocol* find_protocol(std::string_view name) const {
    for (const Protocol& protocol : protocols) {
      if (protocol.name == name) return &protocol;
    }
    return nullptr;
  }
  // Same protocols, same order, same bytes.
  bool matches(std::span<const wire::JoinGroupRequest::Protocol> others) const;
  size_t metadata_size() const;
  size_t memory_size() const;

  std::optional<std::string> instance_id;
  std::string client_id;
  std::string client_host;
  int32_t rebalance_timeout_ms = 0;
  int32_t session_timeout_ms = 0;
  std::vector<Protocol> protocols;     // in the member's order of preference
  std::vector<std::byte> assignment;   // of the last generation whose assignment is durable
  bool in_durable_generation = false;  // assignment and id are in the group's last record
  bool is_new = true;                  // has not been told a generation, so cannot heartbeat
  bool awaits_sync = false;            // has been told a generation and has not synced in it
  JoinGroupCall* join_call = nullptr;  // parked until the join phase ends
  SyncGroupCall* sync_call = nullptr;  // parked until the leader's plan is durable
  io::Timer session_timer;

 private:
  friend class Group;  // changes the id when a static member is replaced
  void on_session_timer() { timeouts_.on_session_timeout(group_, *this); }

  std::string id_;
  Group& group_;
  GroupTimeouts& timeouts_;
};

// An id given out with MEMBER_ID_REQUIRED; its owner has until the session timeout to come back.
class PendingMember {
 public:
  PendingMember(Group& group, GroupTimeouts& timeouts, std::string id)
      : id_(std::move(id)), group_(group), timeouts_(timeouts) {
    timer.bind<&PendingMember::on_timer>(*this);
  }
  const std::string& id() const { return id_; }
  size_t memory_size() const { return kPendingMemberCost + id_.size(); }

  io::Timer timer;

 private:
  void on_timer() { timeouts_.on_pending_timeout(group_, *this); }

  std::string id_;
  Group& group_;
  GroupTimeouts& timeouts_;
};

}  // namespace weir::group
