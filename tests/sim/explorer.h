#pragma once
// Explorer: one world of the bounded-exhaustive mode, see exhaustive.h. It drives the engine
// through operations, and either forks a process for every state that a power cut can leave, or
// replays one of them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/auditor.h"
#include "tests/sim/engine.h"
#include "tests/sim/operations.h"
#include "tests/sim/state_set.h"
#include "tests/sim/watcher.h"

namespace weir::simtest {

// One power cut: after which event of the world, and what became of each of its loose ends.
struct Cut {
  uint64_t event = 0;
  std::vector<uint32_t> picks;
};

struct Workload {
  std::vector<Operation> operations;
  std::vector<Cut> cuts;  // at most two: the second in the start after the first
};
std::string to_string(const Workload& workload);
std::optional<Workload> workload_of(const std::string& text);

// What all processes of one first operation add up, in shared memory.
struct Exploration {
  uint64_t workloads = 0;
  uint64_t crash_points = 0;  // moments of a cut, the second ones included
  uint64_t outcomes = 0;      // of all those cuts
  uint64_t states = 0;        // different ones, each started and checked
  bool any_finding = false;
  char finding[1024] = {};    // and where
  char where[4096] = {};
};

class Explorer : private io::sim::StepObserver {
 public:
  // Both outlive it. `seen` null: nothing is explored, replay() only.
  Explorer(Exploration& result, StateSet* seen, bool verbose);
  ~Explorer() override;

  // Everything that begins with `first`; nothing: the first start and the set-up themselves.
  // Returns at the first finding.
  void explore(std::optional<Operation> first, size_t operations_max);
  std::string replay(const Workload& workload);  // the finding, or nothing

 private:
  static constexpr int64_t kPatienceNs = 60'000'000'000;  // of virtual time, for each step
  enum class Level : uint8_t { none, first, second };     // which cut comes at the next I/O event

  bool start(bool again);
  void send_away_clients();
  void set_up();
  bool perform(Operation operation);
  void explore_behind(size_t operations_left);
  template <class Predicate>
  bool run_until(const char* what, Predicate predicate);
  void on_step() override;  // where the power may be cut
  bool is_second_point() const;
  void look_at(const io::sim::LooseEnds& ends, const std::vector<uint32_t>& picks, uint64_t told);
  void cut(const io::sim::LooseEnds& ends, const std::vector<uint32_t>& picks);
  void judge();  // after a cut: starts over the disk as the cut left it, checks, to the end
  template <class Function>
  bool in_a_process(Function function);
  bool passed(int child);  // waits for the process
  void note_where();  // for whoever finds this process dead

  Exploration& result_;
  StateSet* const seen_;
  Scenario scenario_;
  Findings findings_;
  Model model_;
  io::sim::SimWorld world_;
  Context context_;
  Told told_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Operator> operator_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Auditor> auditor_;
  Workload path_;          // so far
  const Workload* replayed_ = nullptr;
  Level level_ = Level::none;
  uint64_t last_io_ = 0;   // events of the disk at the last crash point
  uint64_t last_told_ = 0;
  uint64_t first_key_ = 0;  // of the state that the first cut left
  uint32_t starts_ = 0;
};

}  // namespace weir::simtest
