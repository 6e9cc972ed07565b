#pragma once
// Simulated mailboxes: messages between cores are delayed, never lost, and keep their order per
// pair.

#include <deque>
#include <unordered_map>
#include <vector>

#include "io/mailbox.h"
#include "io/sim/faults.h"
#include "io/sim/scheduler.h"

namespace weir::io::sim {

class SimLoop;
class SimMailboxes;

// Carries the messages of all pairs of cores; belongs to the world.
class MailPost : public EventTarget {
 public:
  MailPost(uint64_t seed, Scheduler& scheduler, Faults& faults);

  void resize(uint16_t core_count);
  void connect(CoreIndex core, SimMailboxes& mailboxes);
  void carry(CoreIndex from, CoreIndex to, Message& message);
  // A crash gives every message back to its sender, also those that a receiver works on.
  void note_departure(Message& message);
  void note_delivery(Message& message);
  void abandon_all();
  void on_event(uint32_t kind, uint64_t pair) override;

 private:
  Scheduler& scheduler_;
  Faults& faults_;
  base::RandomStream random_;
  uint16_t core_count_ = 0;
  std::vector<SimMailboxes*> ends_;            // by core
  std::vector<std::deque<Message*>> on_way_;   // by from * core_count + to
  std::unordered_map<Message*, bool> away_;    // true: on its way back
};

class SimMailboxes : public Mailboxes {
 public:
  SimMailboxes(CoreIndex self, Scheduler& scheduler, MailPost& post, SimLoop& loop);

  bool has_arrived() const { return !arrived_.empty(); }
  bool deliver_arrived();  // what is here now; true when anything was
  void arrive(Message& message);
  void abandon_all();
  static void drop(Message& message) { abandon(message); }

 protected:
  void transport(CoreIndex to, Message& message) override;

 private:
  Scheduler& scheduler_;
  MailPost& post_;
  SimLoop& loop_;
  std::deque<Message*> arrived_;
};

}  // namespace weir::io::sim
