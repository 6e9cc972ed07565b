#pragma once
// CoreIo: everything one core may touch of the machine. Platform: the cores of one process (or of
// one simulated world) and how their loops run.

#include <cstdint>
#include <string>
#include <string_view>

#include "io/base/result.h"
#include "io/clock.h"
#include "io/disk.h"
#include "io/loop.h"
#include "io/mailbox.h"
#include "io/network.h"
#include "io/random.h"

namespace weir::io {

struct CoreIo {
  CoreIndex index;
  uint16_t core_count;
  Loop& loop;
  Disk& disk;
  Network& network;
  Clock& clock;
  Mailboxes& mailboxes;
  Random& random;
};

class Platform {
 public:
  // What runs on a core: builds that core's part of the engine, then returns; the loop runs after
  // it.
  class CoreMain {
   public:
    virtual ~CoreMain() = default;
    virtual void on_core_start(CoreIo& core) = 0;
    // On core 0, after request_stop(): the engine drains, then stops every core's loop.
    virtual void on_stop_request(CoreIo& core) = 0;
    virtual void on_core_stop(CoreIo& core) = 0;  // after the loop has stopped, on its thread
  };

  virtual ~Platform() = default;
  virtual uint16_t core_count() const = 0;
  virtual std::string_view name() const = 0;  // "uring", "posix", "sim"

  // Takes the data directory for this process: creates `path` when missing, locks it, and keeps the
  // lock until the last write of every ring has landed (RELIABILITY rule 8). Waits up to `wait_ms`
  // for a dying process. Before run().
  virtual base::Status lock(const std::string& path, int64_t wait_ms) = 0;

  // Runs every core on its own pinned thread, core 0 on the caller's, until all loops have stopped.
  virtual base::Status run(CoreMain& main) = 0;
  // Has on_stop_request() run on core 0; safe from a signal handler and from any thread.
  virtual void request_stop() = 0;
};

}  // namespace weir::io
