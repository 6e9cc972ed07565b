#include "tests/sim/runner.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <new>
#include <sstream>
#include <vector>

#include "io/base/assert.h"
#include "io/base/logging.h"
#include "tests/sim/exhaustive.h"
#include "tests/sim/knobs.h"
#include "tests/sim/planted.h"
#include "tests/sim/run.h"
#include "tests/sim/shrink.h"

namespace weir::simtest {
namespace {

constexpr unsigned kSeedsPerProcess = 50;

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

struct Totals {
  uint64_t seeds = 0;
  uint64_t events = 0;
  uint64_t acked = 0;
  uint64_t observed = 0;
  uint64_t crashes = 0;
  double simulated_s = 0;
  uint64_t trace = 0;  // of all runs: equal where two programs behave alike
};

// Between a worker and the processes that it runs seeds in.
struct Progress {
  uint64_t next = 0;  // seed
  Totals totals;
};

// What the signal handler prints when an assertion of the engine ends the process.
char current_run[256];
size_t current_run_size = 0;

void on_fatal_signal(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, current_run, current_run_size);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch_signals() {
  for (const int signal : {SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) {
    std::signal(signal, on_fatal_signal);
  }
}

std::string replay(uint64_t seed, const Command& command) {
  const char* mode = command.mode == Mode::swarm ? " --swarm" : "";
  std::string line = fmt::format("sim --seed {}{}", seed, mode);
  if (!command.with.empty()) line += " --with " + command.with;
  if (!command.planted.empty()) line += " --planted " + command.planted;
  return line;
}

void remember_current(uint64_t seed, const Command& command) {
  const std::string text = fmt::format("FAILED seed {}: an assertion; replay: {}\n", seed,
                                       replay(seed, command));
  current_run_size = text.copy(current_run, sizeof current_run);
}

// True when nothing was found.
bool run_seed(uint64_t seed, const Command& command, Totals& totals) {
  remember_current(seed, command);
  Scenario scenario = draw_scenario(seed, command.mode);
  turn_down(scenario, command.with);
  if (command.print_options || command.verbose) {
    fmt::print(stderr, "seed {}: {}\n", seed, to_string(scenario));
  }
  Outcome outcome = Run(scenario, command.verbose).execute();
  if (outcome.finding.empty() && (command.single || seed % 100 == 7)) {
    const Outcome again = Run(scenario, false).execute();
    outcome.finding = check_replay({outcome.trace_hash, outcome.events, outcome.trace},
                                   {again.trace_hash, again.events, again.trace});
  }
  if (command.verbose) {
    fmt::print(stderr, "seed {}: trace {:016x} after {} events\n", seed, outcome.trace_hash,
               outcome.events);
  }
  ++totals.seeds;
  totals.events += outcome.events;
  totals.acked += outcome.acked;
  totals.observed += outcome.observed;
  totals.crashes += outcome.crashes;
  totals.trace ^= outcome.trace_hash;
  totals.simulated_s += static_cast<double>(outcome.simulated_ns) / 1e9;
  if (outcome.finding.empty()) return true;
  fmt::print(stderr, "FAILED seed {}: {}\n  {}\n  replay: {}\n", seed, outcome.finding,
             to_string(scenario), replay(seed, command));
  return false;
}

// Seeds from shared.next on, until the budget of this process is used up or something is found.
void run_some(const Command& command, Progress& shared, double until_s) {
  watch_signals();
  for (unsigned i = 0; i < kSeedsPerProcess && shared.next <= command.last; ++i) {
    const uint64_t seed = shared.next;
    shared.next = seed + command.jobs;  // even if this one kills the process
    if (!run_seed(seed, command, shared.totals)) ::_exit(1);
    if (now_s() > until_s) break;
  }
  std::fflush(nullptr);
  ::_exit(0);
}

// One worker's share of the seeds, in processes of a few seeds each: a crashed engine's memory is
// not given back, and an assertion of the engine ends only its own process.
int run_share(const Command& command, unsigned worker) {
  base::set_log_level(command.verbose ? base::LogLevel::debug : base::LogLevel::off);
  const double start_s = now_s();
  const double until_s =
      command.seconds == 0 ? 1e18 : start_s + static_cast<double>(command.seconds);
  void* memory = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT(memory != MAP_FAILED);
  Progress& shared = *new (memory) Progress;
  shared.next = command.first + worker;
  uint64_t failures = 0;
  while (shared.next <= command.last && now_s() < until_s) {
    const pid_t child = ::fork();
    if (child == 0) run_some(command, shared, until_s);
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    failures += failed ? 1 : 0;
    if (failed && !command.keep_going) break;
  }
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const double cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  const Totals& totals = shared.totals;
  fmt::print("{} seeds, {} crashes, {} batches acknowledged, {} read, {} events, {:.0f} s "
             "simulated in {:.1f} s ({:.1f} ms of processor a seed), trace {:016x}: {}\n",
             totals.seeds, totals.crashes, totals.acked, totals.observed, totals.events,
             totals.simulated_s, now_s() - start_s,
             1000 * cpu_s / static_cast<double>(std::max<uint64_t>(totals.seeds, 1)), totals.trace,
             failures == 0 ? "no findings" : fmt::format("{} FAILED", failures));
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

int run_all(const Command& command) {
  if (command.jobs <= 1) return run_share(command, 0);
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < command.jobs; ++i) {
    const pid_t worker = ::fork();
    if (worker == 0) ::_exit(run_share(command, i));
    workers.push_back(worker);
  }
  int result = 0;
  for (const pid_t worker : workers) {
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) result = 1;
  }
  return result;
}

// Lines of "seed [swarm] # cause".
int run_regressions(Command command) {
  std::ifstream file(command.regressions);
  if (!file) {
    fmt::print(stderr, "sim: cannot read {}\n", command.regressions);
    return 2;
  }
  int result = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    uint64_t seed = 0;
    std::string mode;
    if (!(words >> seed)) continue;
    words >> mode;
    command.first = command.last = seed;
    command.mode = mode == "swarm" ? Mode::swarm : Mode::lite;
    command.single = true;
    const int one = run_all(command);
    if (one != 0) result = one;
  }
  return result;
}

}  // namespace

int run_command(const Command& command) {
  // Worlds come and go: huge pages would be cleared for a few bytes of each, and what the allocator
  // gave back to the kernel would have to be cleared again.
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  if (command.all_planted) return find_all_planted(command);
  if (!command.planted.empty() && !plant(command.planted)) return 2;
  if (!command.with.empty()) {
    Scenario scenario = draw_scenario(command.first, command.mode);
    const std::string problem = turn_down(scenario, command.with);
    if (!problem.empty()) fmt::print(stderr, "sim: --with: {}\n", problem);
    if (!problem.empty()) return 2;
  }
  if (command.shrink) return run_shrink(command);
  if (command.exhaustive > 0) return run_exhaustive(command);
  if (!command.workload.empty()) return run_workload(command);
  if (!command.planted.empty() && !command.single) return find_planted(command);
  if (!command.regressions.empty()) return run_regressions(command);
  return run_all(command);
}

}  // namespace weir::simtest
