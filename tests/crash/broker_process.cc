#include "tests/crash/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace weir::crashtest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReadyTimeout_s = 60;
constexpr auto kPollInterval = std::chrono::milliseconds(10);

std::string program() {
  const char* const path = std::getenv("WEIR_PROGRAM");
  if (path == nullptr) throw std::runtime_error("WEIR_PROGRAM must name the program");
  return path;
}

// io_uring_setup fails with EPERM from here on, in this process and what it becomes. Called between
// fork and exec.
bool forbid_rings() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = static_cast<unsigned short>(std::size(code)), .filter = code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

// This process, after fork(), joins a group of processes.
bool join(const std::string& group) {
  const int file = ::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  return file >= 0 && ::write(file, "0", 1) == 1;
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int log,
                         const BrokerOptions& options) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  const rlimit descriptors{.rlim_cur = options.descriptors, .rlim_max = options.descriptors};
  const bool ready =
      (options.group.empty() || join(options.group)) &&
      (!options.forbid_rings || forbid_rings()) &&
      (options.descriptors == 0 || ::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  if (ready) ::execv(argv[0], argv.data());
  ::_exit(127);
}

// The whole answer, header and all; empty: nobody answers.
std::string http_get(uint16_t port, const std::string& path) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
  std::string answer;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket, bytes, sizeof bytes, 0)) > 0;) {
      answer.append(bytes, static_cast<size_t>(count));
    }
  }
  ::close(socket);
  return answer;
}

std::string unique_log_path(const BrokerOptions& options) {
  static std::atomic<int> count = 0;
  const std::filesystem::path data(options.data);
  std::filesystem::path place = data.parent_path();
  if (!options.logs.empty()) place = options.logs;
  return (place / fmt::format("{}.{}.log", data.filename().string(), ++count)).string();
}

}  // namespace

TempDirectory::TempDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "weir-crash-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

BrokerProcess::BrokerProcess(const BrokerOptions& options)
    : port_(options.port), log_path_(unique_log_path(options)) {
  std::vector<std::string> arguments = {program(), "serve",
                                        "--data",  options.data,
                                        "--listen", fmt::format("127.0.0.1:{}", options.port),
                                        "--http",  options.metrics ? "127.0.0.1:0" : "off"};
  arguments.insert(arguments.end(), options.more.begin(), options.more.end());
  const int log = ::open(log_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (log < 0) throw std::runtime_error("cannot make " + log_path_);
  pid_ = ::fork();
  if (pid_ == 0) become(arguments, log, options);
  ::close(log);
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

BrokerProcess::~BrokerProcess() { kill(); }

bool BrokerProcess::wait_ready() {
  const auto give_up = Clock::now() + std::chrono::seconds(kReadyTimeout_s);
  while (Clock::now() < give_up) {
    const std::string text = log();
    if (text.find("ready data=") != std::string::npos) {
      constexpr std::string_view kListening = "listening on 127.0.0.1:";
      const size_t at = text.rfind(kListening);
      if (at == std::string::npos) return false;
      port_ = static_cast<uint16_t>(std::stoi(text.substr(at + kListening.size())));
      return true;
    }
    if (wait_end(0)) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return false;
}

std::optional<int> BrokerProcess::wait_end(int timeout_ms) {
  if (pid_ < 0) return ended_;
  const auto give_up = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      return ended_;
    }
    if (Clock::now() >= give_up) return std::nullopt;
    std::this_thread::sleep_for(kPollInterval);
  }
}

void BrokerProcess::send(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

void BrokerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string BrokerProcess::bootstrap() const { return fmt::format("127.0.0.1:{}", port_); }

std::string BrokerProcess::log() const {
  std::ifstream file(log_path_);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int BrokerProcess::count_in_log(const std::string& text) const {
  std::ifstream file(log_path_);
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) ++count;
  }
  return count;
}

std::optional<double> BrokerProcess::metric(const std::string& name) const {
  const std::string text = log();
  constexpr std::string_view kAddress = "metrics on http://127.0.0.1:";
  const size_t at = text.rfind(kAddress);
  if (at == std::string::npos) return std::nullopt;
  const std::string page =
      http_get(static_cast<uint16_t>(std::stoi(text.substr(at + kAddress.size()))), "/metrics");
  const size_t line = page.find("\n" + name + " ");
  if (line == std::string::npos) return std::nullopt;
  return std::stod(page.substr(line + 2 + name.size()));
}

}  // namespace weir::crashtest
