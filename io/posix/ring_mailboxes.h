#pragma once
// Mailboxes between real cores: one ring per ordered pair, wake-ups only for cores that sleep.

#include <memory>
#include <vector>

#include "io/base/ring_buffer.h"
#include "io/mailbox.h"

namespace weir::io::posix {

inline constexpr size_t kLaneSlots = 256;  // messages under way per ordered pair; the rest waits

// One direction between two cores.
struct Lane {
  base::RingBuffer<Message> ring{kLaneSlots};
  base::SleepFlag sender_waits;  // the sender holds messages back until the ring has room
};

// All lanes of a platform; made before any core starts, outlives every core.
class MailboxGrid {
 public:
  explicit MailboxGrid(uint16_t core_count);

  uint16_t core_count() const { return core_count_; }
  Lane& lane(CoreIndex from, CoreIndex to) {
    return *lanes_[size_t{from.value()} * core_count_ + to.value()];
  }
  base::SleepFlag& sleep_flag(CoreIndex core) { return *sleep_flags_[core.value()]; }

 private:
  uint16_t core_count_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // [from * core_count + to]
  std::vector<std::unique_ptr<base::SleepFlag>> sleep_flags_;
};

// How a core is woken. Called on the core that wakes; may put the signal off to the end of its
// turn.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake(CoreIndex core) = 0;
};

// One core's end. Messages are visible to the receiver at once; a sleeping receiver is signalled at
// the sender's flush(), once per turn. What finds its ring full waits here, linked through the
// messages.
class RingMailboxes final : public Mailboxes {
 public:
  RingMailboxes(CoreIndex self, MailboxGrid& grid, Waker& waker);

  // Delivers what was there when it was called; true when there was anything.
  bool drain();
  // End of the turn: moves waiting messages on and signals receivers; true when anything was sent.
  bool flush();
  // Messages wait here for room in a ring.
  bool has_backlog() const { return backlogged_ > 0; }
  // Before sleep: after announcing, true means there is something to do after all.
  bool announce_sleep();
  void clear_sleep() { grid_.sleep_flag(self()).clear(); }
  // Something to deliver or to move on.
  bool has_work();

 protected:
  void transport(CoreIndex to, Message& message) override;

 private:
  // FIFO through Mailboxes::next_of.
  struct Queue {
    Message* head = nullptr;
    Message* tail = nullptr;
    bool empty() const { return head == nullptr; }
    void push(Message& message);
    Message* pop();
  };
  struct Peer {
    Queue backlog;
    bool sent = false;  // since the last flush
  };

  void move_backlog(CoreIndex to);
  bool drain_own();

  MailboxGrid& grid_;
  Waker& waker_;
  std::vector<Peer> peers_;  // by core; the own entry's backlog holds messages to itself
  size_t backlogged_ = 0;    // peers with a backlog, without the own
};

}  // namespace weir::io::posix
