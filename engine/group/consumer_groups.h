#pragma once
// ConsumerGroups: members of consumer groups (KIP-848) come, go and are led to their partitions;
// for all groups of one core. Owned by GroupCoordinator.
//
// A heartbeat is answered when what it has changed is durable, and so is all that the group has
// changed before it. The state in memory is ahead of the log meanwhile. Where a write is lost, the
// group takes no heartbeats until all of it has been written again: nobody is told what a restart
// would not know.

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/group/config.h"
#include "engine/group/consumer_records.h"
#include "engine/group/group_table.h"
#include "engine/group/log_writer.h"
#include "engine/group/messages.h"
#include "engine/group/metrics.h"
#include "engine/group/records.h"
#include "engine/group/topics.h"
#include "io/core_io.h"

namespace weir::group {

class ConsumerGroups final : public ConsumerTimeouts {
 public:
  // `timeouts`: of groups that are made here and may become classic ones.
  ConsumerGroups(io::CoreIo& io, const GroupConfig& config, const Topics& topics,
                 GroupTable& table, GroupTimeouts& timeouts, LogWriter& log_writer,
                 RecordEncoder& classic_encoder, GroupMetrics& metrics);
  ConsumerGroups(const ConsumerGroups&) = delete;
  ConsumerGroups& operator=(const ConsumerGroups&) = delete;

  // Answered exactly once, now or later.
  void heartbeat(ConsumerGroupHeartbeatCall& call);
  void describe(ConsumerGroupDescribeCall& call) const;

  // LeaveGroup of a consumer group: an administrator removes static members by their instances.
  void leave_group(LeaveGroupCall& call, Group& group);
  // An empty consumer group is to be a classic one. The log learns of it with what comes next.
  void make_classic(Group& group);
  // Adds the tombstones of a whole group to the batch that is open.
  void add_tombstones(const Group& group) {
    encoder_.add_all_tombstones(group.id(), *group.consumer);
  }
  // Whether a member may commit or read offsets in that epoch.
  static model::ErrorCode check_epoch(const ConsumerGroup& group, std::string_view member_id,
                                      int32_t epoch);

  // After a restart: members have a full session timeout to show up.
  void start(Group& group);
  void stop();

  void on_session_timeout(Group& group, ConsumerMember& member) override;
  void on_rebalance_timeout(Group& group, ConsumerMember& member) override;
  void on_regexes_due(Group& group) override;
  void on_rewrite_due(Group& group) override;

 private:
  // Why a heartbeat is refused, for the client.
  struct Fault {
    model::ErrorCode error = model::ErrorCode::none;
    std::string message{};
    bool found() const { return error != model::ErrorCode::none; }
  };

  // Records of a group on their way to the log, and who waits for them.
  struct Write : LogWrite {
    Group* group = nullptr;
    bool rewrite = false;
    std::vector<GroupCall*> calls{};  // heartbeats, and LeaveGroup
    std::vector<std::string> removed_members{};
    std::vector<std::string> removed_regexes{};
    std::list<Write>::iterator self;
  };

  // --- what a request may say (consumer_checks.cc)
  Fault check_request(const ConsumerGroupHeartbeatCall& call) const;
  Fault check_limits(const wire::ConsumerGroupHeartbeatRequest& request) const;
  Fault check_group(const wire::ConsumerGroupHeartbeatRequest& request, const Group* group) const;
  Fault check_member(const wire::ConsumerGroupHeartbeatRequest& request, const Group* group) const;
  Fault check_room(const wire::ConsumerGroupHeartbeatRequest& request, const Group* group) const;
  static Fault check_epoch_of(const wire::ConsumerGroupHeartbeatRequest& request,
                              const ConsumerMember& member);

  static Assignment owned_of(const wire::ConsumerGroupHeartbeatRequest& request);

  // --- heartbeats
  void leave(ConsumerGroupHeartbeatCall& call, Group* group);
  void make_consumer(Group& group);
  ConsumerMember& member_for(ConsumerGroupHeartbeatCall& call, Group& group);
  bool update_info(const ConsumerGroupHeartbeatCall& call, Group& group, ConsumerMember& member);
  void update_epoch(Group& group, bool changed);
  bool has_assignor(std::string_view name) const;
  std::string assignor_of(const ConsumerGroup& group) const;
  bool is_target_due(const Group& group, bool at_once) const;
  void update_target(Group& group);
  void update_current(Group& group, ConsumerMember& member, const Assignment* owned);
  void remove_member(Group& group, ConsumerMember& member);
  void forget_unused_regex(Group& group, std::string_view text);
  void arm_regexes(Group& group);
  bool resolve_regex(Group& group, std::string_view text);
  void touch(const Group& group, ConsumerMember& member);
  std::string make_member_id();

  // --- records
  Write& write_to(Group& group);  // the one that is open, or a new one
  void close_write();             // what was added goes to the log
  void finish(GroupCall& call, Group& group);
  void on_written(LogWrite& write);
  void retry_later(Group& group);

  // --- answers
  void refuse(ConsumerGroupHeartbeatCall& call, const Fault& fault);
  void fail(GroupCall& call, model::ErrorCode error);
  bool fill(ConsumerGroupHeartbeatCall& call, const ConsumerMember& member, bool with_assignment);

  int64_t now_ms() const { return io_.clock.now().ns / 1'000'000; }
  void arm_ms(io::Timer& timer, int64_t delay_ms);

  io::CoreIo& io_;
  const GroupConfig& config_;
  const Topics& topics_;
  GroupTable& table_;
  GroupTimeouts& timeouts_;
  LogWriter& log_writer_;
  RecordEncoder& classic_encoder_;
  ConsumerRecordEncoder encoder_;
  GroupMetrics& metrics_;
  std::list<Write> writes_;
  Write* open_ = nullptr;  // within one call only
  bool stopped_ = false;
};

}  // namespace weir::group
