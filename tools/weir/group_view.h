#pragma once
// One consumer group as 'weir group describe' shows it: members, and per partition how far it has
// read
// and how far behind it is, in records and in seconds.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/weir/cluster.h"

namespace weir::tools {

struct GroupMember {
  std::string member_id;
  std::string instance_id;  // empty: dynamic
  std::string client_id;
  std::string host;
  std::vector<PartitionName> partitions;  // sorted
};

struct GroupPartition {
  PartitionName name;
  std::optional<int64_t> committed;  // nothing: never committed
  int64_t log_end = -1;              // -1: the partition does not exist any more
  std::optional<int64_t> lag;        // records from the committed offset to the log end
  // Age of the first record not read yet; 0 when there is none.
  std::optional<double> lag_seconds;
  const GroupMember* member = nullptr;  // who has it now; in GroupView::members
};

struct GroupView {
  std::string group_id;
  std::string state;          // as Kafka names them: Empty, Stable, ...
  std::string protocol_type;  // "consumer"
  std::string protocol;       // of the assignment: "range"
  std::vector<GroupMember> members;
  std::vector<GroupPartition> partitions;  // sorted
};

// Every group's id, sorted.
std::vector<std::string> list_group_ids(WireClient& client);

// Throws Failure when there is no such group.
GroupView describe_group(WireClient& client, const std::string& group_id);

// Committed offsets of a group; empty when it has none.
OffsetByPartition committed_offsets(WireClient& client, const std::string& group_id);

// What an assignment of the protocol type "consumer" gives; empty for bytes that are none.
std::vector<PartitionName> parse_assignment(std::span<const std::byte> bytes);

}  // namespace weir::tools
