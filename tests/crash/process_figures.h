#pragma once
// What the kernel says of a process (proc(5)), and how many descriptors this one may have.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weir::crashtest {

inline constexpr uint64_t kMiB = 1 << 20;

uint64_t resident_bytes(pid_t pid);
uint64_t resident_bytes_max(pid_t pid);  // that it ever had
uint64_t cpu_ticks(pid_t pid);  // user and system time, in ticks of sysconf(_SC_CLK_TCK)
size_t descriptor_count(pid_t pid);
uint64_t disk_read_bytes(pid_t pid);

// Raises the limit of descriptors of this process, and of what it starts; false: it may not.
bool allow_descriptors(size_t count);

}  // namespace weir::crashtest
