// `weir run`: the command's exit code and signals come through, it finds the broker in its
// environment, and nothing is left behind, whoever of the three is killed.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/broker_process.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;

constexpr auto kRunPatience = std::chrono::seconds(60);

std::string weir_program() {
  const char* const path = std::getenv("WEIR_PROGRAM");
  return path == nullptr ? "" : path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// False: it did not come true for as long as we wait for anything.
bool eventually(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kRunPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// A zombie that nobody waits for does not run.
bool is_running(pid_t pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat[name_end + 2] != 'Z';
}

// One `weir run`, with a temporary directory of its own as TMPDIR.
class RunProcess {
 public:
  explicit RunProcess(std::vector<std::string> arguments) {
    fs::create_directory(temporary());
    arguments.insert(arguments.begin(), {weir_program(), "run"});
    pid_ = ::fork();
    if (pid_ == 0) become(arguments);
  }
  ~RunProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;

  // The exit code, -signal, or -1000 when it does not end.
  int wait() {
    int status = 0;
    if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) return -1000;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  void send(int signal) const { ::kill(pid_, signal); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string out() const { return read_file(directory_.path() + "/out"); }
  [[nodiscard]] std::string err() const { return read_file(directory_.path() + "/err"); }
  [[nodiscard]] std::string temporary() const { return directory_.path() + "/tmp"; }
  [[nodiscard]] bool temporary_is_empty() const { return fs::is_empty(temporary()); }
  bool wait_out(const std::string& text) const {
    return eventually([&] { return out().find(text) != std::string::npos; });
  }
  // The broker is the first child, the command the second.
  [[nodiscard]] std::vector<pid_t> children() const {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid_));
    return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
  }

 private:
  [[noreturn]] void become(const std::vector<std::string>& arguments) const {
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::setenv("TMPDIR", temporary().c_str(), 1);
    const auto open = [&](const char* name) {
      return ::open((directory_.path() + name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    };
    ::dup2(open("/out"), STDOUT_FILENO);
    ::dup2(open("/err"), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(99);
  }

  TempDirectory directory_;
  pid_t pid_ = -1;
};

std::vector<std::string> shell(const std::string& script) { return {"--", "sh", "-c", script}; }

TEST(Run, TheExitCodeIsTheCommands) {
  for (const int code : {0, 1, 7, 255}) {
    RunProcess run(shell(fmt::format("exit {}", code)));
    EXPECT_EQ(run.wait(), code) << run.err();
    EXPECT_EQ(run.err(), "");
    EXPECT_TRUE(run.temporary_is_empty());
  }
}

TEST(Run, ADeadlySignalIs128AndItsNumber) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    RunProcess run(shell(fmt::format("kill -{} $$", signal)));
    EXPECT_EQ(run.wait(), 128 + signal) << run.err();
    EXPECT_TRUE(run.temporary_is_empty());
  }
}

TEST(Run, ACommandThatCannotRunIsNamed) {
  RunProcess missing({"--", "no-such-command-anywhere"});
  EXPECT_EQ(missing.wait(), 127);
  EXPECT_NE(missing.err().find("no-such-command-anywhere"), std::string::npos) << missing.err();
  EXPECT_TRUE(missing.temporary_is_empty());
  RunProcess not_executable({"--", "/dev/null"});
  EXPECT_EQ(not_executable.wait(), 126);
  EXPECT_NE(not_executable.err().find("/dev/null"), std::string::npos) << not_executable.err();
}

TEST(Run, TheEnvironmentNamesABrokerThatServes) {
  RunProcess run(shell(fmt::format(
      "echo $WEIR_BOOTSTRAP; echo $KAFKA_BOOTSTRAP_SERVERS; {0} topic create clicks && "
      "{0} topic list", weir_program())));
  EXPECT_EQ(run.wait(), 0) << run.err();
  const std::string out = run.out();
  const size_t line = out.find('\n');
  ASSERT_NE(line, std::string::npos) << run.err();
  EXPECT_TRUE(out.starts_with("127.0.0.1:")) << out;
  EXPECT_FALSE(out.starts_with("127.0.0.1:0\n")) << out;
  EXPECT_EQ(out.substr(0, line), out.substr(line + 1, line));
  EXPECT_NE(out.find("clicks"), std::string::npos) << out;
}

TEST(Run, SignalsAreForwarded) {
  for (const char* signal : {"TERM", "INT", "USR1"}) {
    RunProcess run(shell(fmt::format("trap 'exit 42' {}; echo up; while :; do sleep 0.02; done",
                              signal)));
    ASSERT_TRUE(run.wait_out("up")) << run.err();
    run.send(std::string(signal) == "TERM" ? SIGTERM
             : std::string(signal) == "INT" ? SIGINT
                                            : SIGUSR1);
    EXPECT_EQ(run.wait(), 42) << signal << run.err();
    EXPECT_TRUE(run.temporary_is_empty());
  }
}

TEST(Run, WhenItIsKilledBrokerAndCommandEndToo) {
  RunProcess run(shell("echo up; exec sleep 600"));
  ASSERT_TRUE(run.wait_out("up")) << run.err();
  EXPECT_FALSE(run.temporary_is_empty());
  const auto children = run.children();
  ASSERT_EQ(children.size(), 2u);
  run.send(SIGKILL);
  EXPECT_EQ(run.wait(), -SIGKILL);
  for (const pid_t pid : children) EXPECT_TRUE(eventually([&] { return !is_running(pid); }));
  EXPECT_TRUE(eventually([&] { return run.temporary_is_empty(); }));
}

TEST(Run, WhenTheBrokerIsKilledTheCommandIsEnded) {
  RunProcess run(shell("echo up; exec sleep 600"));
  ASSERT_TRUE(run.wait_out("up")) << run.err();
  const auto children = run.children();
  ASSERT_EQ(children.size(), 2u);
  ::kill(children[0], SIGKILL);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
  EXPECT_NE(run.err().find("broker ended"), std::string::npos) << run.err();
  EXPECT_NE(run.err().find("signal 9"), std::string::npos) << run.err();
  EXPECT_TRUE(run.temporary_is_empty());
}

TEST(Run, ADataDirectoryOfTheUserStays) {
  const TempDirectory directory;
  const std::string data = directory.path() + "/data";
  RunProcess first({"--data", data, "--", weir_program(), "topic", "create", "kept"});
  EXPECT_EQ(first.wait(), 0) << first.err();
  RunProcess second({"--data", data, "--", weir_program(), "topic", "describe", "kept"});
  EXPECT_EQ(second.wait(), 0) << second.err();
  EXPECT_NE(second.out().find("kept"), std::string::npos);
}

TEST(Run, KeepSaysWhereTheDataIs) {
  RunProcess run({"--keep", "--", "true"});
  EXPECT_EQ(run.wait(), 0) << run.err();
  EXPECT_NE(run.err().find(run.temporary()), std::string::npos) << run.err();
  EXPECT_FALSE(run.temporary_is_empty());
}

TEST(Run, ABrokerThatDoesNotStartEndsIt) {
  RunProcess wrong({"--set", "no.such.setting=1", "--", "true"});
  EXPECT_EQ(wrong.wait(), 2);
  EXPECT_NE(wrong.err().find("no.such.setting"), std::string::npos) << wrong.err();
  EXPECT_TRUE(wrong.temporary_is_empty());
  RunProcess no_directory({"--data", "/dev/null/data", "--", "echo", "ran"});
  EXPECT_EQ(no_directory.wait(), 1);
  EXPECT_NE(no_directory.err().find("/dev/null/data"), std::string::npos) << no_directory.err();
  EXPECT_EQ(no_directory.out(), "");
}

}  // namespace
}  // namespace weir::crashtest
