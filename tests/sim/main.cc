// sim: runs the engine in the simulated world, one seed after another.
//
//   sim --seed N                one run, with its options; --verbose tells what the clients do
//   sim --seed N --with A=0,B=1 the same with options turned down, see knobs.h
//   sim --shrink N              the smallest options with which seed N still fails, see shrink.h
//   sim --exhaustive N          all workloads of at most N operations, see exhaustive.h
//   sim --workload TEXT         one state of those again
//   sim --seeds A..B            many runs; the first finding ends it
//   sim --time-budget S         from seed --first on, until S seconds are over
//   sim --regressions FILE      the seeds of a file, each with the bug that it once found
//   sim --planted NAME          (with WEIR_PLANTED_BUGS) the bug must be found within --seeds
//   sim --all-planted           every planted bug must be; --time-budget S bounds each of them
// Options: --swarm (larger runs), --jobs N, --keep-going, --verbose, --print-options.
// Exit code: 0 nothing found (planted: found), 1 otherwise, 2 wrong usage.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/sim/runner.h"

namespace {

using weir::simtest::Command;
using weir::simtest::Mode;

[[noreturn]] void usage(std::string_view problem) {
  fmt::print(stderr, "sim: {}\nsee the first lines of tests/sim/main.cc\n", problem);
  std::exit(2);
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) usage(text);
  return value;
}

Command parse(int argc, char** argv) {
  Command command;
  bool ranged = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i >= argc) usage(flag);
      return argv[i];
    };
    if (flag == "--seed") {
      command.first = number(value());
      command.last = command.first;
      command.single = true;
    } else if (flag == "--seeds") {
      const std::string_view range = value();
      const size_t dots = range.find("..");
      if (dots == std::string_view::npos) usage(range);
      command.first = number(range.substr(0, dots));
      command.last = number(range.substr(dots + 2));
      ranged = true;
    } else if (flag == "--first") {
      command.first = number(value());
    } else if (flag == "--time-budget") {
      command.seconds = number(value());
      if (!ranged) command.last = UINT64_MAX;
    } else if (flag == "--jobs") {
      command.jobs = static_cast<unsigned>(number(value()));
    } else if (flag == "--regressions") {
      command.regressions = value();
    } else if (flag == "--planted") {
      command.planted = value();
    } else if (flag == "--all-planted") {
      command.all_planted = true;
    } else if (flag == "--shrink") {
      command.first = number(value());
      command.shrink = true;
    } else if (flag == "--with") {
      command.with = value();
    } else if (flag == "--exhaustive") {
      command.exhaustive = static_cast<unsigned>(number(value()));
      if (command.exhaustive == 0) usage("--exhaustive 0");
    } else if (flag == "--workload") {
      command.workload = value();
    } else if (flag == "--swarm") {
      command.mode = Mode::swarm;
    } else if (flag == "--keep-going") {
      command.keep_going = true;
    } else if (flag == "--verbose") {
      command.verbose = true;
    } else if (flag == "--print-options") {
      command.print_options = true;
    } else {
      usage(flag);
    }
  }
  if (!command.with.empty() && !command.single) usage("--with is for a single --seed");
  return command;
}

}  // namespace

int main(int argc, char** argv) { return weir::simtest::run_command(parse(argc, argv)); }
