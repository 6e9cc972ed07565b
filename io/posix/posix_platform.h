#pragma once
// The platform over epoll and a few helper threads, for where rings are forbidden.

#include <memory>

#include "io/core_io.h"
#include "io/platform_options.h"

namespace weir::io::posix {

// What to do without although the machine has it; tests walk down the fallbacks.
struct Denied {
  bool dsync = false;   // RWF_DSYNC
  bool direct = false;  // O_DIRECT
};

base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options);
base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options,
                                                      const Denied& denied);

}  // namespace weir::io::posix
