// weir run

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/weir/commands.h"
#include "tools/weir/ephemeral_broker.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

// As shells say it.
constexpr int kExitNotExecutable = 126;
constexpr int kExitNotFound = 127;

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

struct Options {
  EphemeralBroker::Options broker{};
  std::vector<std::string> command;
};

// The signals to forward, blocked and readable, for as long as it lives.
class Signals {
 public:
  Signals() {
    sigset_t forwarded;
    ::sigemptyset(&forwarded);
    for (const int signal : kForwarded) ::sigaddset(&forwarded, signal);
    ::sigprocmask(SIG_BLOCK, &forwarded, &before_);
    descriptor_ = ::signalfd(-1, &forwarded, SFD_CLOEXEC);
    if (descriptor_ < 0) fail("signalfd: {}", std::strerror(errno));
  }
  ~Signals() {
    ::close(descriptor_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

// Called between fork and exec. Reports errno through the pipe when the program cannot be run.
[[noreturn]] void become(const std::vector<std::string>& command, const sigset_t& mask,
                         pid_t parent, int pipe) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (::getppid() == parent) ::execvp(argv[0], argv.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(pipe, &error, sizeof error);
  ::_exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

pid_t spawn(const std::vector<std::string>& command, const sigset_t& mask) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) fail("cannot make a pipe: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(command, mask, parent, pipe[1]);
  const int fork_error = errno;
  ::close(pipe[1]);
  int error = 0;
  const ssize_t count = pid > 0 ? ::read(pipe[0], &error, sizeof error) : 0;
  ::close(pipe[0]);
  if (pid < 0) fail("cannot run {}: {}", command[0], std::strerror(fork_error));
  if (count == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    throw Failure(fmt::format("cannot run {}: {}", command[0], std::strerror(error)),
                  error == ENOENT ? kExitNotFound : kExitNotExecutable);
  }
  return pid;
}

// One of the terminal has reached the command already: it goes to the whole foreground group.
void forward(int signals, pid_t pid) {
  signalfd_siginfo info{};
  if (::read(signals, &info, sizeof info) != sizeof info) return;
  if (info.ssi_code <= 0) ::kill(pid, static_cast<int>(info.ssi_signo));
}

// The wait status of the command. When the broker ends under it, it is asked to end, too.
int wait_for(pid_t pid, int signals, const EphemeralBroker& broker) {
  const int ended = open_process(pid);
  if (ended < 0) fail("cannot wait for the command: {}", std::strerror(errno));
  pollfd waiting[] = {{.fd = ended, .events = POLLIN, .revents = 0},
                      {.fd = signals, .events = POLLIN, .revents = 0},
                      {.fd = broker.ended_descriptor(), .events = POLLIN, .revents = 0}};
  while (true) {
    if (::poll(waiting, std::size(waiting), -1) < 0) continue;
    if (waiting[0].revents != 0) break;
    if (waiting[1].revents != 0) forward(signals, pid);
    if (waiting[2].revents != 0) {
      fmt::print(stderr, "weir: the broker ended while the command ran\n");
      ::kill(pid, SIGTERM);
      waiting[2].fd = -1;
    }
  }
  ::close(ended);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

int run(const Options& options) {
  const Signals signals;
  EphemeralBroker broker(options.broker);
  if (options.broker.keep) fmt::print(stderr, "weir: data in {}\n", broker.data());
  for (const char* name : {"WEIR_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS"}) {
    ::setenv(name, broker.bootstrap().c_str(), 1);
  }
  const pid_t pid = spawn(options.command, signals.before());
  const int status = wait_for(pid, signals.descriptor(), broker);
  const int exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : kExitInterrupted + WTERMSIG(status);
  const auto failed = broker.stop();
  if (!failed) return exit_code;
  fmt::print(stderr, "weir: the broker ended with {}\n", *failed);
  return exit_code == 0 ? kExitFailed : exit_code;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  BrokerOptions& broker = options->broker.broker;
  CLI::App* command = app.add_subcommand(
      "run", "Run a command with a broker of its own: weir run [options] -- CMD...");
  command->add_option("--data", broker.data, "Data directory, kept (a fresh one, removed)");
  command->add_flag("--keep", options->broker.keep, "Keep the fresh data directory; says where");
  command->add_option("--listen", broker.listen, "Address for clients (a free port of 127.0.0.1)");
  command->add_option("--http", broker.http, "Address of /metrics (off)");
  command->add_option("--config", broker.config, "Settings from a TOML file");
  add_common_broker_options(*command, broker);
  command->add_flag("--verbose", options->broker.verbose, "The broker's log, not only warnings");
  command->add_option("command", options->command, "The command, behind --")->required();
  command->footer(
      "The command finds the broker's address in WEIR_BOOTSTRAP and KAFKA_BOOTSTRAP_SERVERS.\n"
      "When it ends, so does the broker; the exit code is the command's, 128 + N if signal N\n"
      "ended it, 126 or 127 if it cannot be run, 1 if the broker failed. The fresh directory lies\n"
      "below TMPDIR; a start waits for its device a few times, and TMPDIR=/dev/shm has none.");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weir::tools
