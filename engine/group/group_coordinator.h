#pragma once
// GroupCoordinator: the groups of one core, whole. Owned by broker::Core, which feeds it the stored
// batches of the core's partitions of __consumer_offsets, then lets it serve.
//
//   GroupCoordinator coordinator(io, group_log, topics, config);   listens on kGroup, kListGroups
//                                                                  and kGroupMarker
//   coordinator.replay(partition, batches);                 every stored chunk, in order
//   coordinator.replay_done();                              serves from here on
//   …
//   coordinator.stop();                                     parked calls come back; drain the
//                                                           loop until idle(), then destroy
//
// Calls that come before replay_done() or after stop() are answered NOT_COORDINATOR, which every
// client retries; no lookup ever says "no offset" because of them (C10, C14).

#include <set>
#include <string>
#include <string_view>

#include "engine/group/config.h"
#include "engine/group/consumer_groups.h"
#include "engine/group/group_log.h"
#include "engine/group/group_table.h"
#include "engine/group/log_writer.h"
#include "engine/group/membership.h"
#include "engine/group/messages.h"
#include "engine/group/metrics.h"
#include "engine/group/offsets.h"
#include "engine/group/records.h"
#include "engine/group/replay.h"
#include "io/core_io.h"

namespace weir::group {

class GroupCoordinator {
 public:
  // config, topics and log outlive it; dynamic settings take effect when config changes.
  GroupCoordinator(io::CoreIo& io, GroupLog& log, const Topics& topics, const GroupConfig& config);
  GroupCoordinator(const GroupCoordinator&) = delete;
  GroupCoordinator& operator=(const GroupCoordinator&) = delete;

  void replay(model::PartitionIndex partition, std::span<const std::byte> batches);
  void replay_done();
  void stop();
  // Nothing is on its way to the log.
  bool idle() const { return log_writer_.idle(); }

  // Forgets, durably, what groups committed for this life of a topic. On every core, whenever a
  // topic is deleted; also after replay_done(), for topics of committed_topics() that are no more.
  void on_topic_deleted(std::string_view topic, const base::Uuid& topic_id);
  // Name and id of every topic life that a commit is kept for.
  std::set<std::pair<std::string, base::Uuid>> committed_topics();

  // visit(group id, topic, partition, CommittedOffset) for every one.
  template <class Visit>
  void visit_offsets(Visit visit) {
    table_.for_each([&](Group& group) {
      for (const auto& [topic, partitions] : group.offsets.topics()) {
        for (const auto& [partition, slot] : partitions) {
          if (slot.has_value) visit(group.id(), topic, partition, slot.value);
        }
      }
    });
  }

  const GroupMetrics& metrics() const { return metrics_; }
  size_t group_count() const { return table_.size(); }
  size_t memory_size() const { return table_.memory_size(); }  // of all groups, estimated

 private:
  void on_call(io::Message& message);
  void on_list(io::Message& message);
  void on_marker(io::Message& message);
  void join(JoinGroupCall& call);
  void leave(LeaveGroupCall& call);
  void refuse(GroupCall& call);

  io::CoreIo& io_;
  GroupMetrics metrics_;
  GroupTable table_;
  LogWriter log_writer_;
  RecordEncoder encoder_;
  PendingOffsets pending_;
  Membership membership_;
  ConsumerGroups consumer_groups_;
  Offsets offsets_;
  Replay replay_;
  bool serving_ = false;
};

}  // namespace weir::group
