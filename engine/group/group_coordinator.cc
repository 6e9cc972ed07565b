#include "engine/group/group_coordinator.h"

#include "engine/group/group_admin.h"
#include "engine/model/ports.h"
#include "io/base/logging.h"

namespace weir::group {

using model::ErrorCode;

GroupCoordinator::GroupCoordinator(io::CoreIo& io, GroupLog& log, const Topics& topics,
                                   const GroupConfig& config)
    : io_(io),
      table_(io, metrics_),
      log_writer_(io, log, metrics_),
      encoder_(log_writer_),
      pending_(table_),
      membership_(io, config, table_, log_writer_, encoder_, metrics_),
      consumer_groups_(io, config, topics, table_, membership_, log_writer_, encoder_, metrics_),
      offsets_(io, config, table_, membership_, consumer_groups_, log_writer_, encoder_, pending_,
               metrics_),
      replay_(table_, membership_, consumer_groups_, pending_) {
  io_.mailboxes.listen<&GroupCoordinator::on_call>(model::ports::kGroup, *this);
  io_.mailboxes.listen<&GroupCoordinator::on_list>(model::ports::kListGroups, *this);
  io_.mailboxes.listen<&GroupCoordinator::on_marker>(model::ports::kGroupMarker, *this);
}

void GroupCoordinator::replay(model::PartitionIndex partition, std::span<const std::byte> batches) {
  ASSERT(!serving_);
  replay_.apply(partition, batches);
}

void GroupCoordinator::replay_done() {
  ASSERT(!serving_);
  serving_ = true;
  table_.for_each([&](Group& group) {
    membership_.start(group);
    if (group.consumer) consumer_groups_.start(group);
    table_.forget_if_idle(group);
  });
  offsets_.start();
  base::log_info("group", "restored core={} groups={} offsets={} records={} records_skipped={}",
                 io_.index.value(), metrics_.groups, metrics_.offsets, replay_.records(),
                 replay_.records_skipped());
}

void GroupCoordinator::stop() {
  serving_ = false;
  membership_.stop();
  consumer_groups_.stop();
  offsets_.stop();
}

void GroupCoordinator::on_topic_deleted(std::string_view topic, const base::Uuid& topic_id) {
  offsets_.on_topic_deleted(topic, topic_id);
}

std::set<std::pair<std::string, base::Uuid>> GroupCoordinator::committed_topics() {
  std::set<std::pair<std::string, base::Uuid>> lives;
  table_.for_each([&](Group& group) {
    for (const auto& [topic, partitions] : group.offsets.topics()) {
      for (const auto& [partition, slot] : partitions) lives.emplace(topic, slot.value.topic_id);
    }
  });
  return lives;
}

void GroupCoordinator::on_call(io::Message& message) {
  auto& call = static_cast<GroupCall&>(message);
  call.outcome_unknown = false;
  if (!serving_) return refuse(call);
  // Which type of call it is follows from its key (messages.h).
  if (call.api == wire::ApiKey::offset_commit) {
    offsets_.commit(static_cast<OffsetCommitCall&>(call));
  } else if (call.api == wire::ApiKey::heartbeat) {
    membership_.heartbeat(static_cast<HeartbeatCall&>(call));
  } else if (call.api == wire::ApiKey::offset_fetch) {
    offsets_.fetch(static_cast<OffsetFetchCall&>(call));
  } else if (call.api == wire::ApiKey::join_group) {
    join(static_cast<JoinGroupCall&>(call));
  } else if (call.api == wire::ApiKey::sync_group) {
    membership_.sync(static_cast<SyncGroupCall&>(call));
  } else if (call.api == wire::ApiKey::leave_group) {
    leave(static_cast<LeaveGroupCall&>(call));
  } else if (call.api == wire::ApiKey::consumer_group_heartbeat) {
    consumer_groups_.heartbeat(static_cast<ConsumerGroupHeartbeatCall&>(call));
  } else if (call.api == wire::ApiKey::consumer_group_describe) {
    consumer_groups_.describe(static_cast<ConsumerGroupDescribeCall&>(call));
    io_.mailboxes.reply(call);
  } else if (call.api == wire::ApiKey::describe_groups) {
    describe_groups(table_, static_cast<DescribeGroupsCall&>(call));
    io_.mailboxes.reply(call);
  } else if (call.api == wire::ApiKey::delete_groups) {
    offsets_.delete_groups(static_cast<DeleteGroupsCall&>(call));
  } else if (call.api == wire::ApiKey::offset_delete) {
    offsets_.delete_offsets(static_cast<OffsetDeleteCall&>(call));
  } else {
    UNREACHABLE("api key {}", static_cast<int>(call.api));
  }
}

// A consumer group without members becomes a classic one for whoever joins it so.
void GroupCoordinator::join(JoinGroupCall& call) {
  Group* const group = table_.find(call.request->group_id);
  if (group != nullptr && group->consumer && !group->is(GroupState::dead)) {
    if (!group->is_empty()) {
      return membership_.refuse(call, ErrorCode::inconsistent_group_protocol, "");
    }
    if (call.request->member_id.empty()) consumer_groups_.make_classic(*group);
  }
  membership_.join(call);
}

void GroupCoordinator::leave(LeaveGroupCall& call) {
  Group* const group = table_.find(call.request->group_id);
  const bool is_consumer = group != nullptr && group->consumer && !group->is(GroupState::dead);
  if (is_consumer) return consumer_groups_.leave_group(call, *group);
  membership_.leave(call);
}

void GroupCoordinator::on_list(io::Message& message) {
  auto& call = static_cast<ListGroupsCall&>(message);
  if (serving_) {
    list_groups(table_, call);
  } else {
    call.groups = {};
    call.error = ErrorCode::not_coordinator;
  }
  io_.mailboxes.reply(call);
}

void GroupCoordinator::on_marker(io::Message& message) {
  auto& request = static_cast<partition::MarkerRequest&>(message);
  if (serving_) return offsets_.write_marker(request);
  request.error = ErrorCode::not_coordinator;
  request.outcome_unknown = false;
  io_.mailboxes.reply(request);
}

namespace {

// Calls with one error for everything.
template <class Call>
void set_error(GroupCall& call, int16_t error) {
  auto& response = *static_cast<Call&>(call).response;
  response = {};
  response.error_code = error;
}

template <class Call>
void set_item_errors(GroupCall& call, int16_t error) {
  for (const auto& item : static_cast<Call&>(call).items) item.answer->error_code = error;
}

}  // namespace

void GroupCoordinator::refuse(GroupCall& call) {
  const auto error = static_cast<int16_t>(ErrorCode::not_coordinator);
  if (call.api == wire::ApiKey::join_group) {
    set_error<JoinGroupCall>(call, error);
    auto& join = static_cast<JoinGroupCall&>(call);
    join.response->protocol_name = std::nullopt;
    join.response->member_id = join.request->member_id;
  } else if (call.api == wire::ApiKey::sync_group) {
    set_error<SyncGroupCall>(call, error);
  } else if (call.api == wire::ApiKey::heartbeat) {
    set_error<HeartbeatCall>(call, error);
  } else if (call.api == wire::ApiKey::leave_group) {
    set_error<LeaveGroupCall>(call, error);
  } else if (call.api == wire::ApiKey::offset_commit) {
    set_item_errors<OffsetCommitCall>(call, error);
  } else if (call.api == wire::ApiKey::offset_fetch) {
    for (const FetchItem& item : static_cast<OffsetFetchCall&>(call).items) {
      item.answer->group_id = item.group->group_id;
      item.answer->error_code = error;
    }
  } else if (call.api == wire::ApiKey::describe_groups) {
    for (const DescribeItem& item : static_cast<DescribeGroupsCall&>(call).items) {
      item.answer->group_id = item.group_id;
      item.answer->error_code = error;
    }
  } else if (call.api == wire::ApiKey::consumer_group_heartbeat) {
    set_error<ConsumerGroupHeartbeatCall>(call, error);
  } else if (call.api == wire::ApiKey::consumer_group_describe) {
    for (const auto& item : static_cast<ConsumerGroupDescribeCall&>(call).items) {
      item.answer->group_id = item.group_id;
      item.answer->error_code = error;
    }
  } else if (call.api == wire::ApiKey::delete_groups) {
    for (const DeleteItem& item : static_cast<DeleteGroupsCall&>(call).items) {
      item.answer->group_id = item.group_id;
      item.answer->error_code = error;
    }
  } else if (call.api == wire::ApiKey::offset_delete) {
    static_cast<OffsetDeleteCall&>(call).error = ErrorCode::not_coordinator;
  } else {
    UNREACHABLE("api key {}", static_cast<int>(call.api));
  }
  io_.mailboxes.reply(call);
}

}  // namespace weir::group
