#pragma once
// Which ring features this kernel gives to this process: asked once at start, then fixed but for
// what only a file system can refuse. Each missing one is replaced by something slower and said in
// one log line.

#include <cstdint>

#include "io/base/result.h"

namespace weir::io::uring {

// Features to do without although the kernel has them: tests walk down each step of degradation.
struct Denied {
  bool defer_taskrun = false;
  bool coop_taskrun = false;
  bool registered_ring = false;
  bool buffer_ring = false;
  bool message_ring = false;
  bool file_operations = false;  // rename, unlink, mkdir, ftruncate through the ring
  bool dsync = false;
  bool direct = false;
  bool awaited_writes = false;  // through the ring
};

struct Features {
  uint32_t setup_flags = 0;      // of io_uring_setup
  bool registered_ring = false;  // enter by index, not by descriptor
  bool buffer_ring = false;      // receives take a buffer when data is there; else poll, recv(2)
  bool message_ring = false;     // wake-ups from ring to ring; else through an eventfd
  bool renameat = false;         // these four: else the blocking call
  bool unlinkat = false;
  bool mkdirat = false;
  bool ftruncate = false;
  bool dsync = false;           // RWF_DSYNC; else write, then fdatasync
  bool direct = false;          // O_DIRECT; else buffered
  bool awaited_writes = false;  // through the ring; else by helper threads (UringDisk says why)
};

// Error: this process may have no rings (forbidden, not built in) or only rings too old to use.
base::Result<Features> probe_features(const Denied& denied);

}  // namespace weir::io::uring
