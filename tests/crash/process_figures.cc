#include "tests/crash/process_figures.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace weir::crashtest {
namespace {

// The number behind `name` in a file of lines "name: number unit".
uint64_t number_of(pid_t pid, const char* file, const std::string& name) {
  std::ifstream in(fmt::format("/proc/{}/{}", pid, file));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

}  // namespace

uint64_t resident_bytes(pid_t pid) { return number_of(pid, "status", "VmRSS:") * 1024; }

uint64_t resident_bytes_max(pid_t pid) { return number_of(pid, "status", "VmHWM:") * 1024; }

uint64_t disk_read_bytes(pid_t pid) { return number_of(pid, "io", "read_bytes:"); }

uint64_t cpu_ticks(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return user + system;
}

size_t descriptor_count(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator all(fmt::format("/proc/{}/fd", pid), gone);
  return gone ? 0 : static_cast<size_t>(std::distance(begin(all), end(all)));
}

bool allow_descriptors(size_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (limit.rlim_cur >= count) return true;
  limit.rlim_cur = count;
  if (limit.rlim_max < count) limit.rlim_max = count;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace weir::crashtest
