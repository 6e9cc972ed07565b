#pragma once
// Loop: the heart of one core. A turn: run ready ops, completions, messages, due timers until there
// are none; run the ops that asked for the end of the turn (a group commit starts here, so that it
// takes all that arrived); submit everything at once; sleep until something happens. Idle means
// asleep.

#include "io/op.h"
#include "io/timers.h"

namespace weir::io {

class Loop {
 public:
  explicit Loop(Clock& clock) : timers_(clock) {}
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs op, with `result`, from the ready queue of this turn.
  void post(Op& op, int32_t result = 0) {
    op.arm();
    op.set_result(result);
    ready_.push(op);
  }
  // Completes an op that its owner armed itself (Op::arm) to stand for several steps.
  void finish(Op& op, int32_t result) {
    ASSERT(op.armed());
    op.set_result(result);
    ready_.push(op);
  }
  // Runs op once this turn's work is done, before what it caused is submitted.
  void at_turn_end(Op& op) {
    op.arm();
    op.set_result(0);
    turn_end_.push(op);
  }

  virtual void run() = 0;           // until stop()
  virtual void stop() = 0;          // from this core
  // Straight-line code: turns until `op`, armed before, has run. Before serving and in tools only.
  virtual void run_until(Op& op) = 0;

  Timers& timers() { return timers_; }

 protected:
  // Runs what is ready now; true when anything ran.
  bool run_ready() {
    OpQueue batch = ready_.take();
    bool any = false;
    while (Op* op = batch.pop()) {
      op->run();
      any = true;
    }
    return any;
  }
  bool run_turn_end() {
    OpQueue batch = turn_end_.take();
    bool any = false;
    while (Op* op = batch.pop()) {
      op->run();
      any = true;
    }
    return any;
  }
  void abandon_ready() {
    while (Op* op = ready_.pop()) op->abandon();
    while (Op* op = turn_end_.pop()) op->abandon();
  }
  bool has_ready() const { return !ready_.empty() || !turn_end_.empty(); }

  OpQueue ready_;
  OpQueue turn_end_;

 private:
  Timers timers_;
};

}  // namespace weir::io
