#include "tools/weir/ephemeral_broker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/weir.h"
#include "tools/weir/failure.h"

namespace weir::tools {
namespace {

std::string make_temporary_directory() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) fail("TMPDIR: {}", error.message());
  std::string name = (parent / "weir-run-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail("cannot make {}: {}", name, std::strerror(errno));
  return name;
}

void remove_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) fmt::print(stderr, "weir: cannot remove {}: {}\n", path, error.message());
}

// Writes the address of the first listener to a pipe. SIGTERM, blocked until here so that it cannot
// end the process before the broker listens to it, is let through.
class PipeObserver final : public broker::ReadyObserver {
 public:
  PipeObserver(int pipe, const sigset_t& mask) : pipe_(pipe), mask_(mask) {}

  void on_ready(const std::vector<io::Address>& addresses) override {
    const io::Address& first = addresses.front();
    const std::string text = fmt::format("{}:{}", first.host, first.port);
    [[maybe_unused]] const ssize_t written = ::write(pipe_, text.data(), text.size());
    ::close(pipe_);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  const int pipe_;
  const sigset_t mask_;
};

// Neither the terminal nor a pipe behind the command is the broker's.
void leave_standard_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::close(null);
}

// What the forked process does until it ends.
[[noreturn]] void be_broker(const broker::Config& config, int pipe, pid_t parent,
                            const std::string& remove_at_end) {
  sigset_t stop_only;
  ::sigemptyset(&stop_only);
  ::sigaddset(&stop_only, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &stop_only, nullptr);
  for (const int signal : {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  leave_standard_streams();
  int exit_code = kExitFailed;
  if (::getppid() == parent) {
    sigset_t none;
    ::sigemptyset(&none);
    PipeObserver observer(pipe, none);
    exit_code = serve(config, &observer);
  }
  if (!remove_at_end.empty()) remove_directory(remove_at_end);
  ::_exit(exit_code);
}

std::string read_until_closed(int pipe) {
  std::string text;
  char bytes[128];
  while (true) {
    const ssize_t count = ::read(pipe, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes, static_cast<size_t>(count));
  }
}

}  // namespace

// By number: the C library of Debian 12 declares pidfd_open() for C only.
int open_process(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

std::string describe_end(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exit code {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

TemporaryDirectory::TemporaryDirectory() : path_(make_temporary_directory()) {}
TemporaryDirectory::~TemporaryDirectory() { remove_directory(path_); }

EphemeralBroker::EphemeralBroker(Options options) : options_(std::move(options)) {
  BrokerOptions& broker = options_.broker;
  if (broker.listen.empty()) broker.listen = "127.0.0.1:0";
  if (broker.http.empty()) broker.http = "off";
  const bool level_given = std::ranges::any_of(
      broker.settings, [](const std::string& text) { return text.starts_with("log.level="); });
  if (!level_given && !options_.verbose) broker.settings.push_back("log.level=warning");
  configure(broker);  // what is wrong is said before a directory is made
  if (broker.data.empty()) {
    broker.data = make_temporary_directory();
    remove_data_ = !options_.keep;
  }
  start(configure(broker));
}

void EphemeralBroker::start(const broker::Config& config) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) fail("cannot make a pipe: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) be_broker(config, pipe[1], parent, remove_data_ ? data() : "");
  const int fork_error = errno;
  ::close(pipe[1]);
  if (pid_ > 0) bootstrap_ = read_until_closed(pipe[0]);
  ::close(pipe[0]);
  if (pid_ > 0) pid_descriptor_ = open_process(pid_);
  if (pid_ > 0 && !bootstrap_.empty() && pid_descriptor_ >= 0) return;
  const auto ended = pid_ > 0 ? stop() : std::strerror(fork_error);
  if (remove_data_) remove_directory(data());
  fail("the broker did not start: {}; its log says why", ended.value_or("it stopped"));
}

EphemeralBroker::~EphemeralBroker() { stop(); }

void EphemeralBroker::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

int EphemeralBroker::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (pid_descriptor_ >= 0) ::close(pid_descriptor_);
  pid_descriptor_ = -1;
  return status;
}

std::optional<std::string> EphemeralBroker::stop() {
  if (pid_ < 0) return std::nullopt;
  ::kill(pid_, SIGTERM);
  pollfd ended{.fd = pid_descriptor_, .events = POLLIN, .revents = 0};
  int count = 0;
  do {
    count = ::poll(&ended, 1, kStopTimeout_ms);
  } while (count < 0 && errno == EINTR);
  const bool killed = count == 0;
  if (killed) ::kill(pid_, SIGKILL);
  const int status = reap();
  // It does so itself, unless it died of something else.
  std::error_code ignored;
  if (remove_data_ && std::filesystem::exists(data(), ignored)) remove_directory(data());
  if (killed) return fmt::format("it did not stop within {} s", kStopTimeout_ms / 1000);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  return describe_end(status);
}

}  // namespace weir::tools
