#pragma once
// SimLoop: the loop of one simulated core. It never blocks: the world runs one turn of it whenever
// something became ready. run() does nothing; stop() marks.

#include "io/loop.h"
#include "io/sim/scheduler.h"

namespace weir::io::sim {

class SimMailboxes;
class SimNetwork;

enum class TurnKind : uint32_t { ready, timer };

// What a loop asks of its world.
class SimLoopHost {
 public:
  virtual ~SimLoopHost() = default;
  virtual void schedule_turn(uint16_t core, TurnKind kind, int64_t when_ns) = 0;
  // Runs one event; false when the process is dead or nothing is left to happen.
  virtual bool step_while_waiting() = 0;
  virtual int64_t draw_turn_delay_ns() = 0;
};

class SimLoop : public Loop {
 public:
  SimLoop(uint16_t core, Scheduler& scheduler, Clock& clock, SimLoopHost& host);

  void run() override {}
  void stop() override { stopped_ = true; }
  // In a dead world the op runs with -EIO, so that straight-line code unwinds with errors.
  void run_until(Op& op) override;

  bool stopped() const { return stopped_; }
  // A loop that is held keeps what arrives and runs no turn: its core has not started yet.
  void hold(bool held) { held_ = held; }
  uint16_t core() const { return core_; }

  // The parts of this core whose work a turn does. Called once, when the core is built.
  void attach(SimMailboxes& mailboxes, SimNetwork& network);

  // For the simulated devices: the operation is over; its owner learns it in the next turn.
  void complete(Op& op, int32_t result);
  void schedule_turn();  // something became ready
  void on_turn(TurnKind kind);
  // Sees to what was posted or armed outside a turn.
  void catch_up();

  // The crash: nothing of this core will run again.
  void abandon_all();

 private:
  static constexpr int kRoundsMax = 100'000;  // of one turn; more is a livelock

  void turn();
  bool run_batch(OpQueue& from);
  void schedule_timers();

  const uint16_t core_;
  Scheduler& scheduler_;
  SimLoopHost& host_;
  SimMailboxes* mailboxes_ = nullptr;
  SimNetwork* network_ = nullptr;
  OpQueue batch_;  // taken from a queue and about to run
  bool turn_scheduled_ = false;
  bool stopped_ = false;
  bool held_ = false;
  int64_t timer_wake_ns_ = INT64_MAX;  // when a turn for timers is scheduled
};

}  // namespace weir::io::sim
