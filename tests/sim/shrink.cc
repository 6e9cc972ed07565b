#include "tests/sim/shrink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>

#include "io/base/assert.h"
#include "io/base/logging.h"
#include "tests/sim/knobs.h"
#include "tests/sim/run.h"

namespace weir::simtest {
namespace {

constexpr uint32_t kRunsMax = 1'000;
constexpr uint64_t kSchedules = 4;   // each attempt has, besides the last that failed
constexpr uint64_t kSeedsMax = 500;  // looked through for a planted bug

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

// A run in a process of its own, so that an assertion is a finding like any other.
std::string finding_of(const Scenario& scenario) {
  std::array<int, 2> ends{};
  ASSERT(::pipe(ends.data()) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT(child >= 0);
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    const std::string finding = Run(scenario, false).execute().finding;
    ::_exit(::write(ends[1], finding.data(), finding.size()) < 0 ? 2 : 0);
  }
  ::close(ends[1]);
  std::string finding;
  std::array<char, 4096> piece;
  for (ssize_t size = 0; (size = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    finding.append(piece.data(), static_cast<size_t>(size));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? finding : fmt::format("assertion (status {})", status);
}

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, const std::function<std::string(const Scenario&)>& run,
           uint32_t runs_max)
      : run_(run), runs_max_(runs_max), drawn_(scenario), best_{scenario, {}, {}, 1} {
    best_.finding = run(scenario);
    signature_ = signature_of(best_.finding);
  }

  Shrunk shrink() {
    bool changed = !signature_.empty();
    while (changed) {
      changed = false;
      for (const Knob& knob : knobs()) changed = turn(knob) || changed;
    }
    for (const Knob& knob : knobs()) {
      const uint64_t value = knob.get(best_.scenario);
      if (value == knob.get(drawn_)) continue;
      best_.settings += fmt::format("{}{}={}", best_.settings.empty() ? "" : ",", knob.name, value);
    }
    if (schedule_ != 0) {
      best_.settings +=
          fmt::format("{}schedule={}", best_.settings.empty() ? "" : ",", schedule_);
    }
    return best_;
  }

 private:
  bool still_fails(const Knob& knob, uint64_t value) {
    Scenario scenario = best_.scenario;
    knob.set(scenario, value);
    if (fails(scenario)) return true;
    const uint64_t last = schedule_;
    for (schedule_ = 0; schedule_ < kSchedules; ++schedule_) {
      reschedule(scenario, drawn_.seed, schedule_);
      if (schedule_ != last && fails(scenario)) return true;
    }
    schedule_ = last;
    return false;
  }

  bool fails(const Scenario& scenario) {
    if (best_.runs >= runs_max_) return false;
    ++best_.runs;
    const std::string finding = run_(scenario);
    if (signature_of(finding) != signature_) return false;
    best_.scenario = scenario;
    best_.finding = finding;
    return true;
  }

  bool turn(const Knob& knob) {
    const uint64_t before = knob.get(best_.scenario);
    if (before <= knob.least || still_fails(knob, knob.least)) return before > knob.least;
    // At `low` it passes, at `high` it fails.
    uint64_t low = knob.least;
    for (uint64_t high = before; low + 1 < high && best_.runs < runs_max_;) {
      const uint64_t middle = low + (high - low) / 2;
      if (still_fails(knob, middle)) high = middle;
      else low = middle;
    }
    return knob.get(best_.scenario) != before;
  }

  const std::function<std::string(const Scenario&)>& run_;
  const uint32_t runs_max_;
  const Scenario drawn_;
  Shrunk best_;
  uint64_t schedule_ = 0;  // of the best
  std::string signature_;
};

}  // namespace

std::string signature_of(std::string_view finding) {
  for (size_t colon = finding.find(':'); colon != std::string_view::npos;
       colon = finding.find(':', colon + 1)) {
    size_t begin = colon;
    while (begin > 0 && is_digit(finding[begin - 1])) --begin;
    const bool name = begin < colon && begin > 0 && finding[begin - 1] >= 'A' &&
                      finding[begin - 1] <= 'Z' && (begin == 1 || finding[begin - 2] == ' ');
    if (name) return std::string(finding.substr(begin - 1, colon - begin + 1));
  }
  return std::string(finding.substr(0, finding.find_first_of(" :")));
}

Shrunk shrink(const Scenario& scenario, const std::function<std::string(const Scenario&)>& run,
              uint32_t runs_max) {
  return Shrinker(scenario, run, runs_max).shrink();
}

int run_shrink(const Command& command) {
  base::set_log_level(base::LogLevel::off);
  const uint64_t last = command.first + (command.planted.empty() ? 0 : kSeedsMax);
  for (uint64_t seed = command.first; seed <= last; ++seed) {
    const Scenario drawn = draw_scenario(seed, command.mode);
    const Shrunk shrunk = shrink(drawn, finding_of, kRunsMax);
    if (shrunk.finding.empty()) continue;
    fmt::print("shrunk seed {} in {} runs: {}\n  {}\n  run: sim --seed {}{}{}{}{}{}\n", seed,
               shrunk.runs, shrunk.finding, to_string(shrunk.scenario), seed,
               command.mode == Mode::swarm ? " --swarm" : "",
               shrunk.settings.empty() ? "" : " --with ", shrunk.settings,
               command.planted.empty() ? "" : " --planted ", command.planted);
    std::fflush(stdout);
    return 0;
  }
  fmt::print("shrunk nothing: seed {} finds nothing\n", command.first);
  std::fflush(stdout);
  return 1;
}

}  // namespace weir::simtest
