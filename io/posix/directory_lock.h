#pragma once
// DirectoryLock: one process per data directory.

#include <cstdint>
#include <string>

#include "io/base/result.h"

namespace weir::io::posix {

// Holds flock(2) on `<directory>/lock`, which names the holder's process id. Built and destroyed on
// the thread that owns the platform. The kernel frees the lock when the last reference to the open
// file goes, and that is the point (RELIABILITY rule 8): after kill -9 writes may still land, so
// the reference must outlive them. A ring holds it as a registered file, and a ring is torn down
// after its last operation. Helper threads need nothing more: a thread inside pwritev(2) cannot die
// before the call returns, and the descriptor table they share lives as long as the last of them.
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
  int descriptor() const { return descriptor_; }
  // The file system of the directory takes RWF_DSYNC; known once the lock is held.
  bool dsync_works() const { return dsync_works_; }

 private:
  void write_holder(const std::string& path);

  int descriptor_ = -1;
  bool dsync_works_ = true;
};

}  // namespace weir::io::posix
