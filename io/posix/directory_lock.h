#pragma once
// DirectoryLock: one process per data directory.

#include <cstdint>
#include <string>

#include "io/base/result.h"

namespace weir::io::posix {

// Holds flock(2) on `<directory>/lock`, which names the holder's process id. Built and destroyed on
// the thread that owns the platform. It is free as soon as the holder is gone, although writes of a
// killed holder may still land: with io/uring the kernel finishes them after the process. Files for
// which that matters are opened with OpenOptions::locked, a lock that each write in flight keeps
// (RELIABILITY rule 8). With io/posix nothing lands later: a helper thread inside pwritev(2) cannot
// die before the call returns, and the descriptor table lives as long as the last thread.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  // Creates the directory and its missing parents; waits up to `wait_ms` for a holder that is
  // dying.
  base::Status take(const std::string& directory, int64_t wait_ms);

  bool held() const { return descriptor_ >= 0; }
  // The file system of the directory takes RWF_DSYNC; known once the lock is held.
  bool dsync_works() const { return dsync_works_; }

 private:
  void write_holder(const std::string& path);

  int descriptor_ = -1;
  bool dsync_works_ = true;
};

}  // namespace weir::io::posix
