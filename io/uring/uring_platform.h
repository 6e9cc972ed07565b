#pragma once
// The platform over io_uring.

#include <expected>
#include <memory>

#include "io/core_io.h"
#include "io/platform_options.h"
#include "io/uring/features.h"

namespace weir::io::uring {

// Error: rings are forbidden, missing or too old here; the caller takes io::posix and says so.
base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options);

// The same, doing without some features although they are there; for tests.
base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options,
                                                      const Denied& denied);

}  // namespace weir::io::uring
