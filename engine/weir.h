#pragma once
// The engine as one call: picks the I/O back end for this machine, takes the data directory, runs
// the broker on all its cores until it is asked to stop. The only place that chooses a back end for
// the product.

#include <memory>

#include "engine/broker/config.h"
#include "engine/broker/ready_observer.h"
#include "io/base/result.h"
#include "io/core_io.h"

namespace weir {

// A platform for so many cores: rings where they are allowed, else epoll and helper threads, with
// one log line that says why.
base::Result<std::unique_ptr<io::Platform>> make_platform(broker::IoBackend backend,
                                                          uint16_t cores);

// How many cores this process may use.
uint16_t usable_cores();

// How many of the connections that are wanted may be had, so that they never take the descriptors
// that files need: a quarter of all, or 64 where that is more, but not more than half.
int32_t connections_within(uint64_t descriptors, int32_t wanted);

// Serves until SIGTERM or SIGINT; the exit code of the process (engine/broker/broker.h). Blocking;
// the calling thread becomes core 0. The limit of descriptors is raised as far as this process may.
// The observer, where there is one, hears when it serves.
int serve(const broker::Config& config, broker::ReadyObserver* observer = nullptr);

}  // namespace weir
