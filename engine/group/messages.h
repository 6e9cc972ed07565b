#pragma once
// What handlers ask of a group's home core (ports kGroup and kListGroups). A call is memory of its
// sender: it names the decoded request and the response to fill, sends itself to the home core of
// its groups, and encodes the response when it is back. While it is away the home core owns the
// request's arena and places in it what the response points at; so one request has at most one call
// away.

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/group/log_writer.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/consumer_group_describe.h"
#include "engine/wire/messages/consumer_group_heartbeat.h"
#include "engine/wire/messages/delete_groups.h"
#include "engine/wire/messages/describe_groups.h"
#include "engine/wire/messages/heartbeat.h"
#include "engine/wire/messages/join_group.h"
#include "engine/wire/messages/leave_group.h"
#include "engine/wire/messages/list_groups.h"
#include "engine/wire/messages/offset_commit.h"
#include "engine/wire/messages/offset_delete.h"
#include "engine/wire/messages/offset_fetch.h"
#include "engine/wire/messages/sync_group.h"
#include "io/base/arena.h"
#include "io/mailbox.h"

namespace weir::group {

class Group;
struct OffsetSlot;

class GroupCall : public io::Message {
 public:
  const wire::ApiKey api;
  // in
  int16_t api_version = 0;
  base::Arena* arena = nullptr;
  // Partition of __consumer_offsets of the group named (offsets_partition_of). Of calls that name
  // one group; a call with items goes to the core that is home to all of them.
  model::PartitionIndex offsets_partition;
  std::string_view client_id;    // "" when the client sent none
  std::string_view client_host;  // as Java prints it: "/127.0.0.1"
  // out
  bool outcome_unknown = false;  // the device failed: close the connection, answer nothing

 protected:
  explicit GroupCall(wire::ApiKey key) : api(key) {}
};

// Calls that are one request and one response.
template <class Request, class Response>
class GroupCallOf : public GroupCall {
 public:
  GroupCallOf() : GroupCall(static_cast<wire::ApiKey>(Request::kInfo.key)) {}
  const Request* request = nullptr;
  Response* response = nullptr;
};

using JoinGroupCall = GroupCallOf<wire::JoinGroupRequest, wire::JoinGroupResponse>;
using SyncGroupCall = GroupCallOf<wire::SyncGroupRequest, wire::SyncGroupResponse>;
using HeartbeatCall = GroupCallOf<wire::HeartbeatRequest, wire::HeartbeatResponse>;
using LeaveGroupCall = GroupCallOf<wire::LeaveGroupRequest, wire::LeaveGroupResponse>;
using ConsumerGroupHeartbeatCall =
    GroupCallOf<wire::ConsumerGroupHeartbeatRequest, wire::ConsumerGroupHeartbeatResponse>;

// One partition to commit. The handler has found the topic; what it did not find it answers itself.
struct CommitItem {
  std::string_view topic;
  base::Uuid topic_id;  // of the topic's present life; zero when not known
  const wire::OffsetCommitRequest::Partition* partition = nullptr;
  wire::OffsetCommitResponse::Partition* answer = nullptr;
  OffsetSlot* slot = nullptr;  // the home core's own
};

class OffsetCommitCall;

// The home core's wait for the records of a commit.
struct CommitWrite : LogWrite {
  OffsetCommitCall* call = nullptr;
};

class OffsetCommitCall : public GroupCall {
 public:
  OffsetCommitCall() : GroupCall(wire::ApiKey::offset_commit) {}
  const wire::OffsetCommitRequest* request = nullptr;
  std::span<CommitItem> items;  // at least one
  // TxnOffsetCommit: what is committed counts when the producer's transaction commits.
  bool transactional = false;
  model::ProducerId producer_id = model::kNoProducerId;
  model::ProducerEpoch producer_epoch{-1};
  uint64_t transaction = 0;  // its number, as its coordinator gave it
  // The home core's own.
  Group* group = nullptr;
  int64_t commit_timestamp_ms = 0;
  int64_t expire_timestamp_ms = -1;
  CommitWrite write;
};

// One group to look up, in the form of versions 8 and later with names filled in. Topics that the
// handler could not translate (version 10) it leaves out and answers itself.
struct FetchItem {
  const wire::OffsetFetchRequest::Group* group = nullptr;  // topic ids: zero when not known
  wire::OffsetFetchResponse::Group* answer = nullptr;
};

class OffsetFetchCall : public GroupCall {
 public:
  OffsetFetchCall() : GroupCall(wire::ApiKey::offset_fetch) {}
  std::span<const FetchItem> items;
  bool require_stable = false;
};

struct DescribeItem {
  std::string_view group_id;
  wire::DescribeGroupsResponse::Group* answer = nullptr;
};

class DescribeGroupsCall : public GroupCall {
 public:
  DescribeGroupsCall() : GroupCall(wire::ApiKey::describe_groups) {}
  std::span<const DescribeItem> items;
};

struct ConsumerDescribeItem {
  std::string_view group_id;
  wire::ConsumerGroupDescribeResponse::Group* answer = nullptr;
};

class ConsumerGroupDescribeCall : public GroupCall {
 public:
  ConsumerGroupDescribeCall() : GroupCall(wire::ApiKey::consumer_group_describe) {}
  std::span<const ConsumerDescribeItem> items;
};

struct DeleteItem {
  std::string_view group_id;
  wire::DeleteGroupsResponse::Group* answer = nullptr;
};

class DeleteGroupsCall : public GroupCall {
 public:
  DeleteGroupsCall() : GroupCall(wire::ApiKey::delete_groups) {}
  std::span<const DeleteItem> items;
  size_t outstanding = 0;  // the home core's own
};

// One partition whose committed offset is to be forgotten. The topic exists: what does not, the
// handler answers itself.
struct OffsetDeleteItem {
  std::string_view topic;
  wire::OffsetDeleteResponse::Partition* answer = nullptr;  // its partition_index is set
};

class OffsetDeleteCall : public GroupCall {
 public:
  OffsetDeleteCall() : GroupCall(wire::ApiKey::offset_delete) {}
  std::string_view group_id;
  std::span<const OffsetDeleteItem> items;  // at least one
  model::ErrorCode error = model::ErrorCode::none;  // out: of the group as a whole
};

// Every core's groups; the handler sends it from core to core and joins the arrays.
class ListGroupsCall : public GroupCall {
 public:
  ListGroupsCall() : GroupCall(wire::ApiKey::list_groups) {}
  const wire::ListGroupsRequest* request = nullptr;
  wire::Array<wire::ListGroupsResponse::Group> groups;  // out, of the core that answered
  model::ErrorCode error = model::ErrorCode::none;
};

}  // namespace weir::group
