#pragma once
// Group: one group: its id, its offsets, and the state, members and votes of a classic group, or a
// ConsumerGroup in their place. Lives on its home core, in GroupTable. It keeps its own invariants
// and knows neither log nor clients; Membership, ConsumerGroups and Offsets drive it.
//
//   empty ──────────▶ preparing_rebalance ◀───────── stable
//     ▲                 │        ▲   │                 ▲
//     └─────────────────┘        │   ▼                 │
//      (nobody joined)        completing_rebalance ────┘  (leader's plan is durable)
//   any ──▶ dead: its tombstones are on their way
//
// A group with a ConsumerGroup is empty or dead here, whatever members that has.
//
// Invariants: a leader exists exactly when members do and is one of them; every member of
// completing_rebalance and stable knows the protocol; generations only grow.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/group/consumer_group.h"
#include "engine/group/member.h"
#include "engine/group/offset_store.h"
#include "engine/model/error_code.h"
#include "engine/model/ids.h"
#include "io/base/intrusive_list.h"

namespace weir::group {

enum class GroupState : uint8_t { empty, preparing_rebalance, completing_rebalance, stable, dead };

// As DescribeGroups and ListGroups spell it.
[[nodiscard]] std::string_view name(GroupState state);

// Lookup by string_view in maps keyed by string.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

class Group : public base::ListHook {
 public:
  Group(std::string id, model::PartitionIndex partition, GroupTimeouts& timeouts);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const std::string& id() const { return id_; }
  model::PartitionIndex partition() const { return partition_; }
  GroupState state() const { return state_; }
  bool is(GroupState state) const { return state_ == state; }
  GroupState previous_state() const { return previous_state_; }
  int64_t state_timestamp_ms() const { return state_timestamp_ms_; }
  void transition_to(GroupState state, int64_t wall_ms);

  int32_t generation() const { return generation_; }
  const std::optional<std::string>& protocol_type() const { return protocol_type_; }
  const std::optional<std::string>& protocol() const { return protocol_; }
  const std::string& leader_id() const { return leader_id_; }  // "": no members
  bool is_leader(const Member& member) const { return member.id() == leader_id_; }

  // --- members, in the order they came
  const std::vector<Member*>& members() const { return members_; }
  size_t member_count() const { return members_.size(); }
  Member* find_member(std::string_view member_id) const;
  Member* find_static(std::string_view instance_id) const;
  size_t awaiting_join() const { return awaiting_join_; }
  bool has_all_members_joined() const {
    return awaiting_join_ == members_.size() && pending_.empty();
  }
  bool awaits_any_sync() const;
  int32_t rebalance_timeout_ms() const;  // the longest of the members

  Member& add(std::unique_ptr<Member> member, std::string_view protocol_type);
  void remove(Member& member);  // destroys it; nothing of it is parked
  // Takes new protocols and timeouts of a join.
  void update(Member& member, const wire::JoinGroupRequest& request, int32_t rebalance_timeout_ms);
  // Gives the member of a static instance another id.
  void replace_id(Member& member, std::string member_id);
  void set_client(Member& member, std::string_view client_id, std::string_view client_host);
  void set_assignment(Member& member, std::vector<std::byte> assignment);
  void park_join(Member& member, JoinGroupCall& call);
  JoinGroupCall* take_join(Member& member);

  // --- ids given out and not yet used
  PendingMember& add_pending(std::string member_id);
  bool is_pending(std::string_view member_id) const { return pending_.contains(member_id); }
  void remove_pending(std::string_view member_id);
  void forget_pending() {
    while (!pending_.empty()) remove_pending(std::string(pending_.begin()->first));
  }
  size_t pending_count() const { return pending_.size(); }
  const TextMap<std::unique_ptr<PendingMember>>& pending() const { return pending_; }

  // --- generations
  // Whether a member with these protocols may be in the group.
  bool supports(std::string_view protocol_type,
                std::span<const wire::JoinGroupRequest::Protocol> protocols) const;
  // Most votes among what all members know. There is at least one member.
  std::string select_protocol() const;
  // Keeps the leader if it has rejoined, else takes a member that has; false: nobody has.
  bool elect_leader();
  void next_generation(int64_t wall_ms);  // state completing_rebalance, or empty without members
  // Instance and member checks of all requests that name a member.
  model::ErrorCode check_member(std::string_view member_id,
                                const wire::NullableString& instance_id) const;

  // From a record at start: members are added after it with restore_member().
  void restore(std::optional<std::string> protocol_type, int32_t generation,
               std::optional<std::string> protocol, int64_t state_timestamp_ms);
  void restore_member(std::unique_ptr<Member> member);
  void restore_leader(std::string_view leader_id);
  void forget_members();  // nothing is parked

  // Nobody is in it, of either protocol: it may be deleted, or become a group of the other kind.
  bool is_empty() const {
    return is(GroupState::empty) && !(consumer && consumer->member_count() > 0);
  }

  size_t metadata_size() const { return metadata_size_; }  // protocols of all members
  size_t memory_size() const;

  OffsetStore offsets;
  std::unique_ptr<ConsumerGroup> consumer;  // null: a classic group, or one of offsets only
  GroupTimeouts& timeouts() { return timeouts_; }

  // --- Membership's own
  io::Timer join_timer;
  io::Timer sync_timer;
  bool in_initial_delay = false;
  bool member_added = false;       // during the initial delay
  int32_t delay_ms = 0;            // of the initial delay now running
  int32_t delay_remaining_ms = 0;
  bool plan_in_flight = false;     // the leader's, of this generation
  uint32_t replacements_in_flight = 0;
  bool join_due = false;           // the join phase ends when no replacement is in flight
  int32_t durable_generation = -1; // of the last record with an assignment
  std::string durable_protocol;
  bool on_log = false;             // a record of the group itself exists
  uint32_t writes_in_flight = 0;   // pin the group

  // --- GroupTable's own: what it has counted for this group
  size_t counted_memory = 0;
  size_t counted_members = 0;
  size_t counted_offsets = 0;

 private:
  Member& insert(std::unique_ptr<Member> member);
  void count_protocols(const Member& member, int by);
  void on_join_timer() { timeouts_.on_join_timeout(*this); }
  void on_sync_timer() { timeouts_.on_sync_timeout(*this); }

  const std::string id_;
  const model::PartitionIndex partition_;
  GroupTimeouts& timeouts_;
  GroupState state_ = GroupState::empty;
  GroupState previous_state_ = GroupState::empty;
  int64_t state_timestamp_ms_ = -1;  // wall time; goes to the log, used for offset retention only
  int32_t generation_ = 0;
  std::optional<std::string> protocol_type_;
  std::optional<std::string> protocol_;
  std::string leader_id_;
  std::vector<Member*> members_;
  TextMap<std::unique_ptr<Member>> by_id_;
  TextMap<Member*> by_instance_;
  TextMap<std::unique_ptr<PendingMember>> pending_;
  TextMap<int> protocol_counts_;  // members that know a protocol
  size_t awaiting_join_ = 0;
  size_t metadata_size_ = 0;
  size_t members_memory_ = 0;
};

}  // namespace weir::group
