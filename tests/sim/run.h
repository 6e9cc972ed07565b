#pragma once
// Run: one seed from start to verdict. Starts the engine, lets the clients work, crashes it where
// the scenario says, starts it again over the same disk, reads everything back, and so on to the
// end.

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/alarm_watch.h"
#include "tests/sim/auditor.h"
#include "tests/sim/clients.h"
#include "tests/sim/engine.h"
#include "tests/sim/group_member.h"
#include "tests/sim/keyed_clients.h"
#include "tests/sim/producer.h"
#include "tests/sim/trace.h"
#include "tests/sim/transactor.h"

namespace weir::simtest {

struct Outcome {
  std::string finding;  // empty: none
  uint64_t trace_hash = 0;
  uint64_t events = 0;
  uint64_t acked = 0;
  uint64_t observed = 0;
  uint32_t crashes = 0;
  int64_t simulated_ns = 0;
  std::vector<uint64_t> trace{};  // hashes on the way
};

// While clients work: takes all free space of the disk for a moment, and gives it back (F19, F20).
class DiskFiller : private io::sim::EventTarget {
 public:
  explicit DiskFiller(Context& context);
  ~DiskFiller() override;

 private:
  void on_event(uint32_t kind, uint64_t argument) override;

  Context& context_;
  base::RandomStream random_;
};

// While clients work: for moments there are few descriptors to be had, or none (F25).
class DescriptorThief : private io::sim::EventTarget {
 public:
  explicit DescriptorThief(Context& context);
  ~DescriptorThief() override;

 private:
  void on_event(uint32_t kind, uint64_t argument) override;

  Context& context_;
  base::RandomStream random_;
};

class Run {
 public:
  Run(const Scenario& scenario, bool verbose);
  ~Run();

  Outcome execute();

 private:
  static constexpr int64_t kPatienceNs = 300'000'000'000;  // of virtual time, for each phase
  static constexpr int64_t kGraceNs = 60'000'000'000;  // for an engine that gives up
  static constexpr uint64_t kEventsMax = 20'000'000;

  enum class Phase : uint8_t { finished, crashed, failed };

  void create_clients();
  void life(size_t number);          // one start of the engine to its end
  bool start_engine(const CrashPlan* plan);  // without a plan it will not crash
  void await_end();
  void plan_crash(const CrashPlan& plan);
  void spare();                      // no crash from here on
  Phase await_ready();
  Phase audit(Contents* contents);
  Phase work();
  Phase stop_cleanly();
  void bury(io::sim::CrashKind kind);  // the process is gone; the disk stays
  bool all_done();
  template <class Predicate>
  Phase run_until(const char* what, Predicate predicate);
  void check_second_recovery();
  void check_log_starts();
  void note(const std::string& line) { trace(context_, line); }

  const Scenario& scenario_;
  Findings findings_;
  Model model_;
  io::sim::SimWorld world_;
  Context context_;
  base::RandomStream random_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<AlarmWatch> alarm_watch_;
  GroupWatch group_watch_;
  std::vector<std::unique_ptr<Actor>> clients_;
  std::unique_ptr<Auditor> auditor_;
  std::unique_ptr<KeyedReader> keyed_auditor_;
  std::unique_ptr<DiskFiller> filler_;
  std::unique_ptr<DescriptorThief> thief_;
  size_t not_done_ = 0;  // the client that was asked last, and was not
  uint32_t starts_ = 0;
  uint32_t crashes_ = 0;
  bool finished_ = false;
  TraceLog trace_;
};

}  // namespace weir::simtest
