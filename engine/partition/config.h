#pragma once
// Sizes of the partitions of one core.

#include <cstdint>

#include "io/base/units.h"

namespace weir::partition {

using base::operator""_KiB;
using base::operator""_MiB;

struct Config {
  uint64_t flush_bytes = 256_KiB;  // committed bytes in the journal only, from which they are moved
  uint64_t carry_bytes_max = 64_KiB;     // at most this much is carried forward in the journal
  size_t tail_cache_bytes = 32_MiB;      // append buffers kept for tail readers, per core
  uint32_t producers_max = 100'000;      // per partition; the one idle for longest goes first
  int64_t producer_expiration_ms = 86'400'000;
};

}  // namespace weir::partition
