#include "io/posix/blocking_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "io/errors.h"

namespace weir::io::posix {

base::Result<std::vector<DirectoryEntry>> list_directory(const std::string& path) {
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) return failed(Operation::list, errno, path);
  std::vector<DirectoryEntry> entries;
  int code = 0;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(directory);
    if (entry == nullptr) {
      code = errno;
      break;
    }
    std::string entry_name = entry->d_name;
    if (entry_name == "." || entry_name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
      struct stat status {};
      if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0) {
        is_directory = S_ISDIR(status.st_mode);
      }
    }
    entries.push_back({std::move(entry_name), is_directory});
  }
  closedir(directory);
  if (code != 0) return failed(Operation::list, code, path);
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

base::Result<FileInfo> file_info(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return failed(Operation::info, errno, path);
  return FileInfo{
      .size = static_cast<uint64_t>(status.st_size),
      .is_directory = S_ISDIR(status.st_mode),
      .modified_ms = int64_t{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000,
  };
}

base::Result<uint64_t> free_bytes(const std::string& path) {
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) return failed(Operation::free_bytes, errno, path);
  return uint64_t{status.f_bavail} * status.f_frsize;
}

base::Result<uint64_t> total_bytes(const std::string& path) {
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) return failed(Operation::total_bytes, errno, path);
  return uint64_t{status.f_blocks} * status.f_frsize;
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path;
  const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size < 0 ? std::string() : std::string(path.data(), static_cast<size_t>(size));
}

int lock_open_file(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int code = errno;
  ::close(descriptor);
  return -code;
}

int open_flags(const OpenOptions& options) {
  int flags = O_CLOEXEC | (options.writable ? O_RDWR : O_RDONLY);
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  return flags;
}

}  // namespace weir::io::posix
