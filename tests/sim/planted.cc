#include "tests/sim/planted.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "engine/model/planted.h"
#include "io/base/logging.h"
#include "tests/sim/run.h"

namespace weir::simtest {
namespace {

using model::Bug;
using model::kBugs;
using model::NamedBug;

#ifdef WEIR_PLANTED_BUGS
constexpr bool kPlanted = true;
void set_planted(Bug bug) { model::planted_bug = bug; }
#else
constexpr bool kPlanted = false;
void set_planted(Bug) {}
#endif

// A finding or a dead process counts; the run's own words go to /dev/null.
bool seed_finds(uint64_t seed, Mode mode, Bug bug) {
  const pid_t child = ::fork();
  if (child == 0) {
    set_planted(bug);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    ::_exit(Run(draw_scenario(seed, mode), false).execute().finding.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

bool plant(std::string_view name) {
  const auto* found = std::ranges::find(kBugs, name, &NamedBug::name);
  if (!kPlanted || found == std::end(kBugs)) {
    fmt::print(stderr, "sim: {}\n",
               kPlanted ? fmt::format("no planted bug is called {}", name)
                        : "this build has no planted bugs (WEIR_PLANTED_BUGS)");
    return false;
  }
  set_planted(found->bug);
  return true;
}

int find_planted(const Command& command) {
  base::set_log_level(base::LogLevel::off);
  const auto start = std::chrono::steady_clock::now();
  const auto* planted = std::ranges::find(kBugs, command.planted, &NamedBug::name);
  for (uint64_t seed = command.first; seed <= command.last; ++seed) {
    if (!seed_finds(seed, command.mode, planted->bug)) continue;
    if (seed_finds(seed, command.mode, Bug::none)) continue;  // the seed fails without the bug too
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("{}: found by seed {} ({} seeds, {:.1f} s)\n", command.planted, seed,
               seed - command.first + 1, taken.count());
    std::fflush(stdout);
    return 0;
  }
  fmt::print("{}: NOT FOUND in {} seeds\n", command.planted, command.last - command.first + 1);
  std::fflush(stdout);
  return 1;
}

int find_all_planted(const Command& command) {
  int result = 0;
  for (const NamedBug& bug : kBugs) {
    Command one = command;
    one.planted = bug.name;
    if (!plant(bug.name)) return 2;
    if (find_planted(one) != 0) result = 1;
  }
  return result;
}

}  // namespace weir::simtest
