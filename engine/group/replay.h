#pragma once
// Replay: what the batches of __consumer_offsets say, applied to the groups of this core at start,
// in the order of the log. Reads records of all versions; those of share and streams groups are
// left alone.

#include <span>

#include "engine/group/consumer_replay.h"
#include "engine/group/group_table.h"
#include "engine/group/pending_offsets.h"
#include "engine/log/inflater.h"
#include "engine/log/record_batch.h"
#include "engine/wire/records/group_metadata.h"
#include "io/base/arena.h"

namespace weir::group {

class Replay {
 public:
  Replay(GroupTable& table, GroupTimeouts& timeouts, ConsumerTimeouts& consumer_timeouts,
         PendingOffsets& pending);

  // Whole batches. Damage was found before, by the log; what cannot be understood is counted.
  void apply(model::PartitionIndex partition, std::span<const std::byte> batches);

  uint64_t records() const { return records_; }
  uint64_t records_skipped() const { return records_skipped_; }

 private:
  // Where the batch is of a transaction, its producer; else kNoProducerId.
  void apply_records(model::PartitionIndex partition, model::ProducerId producer_id,
                     std::span<const std::byte> records);
  bool apply_record(model::PartitionIndex partition, model::ProducerId producer_id,
                    const log::Record& record);
  bool apply_offset(model::PartitionIndex partition, model::ProducerId producer_id,
                    const log::Record& record);
  bool apply_group(model::PartitionIndex partition, const log::Record& record);
  void restore_members(Group& group, const wire::GroupMetadataValue& value);

  GroupTable& table_;
  GroupTimeouts& timeouts_;
  ConsumerReplay consumer_replay_;
  PendingOffsets& pending_;
  base::Arena arena_;
  uint64_t records_ = 0;
  uint64_t records_skipped_ = 0;
};

}  // namespace weir::group
