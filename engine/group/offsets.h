#pragma once
// Offsets: commits, lookups and the forgetting of committed offsets; for all groups of one core.
//
// A commit is answered and visible when its record is durable. Forgetting - because of age, because
// the topic or the group was deleted - writes tombstones first and drops the values when they are
// durable.

#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/group/config.h"
#include "engine/group/consumer_groups.h"
#include "engine/group/group_table.h"
#include "engine/group/log_writer.h"
#include "engine/group/membership.h"
#include "engine/group/messages.h"
#include "engine/group/metrics.h"
#include "engine/group/pending_offsets.h"
#include "engine/group/records.h"
#include "engine/group/retention_clock.h"

namespace weir::group {

class Offsets {
 public:
  Offsets(io::CoreIo& io, const GroupConfig& config, GroupTable& table, Membership& membership,
          ConsumerGroups& consumer_groups, LogWriter& log_writer, RecordEncoder& encoder,
          PendingOffsets& pending, GroupMetrics& metrics);
  Offsets(const Offsets&) = delete;
  Offsets& operator=(const Offsets&) = delete;

  void commit(OffsetCommitCall& call);
  void fetch(OffsetFetchCall& call);
  void delete_groups(DeleteGroupsCall& call);
  void delete_offsets(OffsetDeleteCall& call);
  // Ends a transaction in one partition of __consumer_offsets.
  void write_marker(partition::MarkerRequest& request);
  // Forgets, durably, what was committed for that life of the topic, and what names no life.
  void on_topic_deleted(std::string_view topic, const base::Uuid& topic_id);

  void start();
  void stop();

 private:
  // Tombstones of one group on their way to the log.
  struct Removal : LogWrite {
    Group* group = nullptr;
    std::vector<std::pair<std::string, int32_t>> keys;
    bool whole_group = false;
    bool expiry = false;
    DeleteGroupsCall* call = nullptr;
    wire::DeleteGroupsResponse::Group* answer = nullptr;
    OffsetDeleteCall* offset_delete = nullptr;
    std::list<Removal>::iterator self;
  };

  // A marker on its way to the log.
  struct MarkerWrite : LogWrite {
    partition::MarkerRequest* request = nullptr;
    std::list<MarkerWrite>::iterator self;
  };

  model::ErrorCode check_commit(const OffsetCommitCall& call, Group* group) const;
  static model::ErrorCode check_consumer_commit(const OffsetCommitCall& call,
                                                const ConsumerGroup& group);
  void commit_items(Group& group, OffsetCommitCall& call);
  void on_committed(LogWrite& write);
  void settle(OffsetCommitCall& call, const CommitItem& item, model::ErrorCode error);
  void on_marker(LogWrite& write);
  void finish(OffsetCommitCall& call, model::ErrorCode error);

  void fetch_group(const FetchItem& item, bool require_stable, base::Arena& arena);
  void fetch_all(const Group& group, bool require_stable,
                 wire::OffsetFetchResponse::Group& answer, base::Arena& arena);

  Removal& begin_removal(Group& group);
  void write_removal(Removal& removal);
  void on_removed(LogWrite& write);

  void on_expiry_timer();
  void expire_slice();
  void expire(Group& group, int64_t now_ms);

  io::CoreIo& io_;
  const GroupConfig& config_;
  GroupTable& table_;
  Membership& membership_;
  ConsumerGroups& consumer_groups_;
  LogWriter& log_writer_;
  RecordEncoder& encoder_;
  PendingOffsets& pending_;
  GroupMetrics& metrics_;
  std::list<Removal> removals_;
  std::list<MarkerWrite> markers_;
  RetentionClock retention_clock_;
  io::Timer expiry_timer_;
  size_t groups_to_check_ = 0;  // of the round of expiry that is under way
};

}  // namespace weir::group
