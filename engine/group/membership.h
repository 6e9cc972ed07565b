#pragma once
// Membership: how members come, go and agree on assignments; for all groups of one core. It parks
// joins until the join phase ends and syncs until the leader's plan is durable, owns the groups'
// timers, and writes the records that let members go on after a restart.
//
//   membership.cc            sync, heartbeat, leave, session timeouts
//   membership_join.cc       join: new, known, pending and static members
//   membership_rebalance.cc  the phases of a rebalance, its records
//
// What a restart finds is the last generation whose assignment is complete and durable, with static
// members under the ids last answered. Whoever was told a later generation gets ILLEGAL_GENERATION
// and joins again.

#include <list>
#include <string>
#include <string_view>

#include "engine/group/config.h"
#include "engine/group/group_table.h"
#include "engine/group/log_writer.h"
#include "engine/group/messages.h"
#include "engine/group/metrics.h"
#include "engine/group/records.h"
#include "io/core_io.h"

namespace weir::group {

class Membership final : public GroupTimeouts {
 public:
  Membership(io::CoreIo& io, const GroupConfig& config, GroupTable& table, LogWriter& log_writer,
             RecordEncoder& encoder, GroupMetrics& metrics);
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Each call is answered exactly once, now or later.
  void join(JoinGroupCall& call);
  void sync(SyncGroupCall& call);
  void heartbeat(HeartbeatCall& call);
  void leave(LeaveGroupCall& call);

  void refuse(JoinGroupCall& call, model::ErrorCode error, std::string_view member_id);

  // The member has shown that it is alive.
  void touch(Member& member);
  // After a restart: members have a full session timeout to show up.
  void start(Group& group);
  // Everything parked comes back with NOT_COORDINATOR; timers stop.
  void stop();

  void on_session_timeout(Group& group, Member& member) override;
  void on_pending_timeout(Group& group, PendingMember& pending) override;
  void on_join_timeout(Group& group) override;
  void on_sync_timeout(Group& group) override;

 private:
  // A record of a group on its way to the log.
  struct MetadataWrite : LogWrite {
    enum class Kind : uint8_t { plan, replacement, empty };
    Kind kind;
    Group* group;
    int32_t generation;
    // Of a replacement: what to answer, and what to go back to.
    std::string member_id;
    std::string old_member_id;
    std::string old_leader_id;
    std::list<MetadataWrite>::iterator self;
  };

  // --- join
  model::ErrorCode check_join(const wire::JoinGroupRequest& request, const Group* group) const;
  bool accepts(const Group& group, std::string_view member_id) const;
  void join_new(Group& group, JoinGroupCall& call);
  void join_known(Group& group, JoinGroupCall& call);
  void give_out_id(Group& group, JoinGroupCall& call, std::string member_id);
  void add_member(Group& group, JoinGroupCall& call, std::string member_id);
  void rejoin(Group& group, Member& member, JoinGroupCall& call);
  void replace_static(Group& group, Member& member, JoinGroupCall& call, std::string member_id);
  void park(Group& group, Member& member, JoinGroupCall& call);
  std::string make_member_id(std::string_view prefix);

  // --- phases
  void prepare_or_complete(Group& group);
  void prepare(Group& group);
  void maybe_complete_join(Group& group);
  void complete_join(Group& group);
  void remove_not_rejoined(Group& group);
  void tell_generation(Group& group);
  void store_plan(Group& group, const SyncGroupCall& call);
  void on_metadata_written(LogWrite& write);
  void on_plan_written(Group& group, const MetadataWrite& write);
  void on_replacement_written(Group& group, const MetadataWrite& write);
  MetadataWrite& begin_write(MetadataWrite::Kind kind, Group& group, int32_t generation);
  void write_members(Group& group, int32_t generation, std::string_view protocol,
                     bool durable_only, MetadataWrite& write);
  void write_replacement(Group& group, Member& member, std::string old_member_id,
                         std::string old_leader_id);
  void write_empty(Group& group);

  // --- leaving
  void remove_member(Group& group, Member& member, model::ErrorCode answer);
  void after_removal(Group& group);
  model::ErrorCode leave_one(Group& group, std::string_view member_id,
                             const wire::NullableString& instance_id, bool& removed);

  // --- answers
  void refuse(SyncGroupCall& call, model::ErrorCode error);
  void answer_join(JoinGroupCall& call, const Group& group, const Member& member,
                   std::string_view leader_id, bool with_members, bool skip_assignment);
  void answer_current(JoinGroupCall& call, const Group& group, const Member& member);
  void answer_sync(SyncGroupCall& call, const Group& group, const Member& member);
  void answer_parked_syncs(Group& group, model::ErrorCode error, bool outcome_unknown);
  model::ErrorCode check_sync(const Group& group, const wire::SyncGroupRequest& request) const;

  void arm_ms(io::Timer& timer, int64_t delay_ms);

  io::CoreIo& io_;
  const GroupConfig& config_;
  GroupTable& table_;
  LogWriter& log_writer_;
  RecordEncoder& encoder_;
  GroupMetrics& metrics_;
  std::list<MetadataWrite> writes_;
};

}  // namespace weir::group
