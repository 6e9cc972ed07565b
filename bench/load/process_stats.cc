#include "bench/load/process_stats.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace weir::load {
namespace {

constexpr long kXfsMagic = 0x58465342;
constexpr long kZfsMagic = 0x2fc12fc1;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

// The name of the process, in parentheses, may hold anything; user and system time are the 12th and
// 13th field behind it (proc(5)).
base::Result<double> parse_cpu_s(const std::string& stat, int64_t ticks_per_second) {
  constexpr size_t kUserTime = 11;
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return base::error(0, "no name in the process's stat");
  std::istringstream fields(stat.substr(name_end + 1));
  const std::vector<std::string> all{std::istream_iterator<std::string>(fields),
                                     std::istream_iterator<std::string>()};
  if (all.size() < kUserTime + 2) return base::error(0, "too few fields in the process's stat");
  uint64_t ticks = 0;
  for (size_t i = kUserTime; i < kUserTime + 2; ++i) {
    uint64_t value = 0;
    std::from_chars(all[i].data(), all[i].data() + all[i].size(), value);
    ticks += value;
  }
  return static_cast<double>(ticks) / static_cast<double>(ticks_per_second);
}

// "name:   123 kB" gives 123; 0 where it is missing.
uint64_t parse_field(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    const size_t digit = line.find_first_of("0123456789", name.size());
    uint64_t value = 0;
    if (digit != std::string::npos) {
      std::from_chars(line.data() + digit, line.data() + line.size(), value);
    }
    return value;
  }
  return 0;
}

base::Result<ProcessStats> process_stats(pid_t pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  const std::string stat = read_file(directory + "/stat");
  if (stat.empty()) return base::error(ESRCH, fmt::format("no process has the id {}", pid));
  ProcessStats stats;
  TRY(stats.cpu_s, parse_cpu_s(stat, ::sysconf(_SC_CLK_TCK)));
  const std::string status = read_file(directory + "/status");
  stats.memory_bytes = parse_field(status, "VmRSS") << 10;
  stats.memory_peak_bytes = parse_field(status, "VmHWM") << 10;
  const std::string io = read_file(directory + "/io");
  stats.written_known = !io.empty();
  stats.written_bytes = parse_field(io, "write_bytes");
  return stats;
}

MachineFacts machine_facts() {
  MachineFacts facts;
  utsname names{};
  if (::uname(&names) == 0) facts.kernel = names.release;
  const std::string cpu = read_file("/proc/cpuinfo");
  if (const size_t at = cpu.find("model name"); at != std::string::npos) {
    const size_t begin = cpu.find(": ", at);
    if (begin != std::string::npos) {
      facts.processor = cpu.substr(begin + 2, cpu.find('\n', begin) - begin - 2);
    }
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) facts.cores = CPU_COUNT(&set);
  facts.memory_bytes = parse_field(read_file("/proc/meminfo"), "MemTotal") << 10;
  return facts;
}

std::string file_system_of(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return "unknown";
  switch (static_cast<long>(info.f_type)) {
    case EXT4_SUPER_MAGIC: return "ext4";  // and ext2, ext3
    case TMPFS_MAGIC: return "tmpfs";
    case BTRFS_SUPER_MAGIC: return "btrfs";
    case OVERLAYFS_SUPER_MAGIC: return "overlay";
    case kXfsMagic: return "xfs";
    case kZfsMagic: return "zfs";
    default: return fmt::format("0x{:x}", static_cast<unsigned long>(info.f_type));
  }
}

}  // namespace weir::load
