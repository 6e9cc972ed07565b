#pragma once
// BrokerProcess: one `weir serve` of a test, on 127.0.0.1, in a directory of the test.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::crashtest {

// A fresh directory under the system's temporary one; gone with the object.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct BrokerOptions {
  std::string data;            // data directory
  std::string logs{};          // directory for the program's log; empty: beside the data
  uint16_t port = 0;           // 0: a free one
  bool forbid_rings = false;   // io_uring_setup answers EPERM
  bool metrics = false;        // metric() may be asked
  size_t descriptors = 0;      // it may have so many; 0: as many as the test
  std::string group{};         // of processes (cgroups(7)) that it joins: its directory
  std::vector<std::string> more{};  // further options of the command line
};

class BrokerProcess {
 public:
  explicit BrokerProcess(const BrokerOptions& options);
  ~BrokerProcess();  // kills it when it still runs
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  // Until the log says that it is ready, for 60 s at most; false: it ended or is not ready.
  bool wait_ready();
  // The exit code, or -signal, as often as it is asked; nothing: it still runs after so long, or
  // was killed by kill().
  std::optional<int> wait_end(int timeout_ms);
  void send(int signal);
  // SIGKILL, and gone when this returns.
  void kill();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] std::string bootstrap() const;
  [[nodiscard]] std::string log() const;
  // Lines of the log that contain the text.
  [[nodiscard]] int count_in_log(const std::string& text) const;
  // A metric without labels, by its name; nothing when it is not there or nobody answers.
  [[nodiscard]] std::optional<double> metric(const std::string& name) const;

 private:
  pid_t pid_ = -1;  // -1: ended and waited for
  std::optional<int> ended_;
  uint16_t port_ = 0;
  std::string log_path_;
};

}  // namespace weir::crashtest
