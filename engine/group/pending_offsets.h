#pragma once
// PendingOffsets: what transactions have committed for groups and not ended yet, on the groups'
// home core. A commit counts from its marker on, unless the group committed something else after it
// (OffsetMetadataManager). Filled by the log, live and in replay, in its order.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "engine/group/group_table.h"
#include "engine/group/offset_store.h"
#include "engine/model/ids.h"

namespace weir::group {

class PendingOffsets {
 public:
  explicit PendingOffsets(GroupTable& table) : table_(table) {}

  // A durable record of a transaction. Its slot in the group is held until the end.
  void add(model::PartitionIndex partition, model::ProducerId producer_id, Group& group,
           std::string_view topic, int32_t topic_partition, CommittedOffset&& value);
  // The producer's transaction in that partition of __consumer_offsets has ended.
  void end(model::PartitionIndex partition, model::ProducerId producer_id, bool commit);
  // A tombstone: whatever is pending for it is void.
  void forget(Group& group, std::string_view topic, int32_t topic_partition);

  // Position in the log of what is applied now, for comparison only.
  uint64_t next_order() { return ++order_; }
  size_t transaction_count() const { return transactions_.size(); }

 private:
  using Key = std::tuple<std::string, std::string, int32_t>;  // group, topic, partition
  struct Pending {
    CommittedOffset value;
    uint64_t order = 0;
  };
  using TransactionKey = std::pair<model::PartitionIndex, model::ProducerId>;

  void release(Group& group, std::string_view topic, int32_t topic_partition);

  GroupTable& table_;
  std::map<TransactionKey, std::map<Key, Pending>> transactions_;
  uint64_t order_ = 0;
};

}  // namespace weir::group
