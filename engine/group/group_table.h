#pragma once
// GroupTable: the groups whose home is this core, and what they cost.

#include <memory>
#include <string_view>

#include "engine/group/group.h"
#include "engine/group/metrics.h"
#include "io/base/intrusive_list.h"
#include "io/base/logging.h"
#include "io/core_io.h"

namespace weir::group {

class GroupTable {
 public:
  GroupTable(io::CoreIo& io, GroupMetrics& metrics) : io_(io), metrics_(metrics) {}

  Group* find(std::string_view group_id) const;
  // Null when a limit forbids another group; one log line a minute says so.
  Group* create(std::string_view group_id, model::PartitionIndex partition,
                GroupTimeouts& timeouts);
  // While restoring: what is on the log is kept, limits or not.
  Group& find_or_restore(std::string_view group_id, model::PartitionIndex partition,
                         GroupTimeouts& timeouts);

  // Takes note of what a group costs now; after every change of one.
  void account(Group& group);
  // Whether something new of that size may be kept.
  bool has_room(size_t size);
  // The group if nothing of it is worth keeping: no member, no id given out, no offset, no record.
  void forget_if_idle(Group& group);
  void erase(Group& group);

  size_t size() const { return groups_.size(); }
  size_t memory_size() const { return memory_size_; }

  // Every group once, also when the visitor erases the one it is given.
  template <class Visitor>
  void for_each(Visitor visit) {
    for_next(groups_.size(), visit);
  }
  // The next `count` groups of an endless round through all.
  template <class Visitor>
  void for_next(size_t count, Visitor visit) {
    for (; count > 0 && !order_.empty(); --count) {
      Group& group = *order_.pop_front();
      order_.push_back(group);
      visit(group);
    }
  }

 private:
  Group& insert(std::string_view group_id, model::PartitionIndex partition,
                GroupTimeouts& timeouts);
  void log_limit(std::string_view what);

  io::CoreIo& io_;
  GroupMetrics& metrics_;
  TextMap<std::unique_ptr<Group>> groups_;
  base::IntrusiveList<Group> order_;
  size_t memory_size_ = 0;
  base::LogLimiter limiter_{1};
};

}  // namespace weir::group
