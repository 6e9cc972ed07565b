#pragma once
// What a process and its machine cost and are, from /proc. For the broker under load, which may be
// of any make as long as it runs on this machine.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "io/base/result.h"

namespace weir::load {

struct ProcessStats {
  double cpu_s = 0;               // user and system, all threads
  uint64_t memory_bytes = 0;      // resident now
  uint64_t memory_peak_bytes = 0; // resident at most so far
  uint64_t written_bytes = 0;     // handed to the block layer; 0 where /proc/PID/io is not readable
  bool written_known = false;
};

// The error names the process.
base::Result<ProcessStats> process_stats(pid_t pid);

// The pieces, for tests: text of /proc/PID/stat, status and io.
base::Result<double> parse_cpu_s(const std::string& stat, int64_t ticks_per_second);
uint64_t parse_field(const std::string& text, const std::string& name);

struct MachineFacts {
  std::string kernel;     // "6.18.44"
  std::string processor;  // the model's name
  int32_t cores = 0;      // this process may use
  uint64_t memory_bytes = 0;
};

MachineFacts machine_facts();

// "ext4", "tmpfs", else the number; of the file system a path lies on.
std::string file_system_of(const std::string& path);

}  // namespace weir::load
