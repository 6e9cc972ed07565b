#include "tests/sim/exhaustive.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>
#include <vector>

#include "io/base/assert.h"
#include "io/base/logging.h"
#include "tests/sim/explorer.h"

namespace weir::simtest {
namespace {

constexpr size_t kFirsts = static_cast<size_t>(kLastOperation) + 2;  // and none at all
constexpr size_t kStatesBits = 22;

// Of all processes.
struct SharedWork {
  std::atomic<size_t> next = 0;
  std::atomic<bool> any_finding = false;
  Exploration explorations[kFirsts];
};

SharedWork& make_shared_memory() {
  void* memory = ::mmap(nullptr, sizeof(SharedWork), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT(memory != MAP_FAILED);
  return *new (memory) SharedWork;
}

// First operations, one after another, until all are taken or one found something.
void work(SharedWork& shared, const Command& command) {
  for (size_t i = shared.next++; i < kFirsts && !shared.any_finding; i = shared.next++) {
    StateSet seen(kStatesBits);
    const auto first = i == 0 ? std::nullopt : std::optional(static_cast<Operation>(i - 1));
    Exploration& result = shared.explorations[i];
    Explorer(result, &seen, command.verbose).explore(first, command.exhaustive);
    if (result.any_finding) shared.any_finding = true;
  }
}

}  // namespace

int run_exhaustive(const Command& command) {
  base::set_log_level(command.verbose ? base::LogLevel::debug : base::LogLevel::off);
  const auto start = std::chrono::steady_clock::now();
  SharedWork& shared = make_shared_memory();
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < command.jobs; ++i) {
    std::fflush(nullptr);
    const pid_t worker = ::fork();
    ASSERT(worker >= 0);
    if (worker == 0) {
      work(shared, command);
      ::_exit(0);
    }
    workers.push_back(worker);
  }
  Exploration sum;
  int findings = 0;
  for (const pid_t worker : workers) {
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (status == 0) continue;
    ++findings;  // of the harness itself
    fmt::print("FAILED workload unknown: a worker ended with status {}\n", status);
  }
  for (const Exploration& one : shared.explorations) {
    sum.workloads += one.workloads;
    sum.crash_points += one.crash_points;
    sum.outcomes += one.outcomes;
    sum.states += one.states;
    if (!one.any_finding) continue;
    ++findings;
    fmt::print("FAILED workload {}: {}\n  replay: sim --workload {}{}{}\n", one.where, one.finding,
               one.where, command.planted.empty() ? "" : " --planted ", command.planted);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  fmt::print("{} workloads, {} crash points, {} outcomes of them, {} states in {:.1f} s: {}\n",
             sum.workloads, sum.crash_points, sum.outcomes, sum.states, taken.count(),
             findings == 0 ? "no findings" : fmt::format("{} FAILED", findings));
  if (!command.planted.empty()) {
    fmt::print("{}: {}\n", command.planted,
               findings == 0 ? fmt::format("NOT FOUND in {} states", sum.states)
                             : fmt::format("found by state {}", sum.states));
  }
  std::fflush(stdout);
  return (findings == 0) == command.planted.empty() ? 0 : 1;
}

int run_workload(const Command& command) {
  base::set_log_level(command.verbose ? base::LogLevel::debug : base::LogLevel::off);
  const auto workload = workload_of(command.workload);
  if (!workload) {
    fmt::print(stderr, "sim: '{}' is no workload; operations are:", command.workload);
    for (int i = 0; i <= static_cast<int>(kLastOperation); ++i) {
      fmt::print(stderr, " {}", to_string(static_cast<Operation>(i)));
    }
    fmt::print(stderr, "\n");
    return 2;
  }
  Exploration result;
  const std::string finding = Explorer(result, nullptr, command.verbose).replay(*workload);
  fmt::print("{} workload {}: {}\n", finding.empty() ? "passed" : "FAILED", to_string(*workload),
             finding.empty() ? "nothing found" : finding);
  std::fflush(stdout);
  return finding.empty() ? 0 : 1;
}

}  // namespace weir::simtest
