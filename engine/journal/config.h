#pragma once
// Sizes of one core's journal. Every one is a multiple of the block size.

#include <cstdint>

#include "io/base/units.h"

namespace weir::journal {

using base::operator""_KiB;
using base::operator""_MiB;
using base::operator""_ms;

struct Config {
  uint64_t size_initial = 4_MiB;           // written when the journal is created
  uint64_t size_max = 256_MiB;             // grown to under load, in steps
  uint64_t growth_step = 8_MiB;            // zeros written at a time
  uint64_t record_size_max = 1_MiB + 64_KiB;
  uint64_t early_commit_bytes = 1_MiB;  // this much waiting starts a commit beside those in flight
  uint64_t extent_threshold = 64_KiB;  // a partition's pending bytes from here on go to its segment
  uint32_t commits_in_flight_max = 4;      // D of DESIGN 4.2
  int64_t frontier_delay_ns = 50_ms;  // quiet time after which a frontier record is written (L5)
};

}  // namespace weir::journal
