#pragma once
// EphemeralBroker: a broker of this program in a process of its own, on a free port of 127.0.0.1,
// for as long as the object lives. For `weir run` and `weir bench`.
//
// The process is a fork, not another program: nothing is loaded again, and it serves within
// milliseconds. It tells its address through a pipe when the port is open, so nobody polls and the
// port cannot be taken by somebody else in between. It is in a process group of its own: Ctrl-C on
// the terminal reaches the command, not the broker under it. When its parent dies, even of SIGKILL,
// the kernel tells it (PR_SET_PDEATHSIG): it stops and takes a temporary directory with it.

#include <sys/types.h>

#include <optional>
#include <string>

#include "tools/weir/broker_options.h"

namespace weir::tools {

class EphemeralBroker {
 public:
  struct Options {
    // listen, http and data are filled in where they are empty: a free port, off, a fresh directory
    // below TMPDIR or /tmp.
    BrokerOptions broker{};
    bool keep = false;     // leave a fresh directory behind
    bool verbose = false;  // the broker's log from level info on; else from warning on
  };

  // Returns when it serves. Call while this process has one thread. Throws Failure when it does not
  // start; its log on standard error says why.
  explicit EphemeralBroker(Options options);
  // Stops it when stop() was not called.
  ~EphemeralBroker();
  EphemeralBroker(const EphemeralBroker&) = delete;
  EphemeralBroker& operator=(const EphemeralBroker&) = delete;

  [[nodiscard]] const std::string& bootstrap() const { return bootstrap_; }  // "127.0.0.1:port"
  [[nodiscard]] const std::string& data() const { return options_.broker.data; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable once the process has ended; for poll().
  [[nodiscard]] int ended_descriptor() const { return pid_descriptor_; }

  // Asks it to stop, waits, kills it when that takes longer than kStopTimeout_ms; the temporary
  // directory is gone after that. How it ended, as people say it ("exit code 74"), unless it
  // stopped as it should.
  std::optional<std::string> stop();

  // SIGKILL, and gone when this returns. The data stays when its directory was named.
  void kill();

  // Clients get 5 s to finish (connection/config.h); then the journal is flushed.
  static constexpr int kStopTimeout_ms = 15'000;

 private:
  void start(const broker::Config& config);
  // Waits for its end; the wait status.
  int reap();

  Options options_;
  bool remove_data_ = false;
  pid_t pid_ = -1;  // -1: ended and waited for
  int pid_descriptor_ = -1;
  std::string bootstrap_;
};

// A descriptor of a child that poll() finds readable once it has ended; -1 and errno.
int open_process(pid_t pid);

// A fresh directory below TMPDIR or /tmp, gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// "exit code 3", "signal 9 (Killed)".
std::string describe_end(int wait_status);

}  // namespace weir::tools
