#pragma once
// Device probe: what the device gives in this minute, for one writer that waits for each write:
// O_DIRECT, RWF_DSYNC, one after another into a file that was written before (no allocation). The
// ceiling against which a broker's durable throughput is read (BENCHMARKS 1 rule 3). A broker that
// gathers what many clients send into larger writes may exceed the ceiling of small ones.

#include <cstdint>
#include <string>

#include "bench/load/histogram.h"
#include "io/base/result.h"

namespace weir::load {

struct ProbeResult {
  size_t write_size = 0;   // bytes
  double mb_per_second = 0;  // 10^6 bytes
  Histogram latency;       // ns of one write
  bool direct = true;      // false: the file system has no O_DIRECT; buffered and synced
};

inline constexpr size_t kProbeFileSize = size_t{64} << 20;
inline constexpr size_t kProbeWriteSizeMin = 4096;
inline constexpr size_t kProbeWriteSizeMax = size_t{16} << 20;

// The size of writes that is probed for batches of a size: whole blocks, within the limits.
size_t probe_write_size(size_t batch_size);

// Writes for about duration_ms into a file of its own in the directory, which is gone afterwards.
// The error names the directory.
base::Result<ProbeResult> probe_device(const std::string& directory, size_t write_size,
                                       int64_t duration_ms);

}  // namespace weir::load
