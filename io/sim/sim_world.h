#pragma once
// SimWorld: all cores of one simulated process, its disk, its network and its clock, on one thread.
// The seed decides everything: same seed, same options, same program => same trace_hash().
//
// Straight-line code over a simulated core needs no engine:
//
//   io::sim::SimWorld world(seed, {});
//   io::CoreIo& core = world.core(0);
//   core.disk.open(op, "/data/file", {.create = true});
//   core.loop.run_until(op);                         // steps the world until `op` ran
//
// A test over the Platform interface (as tests/io/conformance_test.cc) uses world.platform():
// run(main) starts the cores and steps until all loops have stopped. "/data" and "/" exist.
//
// A harness drives by itself: world.start(main), then step(), run_for() or run_until(). After a
// crash (crash(), crash_at_event(), or a fault's probability) crashed() is true: everything in
// flight was abandoned, later calls of the engine fail with -EIO and run_until() returns, so that
// straight-line code unwinds. Then destroy the engine, call restart(cores), lock through the
// platform, start a new engine.

#include <memory>
#include <string>
#include <vector>

#include "io/core_io.h"
#include "io/sim/faults.h"
#include "io/sim/scheduler.h"
#include "io/sim/sim_client.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_disk.h"
#include "io/sim/sim_loop.h"
#include "io/sim/sim_mailbox.h"
#include "io/sim/sim_network.h"

namespace weir::io::sim {

struct SimOptions {
  uint16_t core_count = 1;
  Faults faults = Faults::none();
  uint64_t disk_size_bytes = uint64_t{1} << 30;
  size_t socket_buffer_bytes = 64 << 10;
  int64_t wall_start_ms = 1'700'000'000'000;
  // A planted bug of the world: the lock is free although writes of the dead process still land.
  bool lock_forgets_landing = false;
};

// Called behind every event, those too that happen while straight-line code of the engine waits.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void on_step() = 0;
};

class SimWorld;

class SimPlatform : public Platform {
 public:
  explicit SimPlatform(SimWorld& world) : world_(world) {}
  uint16_t core_count() const override;
  std::string_view name() const override { return "sim"; }
  base::Status lock(const std::string& path, int64_t wait_ms) override;
  base::Status run(CoreMain& main) override;
  void request_stop() override;

 private:
  SimWorld& world_;
};

class SimWorld : private EventTarget, private SimLoopHost, private CrashListener {
 public:
  explicit SimWorld(uint64_t seed, SimOptions options = {});
  ~SimWorld() override;
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  Platform& platform() { return platform_; }
  CoreIo& core(uint16_t index);
  uint16_t core_count() const { return static_cast<uint16_t>(cores_.size()); }

  // on_core_start() of every core will run, in a seeded order; `main` lives until the world is
  // restarted.
  void start(Platform::CoreMain& main);
  void request_stop();
  // Every loop was stopped and on_core_stop() ran.
  bool stopped() const { return stopped_cores_ == cores_.size(); }

  // `observer` outlives the world, or is taken back with null. It may cut the power.
  void observe(StepObserver* observer) { observer_ = observer; }
  // Runs one event. False when nothing is left to happen. Goes on in a dead world: clients and
  // landing writes live in it.
  bool step();
  void run_for(int64_t duration_ns);
  // Steps until predicate() or for `bound_ns`; what predicate() said last.
  template <class Predicate>
  bool run_until(Predicate predicate, int64_t bound_ns) {
    const int64_t end_ns = now_ns() + bound_ns;
    catch_up();
    while (!predicate()) {
      if (scheduler_.empty() || scheduler_.next_time_ns() > end_ns) {
        scheduler_.skip_to(end_ns);
        return predicate();
      }
      step();
    }
    return true;
  }

  void crash(CrashKind kind);
  void crash_at_event(uint64_t event, CrashKind kind);
  // A power cut now, with the outcome that the caller picked among disk().loose_ends().
  void power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks);
  bool crashed() const { return scheduler_.dead(); }
  CrashKind last_crash() const { return last_crash_; }
  // A fresh set of cores over the disk as the crash (or a clean stop) left it. All objects of the
  // old engine must have been destroyed.
  void restart(uint16_t core_count);

  // Calls target.on_event() of a client or a workload later. The target must outlive the world or
  // call scheduler().forget().
  Scheduler& scheduler() { return scheduler_; }
  int64_t now_ns() const { return scheduler_.now_ns(); }
  uint64_t event_count() const { return scheduler_.event_count(); }
  uint64_t trace_hash() const { return scheduler_.trace_hash(); }

  Faults& faults() { return options_.faults; }  // may change while the world runs
  DiskMedia& disk() { return *disk_; }
  NetworkMedia& network() { return *network_; }
  SimClock& clock() { return clock_; }

 private:
  friend class SimPlatform;
  struct Core;
  enum Kind : uint32_t { kTurnReady, kTurnTimer, kStart, kStopRequest };

  void build_cores(uint16_t count);
  void catch_up();
  void crash_if_due();
  void abandon_all();

  void on_event(uint32_t kind, uint64_t argument) override;
  void schedule_turn(uint16_t core, TurnKind kind, int64_t when_ns) override;
  bool step_while_waiting() override;
  int64_t draw_turn_delay_ns() override;
  void on_crash_point(CrashPoint point) override;

  SimOptions options_;
  Scheduler scheduler_;
  SimClock clock_;
  base::RandomStream core_random_;
  base::RandomStream crash_random_;
  base::RandomStream clock_random_;
  const uint64_t seed_;
  std::unique_ptr<DiskMedia> disk_;
  std::unique_ptr<NetworkMedia> network_;
  MailPost post_;
  SimPlatform platform_;
  std::vector<std::unique_ptr<Core>> cores_;
  Platform::CoreMain* main_ = nullptr;
  StepObserver* observer_ = nullptr;
  size_t stopped_cores_ = 0;
  uint32_t incarnation_ = 0;
  uint64_t crash_event_ = UINT64_MAX;
  CrashKind crash_kind_ = CrashKind::process_kill;
  CrashKind last_crash_ = CrashKind::process_kill;
};

}  // namespace weir::io::sim
