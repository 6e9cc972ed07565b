#pragma once
// Settings of compaction that change while the broker runs, as Kafka's do (LogCleaner's
// reconfigurable ones, KIP-226). What the file and the command line say is in Config; what was set
// since, in the catalog; each core's Cleaner has what holds.

#include <cstdint>
#include <limits>

#include "engine/model/setting.h"

namespace weir::partition {

struct CleanerConfig {
  int64_t backoff_ms = 15'000;       // between two looks when nothing was to be cleaned
  int64_t memory_bytes = 128 << 20;  // of the maps of all cores
  double bytes_per_second = std::numeric_limits<double>::max();  // of all cores

  bool operator==(const CleanerConfig&) const = default;

  static constexpr void describe(auto& setting, auto& c) {
    setting("log.cleaner.backoff.ms", c.backoff_ms,
            {.min = 0,
             .unit = "ms",
             .dynamic = true,
             .doc = "Pause between two looks for logs to compact when there were none."});
    setting("log.cleaner.dedupe.buffer.size", c.memory_bytes,
            {.min = 1 << 20,
             .unit = "bytes",
             .dynamic = true,
             .doc = "Memory for the keys of the logs that are compacted at the moment, in all; 32 "
                    "bytes a key."});
    setting("log.cleaner.io.max.bytes.per.second", c.bytes_per_second,
            {.min = 1,
             .unit = "bytes",
             .dynamic = true,
             .doc = "Most bytes that compaction reads and writes in a second, in all."});
  }
};

static_assert(model::defaults_in_range<CleanerConfig>());

}  // namespace weir::partition
