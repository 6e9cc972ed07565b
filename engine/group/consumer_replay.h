#pragma once
// ConsumerReplay: what the records of consumer groups say, applied to the groups of this core at
// start, in the order of the log. A log that was compacted has the records of one member in any
// order: the first of them makes the member, and what has no member record at the end is dropped
// (ConsumerGroups::start).

#include "engine/group/group_table.h"
#include "engine/log/record_batch.h"
#include "io/base/arena.h"

namespace weir::group {

class ConsumerReplay {
 public:
  ConsumerReplay(GroupTable& table, GroupTimeouts& timeouts, ConsumerTimeouts& consumer_timeouts)
      : table_(table), timeouts_(timeouts), consumer_timeouts_(consumer_timeouts) {}

  // Whether records of that type are for it.
  static bool handles(int16_t type);
  // False: the record was not understood. Scratch is the caller's to empty.
  bool apply(model::PartitionIndex partition, int16_t type, const log::Record& record,
             base::Arena& scratch);

 private:
  template <class Key, class Value, class Put, class Forget>
  bool apply_as(model::PartitionIndex partition, const log::Record& record, base::Arena& scratch,
                Put put, Forget forget);
  bool apply_member(model::PartitionIndex partition, const log::Record& record,
                    base::Arena& scratch);
  bool apply_current(model::PartitionIndex partition, const log::Record& record,
                     base::Arena& scratch);

  GroupTable& table_;
  GroupTimeouts& timeouts_;
  ConsumerTimeouts& consumer_timeouts_;
};

}  // namespace weir::group
