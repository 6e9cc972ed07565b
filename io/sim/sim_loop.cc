#include "io/sim/sim_loop.h"

#include <algorithm>
#include <cerrno>

#include "io/sim/sim_mailbox.h"
#include "io/sim/sim_network.h"

namespace weir::io::sim {

SimLoop::SimLoop(uint16_t core, Scheduler& scheduler, Clock& clock, SimLoopHost& host)
    : Loop(clock), core_(core), scheduler_(scheduler), host_(host) {}

void SimLoop::attach(SimMailboxes& mailboxes, SimNetwork& network) {
  mailboxes_ = &mailboxes;
  network_ = &network;
}

void SimLoop::complete(Op& op, int32_t result) {
  op.set_result(result);
  ready_.push(op);
  schedule_turn();
}

void SimLoop::schedule_turn() {
  if (turn_scheduled_ || scheduler_.dead()) return;
  turn_scheduled_ = true;
  host_.schedule_turn(core_, TurnKind::ready, scheduler_.now_ns() + host_.draw_turn_delay_ns());
}

void SimLoop::schedule_timers() {
  if (scheduler_.dead()) return;
  const auto next = timers().next_deadline();
  if (!next) return;
  const int64_t when_ns = std::max(next->ns, scheduler_.now_ns() + 1);
  if (when_ns >= timer_wake_ns_) return;
  timer_wake_ns_ = when_ns;
  host_.schedule_turn(core_, TurnKind::timer, when_ns);
}

void SimLoop::catch_up() {
  if (held_) return;
  if (has_ready() || mailboxes_->has_arrived()) schedule_turn();
  schedule_timers();
}

void SimLoop::on_turn(TurnKind kind) {
  if (stopped_) return;
  if (kind == TurnKind::ready) {
    turn_scheduled_ = false;
  } else {
    if (scheduler_.now_ns() != timer_wake_ns_) return;  // an earlier deadline replaced this one
    timer_wake_ns_ = INT64_MAX;
  }
  if (!held_) turn();
}

bool SimLoop::run_batch(OpQueue& from) {
  // A member holds what is about to run, so that a crash inside a nested wait finds it.
  while (Op* op = from.pop()) batch_.push(*op);
  bool any = false;
  while (Op* op = batch_.pop()) {
    op->run();
    any = true;
    if (scheduler_.dead()) break;
  }
  return any;
}

void SimLoop::turn() {
  bool more = true;
  for (int rounds = 0; more && !scheduler_.dead(); ++rounds) {
    ASSERT(rounds < kRoundsMax, "livelock: core {} never runs out of work", core_);
    more = run_batch(ready_);
    more = mailboxes_->deliver_arrived() || more;
    const size_t fired = timers().fire_due();
    if (fired > 0) scheduler_.trace("timers", core_, fired);
    more = fired > 0 || more;
  }
  run_batch(turn_end_);
  network_->poison_received();
  catch_up();
}

void SimLoop::run_until(Op& op) {
  scheduler_.push_waited(op);
  while (op.armed() && !scheduler_.dead()) {
    catch_up();
    if (!host_.step_while_waiting()) {
      ASSERT(scheduler_.dead(), "core {} waits for an operation that nothing completes", core_);
    }
  }
  scheduler_.pop_waited();
  if (!op.armed()) return;
  abandon_all();  // a queue may hold `op`; abandoning keeps what an outer wait needs
  op.set_result(-EIO);
  if (!op.armed()) op.arm();
  op.run();
}

void SimLoop::abandon_all() {
  for (OpQueue* queue : {&ready_, &turn_end_, &batch_}) {
    while (Op* op = queue->pop()) scheduler_.abandon(*op);
  }
  mailboxes_->abandon_all();
}

}  // namespace weir::io::sim
