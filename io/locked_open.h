#pragma once
// Opening a file of which a dead process may still have writes in flight: waits until they have
// landed (OpenOptions::locked, RELIABILITY rule 8). Straight-line, at start.

#include <string>

#include "io/disk.h"
#include "io/loop.h"

namespace weir::io {

inline constexpr int64_t kLandingWait_ns = 60'000'000'000;

// As Disk::open with options.locked; an error after kLandingWait_ns, saying what was waited for.
base::Result<FileId> open_locked(Loop& loop, Disk& disk, const std::string& path,
                                 OpenOptions options);

}  // namespace weir::io
