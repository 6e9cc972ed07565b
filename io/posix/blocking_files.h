#pragma once
// The blocking calls of Disk, the same in both real back ends: at start, in tools, off the hot
// path.

#include <string>
#include <vector>

#include "io/disk.h"

namespace weir::io::posix {

base::Result<std::vector<DirectoryEntry>> list_directory(const std::string& path);  // by name
base::Result<FileInfo> file_info(const std::string& path);
base::Result<uint64_t> free_bytes(const std::string& path);  // for an ordinary user
base::Result<uint64_t> total_bytes(const std::string& path);
std::string path_of(int descriptor);  // empty when the kernel does not say

// OpenOptions::locked: flock(2) on a file just opened; the descriptor, or -errno and it is closed.
int lock_open_file(int descriptor);
// open(2) flags of `options`, without O_DIRECT.
int open_flags(const OpenOptions& options);
inline constexpr unsigned kFileMode = 0644;
inline constexpr unsigned kDirectoryMode = 0755;

}  // namespace weir::io::posix
