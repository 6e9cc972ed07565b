#pragma once
// OffsetStore: the committed offsets of one group, on its home core.
//
// A commit is visible once it is durable. From the moment its record is handed to the log until
// then its slot is held (pending), so that whoever deletes meanwhile knows of it: records and what
// they do to the store have the same order.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "io/base/uuid.h"

namespace weir::group {

struct CommittedOffset {
  int64_t offset = -1;
  int32_t leader_epoch = -1;
  int64_t commit_timestamp_ms = -1;
  int64_t expire_timestamp_ms = -1;  // -1: by the group's retention
  base::Uuid topic_id;               // life of the topic it was committed for; zero: not known
  std::string metadata;
};

struct OffsetSlot {
  CommittedOffset value;
  bool has_value = false;
  uint32_t pending = 0;  // commits on their way to the log
  uint32_t transactional = 0;  // commits of open transactions, on their way or in the log
  uint64_t order = 0;          // of the value: what came later in the log has a higher one
  bool free() const { return !has_value && pending == 0 && transactional == 0; }
};

class OffsetStore {
 public:
  using Partitions = std::map<int32_t, OffsetSlot>;

  // No slot, or one that may be without value; addresses are stable while a slot is not free.
  OffsetSlot* find_slot(std::string_view topic, int32_t partition);
  OffsetSlot& make_slot(std::string_view topic, int32_t partition);
  // The offset that counts for a topic with that id; null when there is none.
  const CommittedOffset* find(std::string_view topic, const base::Uuid& topic_id,
                              int32_t partition) const;

  // A transaction that has not ended commits something else for it.
  bool is_unstable(std::string_view topic, int32_t partition) const;

  // Changes go through here: sizes are kept.
  void set(OffsetSlot& slot, CommittedOffset&& value);
  void clear(OffsetSlot& slot);
  void erase_if_free(std::string_view topic, int32_t partition);

  bool empty() const { return topics_.empty(); }     // no slot at all
  size_t value_count() const { return value_count_; }
  size_t memory_size() const { return memory_size_; }
  const std::map<std::string, Partitions, std::less<>>& topics() const { return topics_; }
  std::map<std::string, Partitions, std::less<>>& topics() { return topics_; }

 private:
  std::map<std::string, Partitions, std::less<>> topics_;  // no topic without partitions
  size_t value_count_ = 0;
  size_t memory_size_ = 0;
};

}  // namespace weir::group
