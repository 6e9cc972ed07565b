#include "tests/sim/planted.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

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
void set_planted(Bug bug) { model::plant(bug); }
#else
constexpr bool kPlanted = false;
void set_planted(Bug) {}
#endif

// A run that hangs in one event would hang for ever: that is a finding, too.
constexpr unsigned kRunSecondsMax = 120;
// One seed in so many is drawn as a larger world.
constexpr uint64_t kSwarmEvery = 4;

// A finding or a dead process counts; the run's own words go to /dev/null.
bool seed_finds(uint64_t seed, Mode mode, Bug bug) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kRunSecondsMax);
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
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint64_t seed = command.first;
  for (; seed <= command.last; ++seed) {
    if (command.seconds > 0 && seconds() > static_cast<double>(command.seconds)) break;
    const Mode mode = seed % kSwarmEvery == kSwarmEvery - 1 ? Mode::swarm : command.mode;
    if (!seed_finds(seed, mode, planted->bug)) continue;
    if (seed_finds(seed, mode, Bug::none)) continue;  // the seed fails without the bug too
    fmt::print("{}: found by seed {}{} ({} seeds, {:.1f} s)\n", command.planted, seed,
               mode == Mode::swarm ? " swarm" : "", seed - command.first + 1, seconds());
    std::fflush(stdout);
    return 0;
  }
  fmt::print("{}: NOT FOUND in {} seeds\n", command.planted, seed - command.first);
  std::fflush(stdout);
  return 1;
}

int find_all_planted(const Command& command) {
  if (!kPlanted) return plant("") ? 0 : 2;
  std::vector<pid_t> workers;
  for (unsigned worker = 0; worker < std::max(command.jobs, 1u); ++worker) {
    const pid_t child = ::fork();
    if (child != 0) {
      workers.push_back(child);
      continue;
    }
    int result = 0;
    for (size_t i = worker; i < std::size(kBugs); i += std::max(command.jobs, 1u)) {
      Command one = command;
      one.planted = kBugs[i].name;
      if (find_planted(one) != 0) result = 1;
    }
    ::_exit(result);
  }
  int result = 0;
  for (const pid_t worker : workers) {
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) result = 1;
  }
  return result;
}

}  // namespace weir::simtest
