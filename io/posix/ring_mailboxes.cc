#include "io/posix/ring_mailboxes.h"

namespace weir::io::posix {

MailboxGrid::MailboxGrid(uint16_t core_count) : core_count_(core_count) {
  ASSERT(core_count > 0 && core_count <= kCoresMax, "{} cores", core_count);
  const size_t pairs = size_t{core_count} * core_count;
  lanes_.reserve(pairs);
  for (size_t i = 0; i < pairs; ++i) lanes_.push_back(std::make_unique<Lane>());
  for (size_t i = 0; i < core_count; ++i) {
    sleep_flags_.push_back(std::make_unique<base::SleepFlag>());
  }
}

RingMailboxes::RingMailboxes(CoreIndex self, MailboxGrid& grid, Waker& waker)
    : Mailboxes(self), grid_(grid), waker_(waker), peers_(grid.core_count()) {}

void RingMailboxes::Queue::push(Message& message) {
  next_of(message) = nullptr;
  (tail != nullptr ? next_of(*tail) : head) = &message;
  tail = &message;
}

Message* RingMailboxes::Queue::pop() {
  Message* const message = head;
  if (message == nullptr) return nullptr;
  head = next_of(*message);
  if (head == nullptr) tail = nullptr;
  next_of(*message) = nullptr;
  return message;
}

void RingMailboxes::transport(CoreIndex to, Message& message) {
  ASSERT(to.value() < peers_.size(), "no core {}", to.value());
  Peer& peer = peers_[to.value()];
  if (to == self()) {
    peer.backlog.push(message);
    return;
  }
  peer.sent = true;
  // Behind a backlog everything waits, or messages of one pair would overtake each other.
  if (peer.backlog.empty() && grid_.lane(self(), to).ring.push(message)) return;
  if (peer.backlog.empty()) ++backlogged_;
  peer.backlog.push(message);
}

bool RingMailboxes::drain() {
  bool any = drain_own();
  for (uint16_t i = 0; i < peers_.size(); ++i) {
    const CoreIndex from{i};
    if (from == self()) continue;
    Lane& lane = grid_.lane(from, self());
    const size_t count = lane.ring.size();
    if (count == 0) continue;
    any = true;
    for (size_t n = 0; n < count; ++n) deliver(*lane.ring.pop());
    if (lane.sender_waits.claim() && grid_.sleep_flag(from).claim()) waker_.wake(from);
  }
  return any;
}

bool RingMailboxes::drain_own() {
  Queue& own = peers_[self().value()].backlog;
  Queue batch = own;
  own = {};
  bool any = false;
  while (Message* message = batch.pop()) {
    deliver(*message);
    any = true;
  }
  return any;
}

bool RingMailboxes::flush() {
  bool any = false;
  for (uint16_t i = 0; i < peers_.size(); ++i) {
    const CoreIndex to{i};
    Peer& peer = peers_[i];
    if (to == self()) continue;
    if (!peer.backlog.empty()) move_backlog(to);
    if (!peer.sent) continue;
    peer.sent = false;
    any = true;
    if (grid_.sleep_flag(to).claim()) waker_.wake(to);
  }
  return any;
}

void RingMailboxes::move_backlog(CoreIndex to) {
  Peer& peer = peers_[to.value()];
  Lane& lane = grid_.lane(self(), to);
  while (!peer.backlog.empty()) {
    while (!peer.backlog.empty() && !lane.ring.full()) {
      const bool pushed = lane.ring.push(*peer.backlog.pop());  // unlinked first: then it is theirs
      ASSERT(pushed);
      peer.sent = true;
    }
    if (peer.backlog.empty()) break;
    // The receiver may have drained just before it could see that we wait, or have seen it and
    // found us awake. Only a ring that is still full after the last announcement ends the wait for
    // room: whoever drains it then has the announcement to claim.
    lane.sender_waits.announce();
    if (lane.ring.full()) break;
  }
  if (peer.backlog.empty()) --backlogged_;
}

bool RingMailboxes::has_work() {
  for (uint16_t i = 0; i < peers_.size(); ++i) {
    const CoreIndex peer{i};
    const bool backlog = !peers_[i].backlog.empty();
    if (peer == self()) {
      if (backlog) return true;
      continue;
    }
    if (grid_.lane(peer, self()).ring.size() > 0) return true;
    if (backlog && !grid_.lane(self(), peer).ring.full()) return true;
  }
  return false;
}

bool RingMailboxes::announce_sleep() {
  if (peers_.size() > 1) grid_.sleep_flag(self()).announce();
  return has_work();
}

}  // namespace weir::io::posix
