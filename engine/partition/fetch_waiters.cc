#include "engine/partition/fetch_waiters.h"

#include <algorithm>

namespace weir::partition {

void FetchWaiters::abandon() {
  while (!entries_.empty()) entries_.front().registration->abandon();
}

void FetchWaiters::on_bytes(const NewBytes& bytes) {
  // come_back() unlinks the entries of its watch, maybe several of this list: start over after one.
  WatchEntry* entry = entries_.empty() ? nullptr : &entries_.front();
  while (entry != nullptr) {
    WatchEntry* const next = entries_.next(*entry);
    WatchRegistration& registration = *entry->registration;
    registration.count(*entry, entry->read_committed ? bytes.stable : bytes.readable);
    if (registration.satisfied()) {
      const bool same = next != nullptr && next->registration == &registration;
      registration.come_back();
      // A partition is named once in a watch, so the next entry belongs to another one.
      ASSERT(!same);
    }
    entry = next;
  }
}

void FetchWaiters::on_change() {
  while (!entries_.empty()) entries_.front().registration->come_back();
}

void FetchWaiters::on_start_moved(model::Offset start) {
  // As in on_bytes(): a watch that comes back unlinks entries, but only one of this list.
  WatchEntry* entry = entries_.empty() ? nullptr : &entries_.front();
  while (entry != nullptr) {
    WatchEntry* const next = entries_.next(*entry);
    if (entry->fetch_offset < start) entry->registration->come_back();
    entry = next;
  }
}

WatchRegistration::WatchRegistration(io::Mailboxes& mailboxes, WatchRequest& request)
    : mailboxes_(mailboxes), request_(request), entries_(request.items.size()) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].registration = this;
    entries_[i].fetch_offset = request.items[i].fetch_offset;
    entries_[i].size_max = request.items[i].size_max;
    entries_[i].read_committed = request.items[i].read_committed;
  }
}

void WatchRegistration::count(WatchEntry& entry, uint64_t size) {
  const uint64_t more = std::min(size, entry.size_max - std::min(entry.available, entry.size_max));
  entry.available += more;
  available_ += more;
}

void WatchRegistration::come_back() {
  for (WatchEntry& entry : entries_) entry.unlink();
  request_.registration = nullptr;
  WatchRequest& request = request_;
  io::Mailboxes& mailboxes = mailboxes_;
  delete this;
  mailboxes.reply(request);
}

void WatchRegistration::abandon() {
  for (WatchEntry& entry : entries_) entry.unlink();
  delete this;
}

}  // namespace weir::partition
