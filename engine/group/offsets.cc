#include "engine/group/offsets.h"

#include <algorithm>

#include "engine/group/append_errors.h"
#include "engine/group/arena_copy.h"
#include "engine/group/group_partition.h"
#include "engine/group/limits.h"
#include "engine/model/planted.h"

namespace weir::group {

using model::ErrorCode;

Offsets::Offsets(io::CoreIo& io, const GroupConfig& config, GroupTable& table,
                 Membership& membership, ConsumerGroups& consumer_groups, LogWriter& log_writer,
                 RecordEncoder& encoder, PendingOffsets& pending, GroupMetrics& metrics)
    : io_(io),
      config_(config),
      table_(table),
      membership_(membership),
      consumer_groups_(consumer_groups),
      log_writer_(log_writer),
      encoder_(encoder),
      pending_(pending),
      metrics_(metrics) {
  expiry_timer_.bind<&Offsets::on_expiry_timer>(*this);
}

// --- OffsetCommit --------------------------------------------------------------------------------

namespace {

constexpr int16_t kVersionRetentionFirst = 2;
constexpr int16_t kVersionRetentionLast = 4;
constexpr int16_t kCommitVersionGroupIdNotFound = 9;
constexpr int16_t kVersionMemberEpoch = 9;

// When the offset is to be forgotten whatever the group does; -1: as the group's retention says.
int64_t expire_timestamp(const OffsetCommitCall& call, int64_t now_ms) {
  const bool given = !call.transactional && call.api_version >= kVersionRetentionFirst &&
                     call.api_version <= kVersionRetentionLast &&
                     call.request->retention_time_ms != -1;
  if (!given) return -1;
  int64_t expire_ms = 0;
  const bool overflow =
      __builtin_add_overflow(now_ms, call.request->retention_time_ms, &expire_ms);
  // -1 means "not given" in the record; a time before 1970 is as expired as 0.
  if (overflow) return call.request->retention_time_ms > 0 ? INT64_MAX : 0;
  return std::max<int64_t>(expire_ms, 0);
}

}  // namespace

void Offsets::commit(OffsetCommitCall& call) {
  const wire::OffsetCommitRequest& request = *call.request;
  Group* group = table_.find(request.group_id);
  const ErrorCode error = check_commit(call, group);
  if (error != ErrorCode::none) return finish(call, error);
  if (group == nullptr) {
    // Consumers that assign themselves commit without ever joining: a simple group.
    group = table_.create(request.group_id, call.offsets_partition, membership_);
    if (group == nullptr) return finish(call, ErrorCode::coordinator_not_available);
  }
  // A commit shows life as well as a heartbeat does.
  Member* const member = group->find_member(request.member_id);
  if (member != nullptr &&
      (group->is(GroupState::stable) || group->is(GroupState::preparing_rebalance))) {
    membership_.touch(*member);
  }
  commit_items(*group, call);
  table_.forget_if_idle(*group);
}

ErrorCode Offsets::check_commit(const OffsetCommitCall& call, Group* group) const {
  const wire::OffsetCommitRequest& request = *call.request;
  const int32_t generation = request.generation_id_or_member_epoch;
  if (group == nullptr) {
    if (generation < 0) return ErrorCode::none;
    const bool newer = !call.transactional && call.api_version >= kCommitVersionGroupIdNotFound;
    return newer ? ErrorCode::group_id_not_found : ErrorCode::illegal_generation;
  }
  if (group->is(GroupState::dead)) return ErrorCode::coordinator_not_available;
  // Generation -1 in a group without members is a simple commit, whatever else it says (C73).
  if (generation < 0 && group->is_empty()) return ErrorCode::none;
  if (group->consumer) return check_consumer_commit(call, *group->consumer);
  if (generation >= 0 || !request.member_id.empty() || request.group_instance_id) {
    const ErrorCode error = group->check_member(request.member_id, request.group_instance_id);
    if (error != ErrorCode::none) return error;
    if (generation != group->generation()) return ErrorCode::illegal_generation;
  } else if (!call.transactional && !group->is(GroupState::empty)) {
    return ErrorCode::unknown_member_id;
  }
  // A transaction ends with what its member had, whatever the group does meanwhile (KIP-447).
  if (call.transactional) return ErrorCode::none;
  // The member knows the new generation but not yet its assignment.
  if (group->is(GroupState::completing_rebalance)) return ErrorCode::rebalance_in_progress;
  return ErrorCode::none;
}

// As ConsumerGroup.validateOffsetCommit.
ErrorCode Offsets::check_consumer_commit(const OffsetCommitCall& call, const ConsumerGroup& group) {
  const wire::OffsetCommitRequest& request = *call.request;
  const int32_t epoch = request.generation_id_or_member_epoch;
  const bool says_nothing = epoch < 0 && request.member_id.empty() && !request.group_instance_id;
  if (call.transactional && says_nothing) return ErrorCode::none;
  const ErrorCode error = ConsumerGroups::check_epoch(group, request.member_id, epoch);
  if (error == ErrorCode::unknown_member_id) return error;
  if (!call.transactional && call.api_version < kVersionMemberEpoch) {
    return ErrorCode::unsupported_version;
  }
  // TxnOffsetCommit knows no epochs of members.
  const bool stale = error == ErrorCode::stale_member_epoch;
  return stale && call.transactional ? ErrorCode::illegal_generation : error;
}

void Offsets::commit_items(Group& group, OffsetCommitCall& call) {
  const int64_t now_ms = io_.clock.wall_ms();
  call.group = &group;
  call.commit_timestamp_ms = now_ms;
  call.expire_timestamp_ms = expire_timestamp(call, now_ms);
  size_t accepted_size = 0;
  size_t accepted = 0;
  for (CommitItem& item : call.items) {
    item.slot = nullptr;
    const std::string_view metadata = item.partition->committed_metadata.value_or("");
    if (utf16_length(metadata) > static_cast<size_t>(config_.offset_metadata_size_max)) {
      item.answer->error_code = static_cast<int16_t>(ErrorCode::offset_metadata_too_large);
      continue;
    }
    const size_t size = 2 * kOffsetCost + item.topic.size() + metadata.size();
    if (!table_.has_room(accepted_size + size)) {
      item.answer->error_code = static_cast<int16_t>(ErrorCode::coordinator_not_available);
      continue;
    }
    accepted_size += size + group.id().size();
    ++accepted;
    item.slot = &group.offsets.make_slot(item.topic, item.partition->partition_index);
    ++(call.transactional ? item.slot->transactional : item.slot->pending);
  }
  if (accepted == 0) {
    io_.mailboxes.reply(call);
    return;
  }
  if (call.transactional) {
    log_writer_.open_transactional(group.partition(), call.producer_id, call.producer_epoch,
                                   call.transaction);
  } else {
    log_writer_.open(group.partition(), accepted_size);
  }
  for (const CommitItem& item : call.items) {
    if (item.slot == nullptr) continue;
    const CommittedOffset value{.offset = item.partition->committed_offset,
                                .leader_epoch = item.partition->committed_leader_epoch,
                                .commit_timestamp_ms = now_ms,
                                .expire_timestamp_ms = call.expire_timestamp_ms,
                                .topic_id = item.topic_id,
                                .metadata = {}};
    encoder_.add_offset(group.id(), item.topic, item.partition->partition_index, value,
                        item.partition->committed_metadata.value_or(""));
  }
  ++group.writes_in_flight;
  call.write.bind<&Offsets::on_committed>(*this);
  call.write.call = &call;
  if (model::planted(model::Bug::offset_commit_acked_early)) return on_committed(call.write);
  log_writer_.wait(call.write);
}

void Offsets::on_committed(LogWrite& write) {
  OffsetCommitCall& call = *static_cast<CommitWrite&>(write).call;
  Group& group = *call.group;
  --group.writes_in_flight;
  const ErrorCode error = error_of_offset_write(write.error);
  call.outcome_unknown = write.outcome_unknown;
  for (const CommitItem& item : call.items) {
    if (item.slot != nullptr) settle(call, item, error);
  }
  table_.forget_if_idle(group);
  io_.mailboxes.reply(call);
}

void Offsets::settle(OffsetCommitCall& call, const CommitItem& item, ErrorCode error) {
  Group& group = *call.group;
  const int32_t partition = item.partition->partition_index;
  if (error != ErrorCode::none) {
    --(call.transactional ? item.slot->transactional : item.slot->pending);
    item.answer->error_code = static_cast<int16_t>(error);
    return group.offsets.erase_if_free(item.topic, partition);
  }
  ++metrics_.offset_commits;
  CommittedOffset value{.offset = item.partition->committed_offset,
                        .leader_epoch = item.partition->committed_leader_epoch,
                        .commit_timestamp_ms = call.commit_timestamp_ms,
                        .expire_timestamp_ms = call.expire_timestamp_ms,
                        .topic_id = item.topic_id,
                        .metadata = std::string(item.partition->committed_metadata.value_or(""))};
  if (model::planted(model::Bug::transactional_offsets_at_once) && call.transactional) {
    group.offsets.set(*item.slot, CommittedOffset(value));
  }
  if (!call.transactional) {
    --item.slot->pending;
    item.slot->order = pending_.next_order();
    return group.offsets.set(*item.slot, std::move(value));
  }
  pending_.add(group.partition(), call.producer_id, group, item.topic, partition,
               std::move(value));
  --item.slot->transactional;  // add() holds the slot now
}

void Offsets::finish(OffsetCommitCall& call, ErrorCode error) {
  for (const CommitItem& item : call.items) item.answer->error_code = static_cast<int16_t>(error);
  io_.mailboxes.reply(call);
}

// --- transactions --------------------------------------------------------------------------------

void Offsets::write_marker(partition::MarkerRequest& request) {
  MarkerWrite& write = markers_.emplace_back();
  write.self = std::prev(markers_.end());
  write.request = &request;
  write.bind<&Offsets::on_marker>(*this);
  log_writer_.write_marker(request, write);
}

void Offsets::on_marker(LogWrite& write) {
  auto& marker = static_cast<MarkerWrite&>(write);
  partition::MarkerRequest& request = *marker.request;
  request.error = write.error;
  request.outcome_unknown = write.outcome_unknown;
  if (write.error == ErrorCode::none && !write.outcome_unknown) {
    pending_.end(request.key.index, request.producer_id, request.marker.commit);
  }
  markers_.erase(marker.self);
  io_.mailboxes.reply(request);
}

// --- OffsetFetch ---------------------------------------------------------------------------------

void Offsets::fetch(OffsetFetchCall& call) {
  for (const FetchItem& item : call.items) fetch_group(item, call.require_stable, *call.arena);
  io_.mailboxes.reply(call);
}

namespace {

wire::OffsetFetchResponse::GroupPartition answer_of(int32_t partition, bool unstable,
                                                    const CommittedOffset* value,
                                                    ArenaCopy& copy) {
  wire::OffsetFetchResponse::GroupPartition answer;
  answer.partition_index = partition;
  answer.committed_offset = -1;
  if (unstable) {
    answer.error_code = static_cast<int16_t>(ErrorCode::unstable_offset_commit);
  } else if (value != nullptr) {
    answer.committed_offset = value->offset;
    answer.committed_leader_epoch = value->leader_epoch;
    answer.metadata = copy.text(value->metadata);
  }
  return answer;
}

}  // namespace

// One entry for each partition asked, in its order; no error where nothing is known (C12, C13).
void Offsets::fetch_group(const FetchItem& item, bool require_stable, base::Arena& arena) {
  const wire::OffsetFetchRequest::Group& asked = *item.group;
  wire::OffsetFetchResponse::Group& answer = *item.answer;
  answer.group_id = asked.group_id;
  const Group* const group = table_.find(asked.group_id);
  if (group != nullptr && group->consumer && (asked.member_id || asked.member_epoch >= 0)) {
    const ErrorCode error = ConsumerGroups::check_epoch(
        *group->consumer, asked.member_id.value_or(""), asked.member_epoch);
    answer.error_code = static_cast<int16_t>(error);
    if (error != ErrorCode::none) return;
  }
  if (asked.topics.is_null()) {
    if (group != nullptr) fetch_all(*group, require_stable, answer, arena);
    return;
  }
  ArenaCopy copy(arena);
  answer.topics = copy.array<wire::OffsetFetchResponse::GroupTopic>(asked.topics.size());
  for (size_t i = 0; i < answer.topics.size(); ++i) {
    const auto& topic = asked.topics[i];
    auto& topic_answer = answer.topics[i];
    const size_t count = topic.partition_indexes.size();
    topic_answer.name = topic.name;
    topic_answer.topic_id = topic.topic_id;
    topic_answer.partitions = copy.array<wire::OffsetFetchResponse::GroupPartition>(count);
    for (size_t k = 0; k < topic_answer.partitions.size(); ++k) {
      const int32_t partition = topic.partition_indexes[k];
      const CommittedOffset* const value =
          group == nullptr ? nullptr : group->offsets.find(topic.name, topic.topic_id, partition);
      const bool unstable = require_stable && group != nullptr &&
                            group->offsets.is_unstable(topic.name, partition);
      topic_answer.partitions[k] = answer_of(partition, unstable, value, copy);
      ++metrics_.offset_fetches;
    }
  }
  // Offset -1 without error would make clients start from the beginning (C14).
  if (!copy.ok()) {
    answer.topics = {};
    answer.error_code = static_cast<int16_t>(ErrorCode::coordinator_not_available);
  }
}

void Offsets::fetch_all(const Group& group, bool require_stable,
                        wire::OffsetFetchResponse::Group& answer, base::Arena& arena) {
  const auto has_value = [](const auto& entry) { return entry.second.has_value; };
  const auto is_visible = [&](const auto& entry) {
    return std::ranges::any_of(entry.second, has_value);
  };
  ArenaCopy copy(arena);
  const auto topic_count = std::ranges::count_if(group.offsets.topics(), is_visible);
  answer.topics =
      copy.array<wire::OffsetFetchResponse::GroupTopic>(static_cast<size_t>(topic_count));
  size_t next = 0;
  for (const auto& entry : group.offsets.topics()) {
    if (answer.topics.is_null() || !is_visible(entry)) continue;
    auto& topic_answer = answer.topics[next++];
    topic_answer.name = copy.text(entry.first);
    const auto count = static_cast<size_t>(std::ranges::count_if(entry.second, has_value));
    topic_answer.partitions = copy.array<wire::OffsetFetchResponse::GroupPartition>(count);
    if (topic_answer.partitions.is_null()) break;
    size_t next_partition = 0;
    for (const auto& [partition, slot] : entry.second) {
      if (!slot.has_value) continue;
      topic_answer.partitions[next_partition++] = answer_of(
          partition, require_stable && slot.transactional > 0, &slot.value, copy);
      topic_answer.topic_id = slot.value.topic_id;
      ++metrics_.offset_fetches;
    }
  }
  if (!copy.ok()) {
    answer.topics = {};
    answer.error_code = static_cast<int16_t>(ErrorCode::coordinator_not_available);
  }
}

}  // namespace weir::group
