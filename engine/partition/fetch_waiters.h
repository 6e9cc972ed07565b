#pragma once
// FetchWaiters: the watches that hang on one partition. A commit tells them how many bytes became
// readable; a watch comes back when its partitions together have enough. No polling: nothing
// happens in between. Owned by a partition; a watch belongs to the WatchRequest of its sender and
// is registered by WatchTable.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/partition/messages.h"
#include "io/base/intrusive_list.h"

namespace weir::partition {

class WatchRegistration;

// One partition of one watch.
struct WatchEntry : base::ListHook {
  WatchRegistration* registration = nullptr;
  model::Offset fetch_offset;
  uint64_t size_max = 0;
  bool read_committed = false;
  uint64_t available = 0;  // bytes counted so far, at most size_max
};

// What one commit brought, in bytes: below the high watermark, and below the last stable offset.
struct NewBytes {
  uint64_t readable = 0;
  uint64_t stable = 0;
};

class FetchWaiters {
 public:
  FetchWaiters() = default;
  FetchWaiters(const FetchWaiters&) = delete;

  bool empty() const { return entries_.empty(); }
  void add(WatchEntry& entry) { entries_.push_back(entry); }
  // More bytes can be read.
  void on_bytes(const NewBytes& bytes);
  // The partition would now answer with an error, or its limits moved: every watch must look again.
  void on_change();
  // The log starts at `start` now: watches of offsets before it would be answered with an error.
  void on_start_moved(model::Offset start);
  // The core goes away: watches are forgotten, not answered.
  void abandon();

 private:
  base::IntrusiveList<WatchEntry> entries_;
};

// All of one WatchRequest on this core. Lives from registration until it has come back.
class WatchRegistration {
 public:
  WatchRegistration(io::Mailboxes& mailboxes, WatchRequest& request);

  std::vector<WatchEntry>& entries() { return entries_; }
  void count(WatchEntry& entry, uint64_t size);
  bool satisfied() const { return available_ >= request_.size_min; }
  // Leaves all partitions, sends the request back and ends.
  void come_back();
  void abandon();

 private:
  io::Mailboxes& mailboxes_;
  WatchRequest& request_;
  std::vector<WatchEntry> entries_;
  uint64_t available_ = 0;
};

}  // namespace weir::partition
