#pragma once
// Sizes of the partitions of one core.

#include <cstdint>
#include <string>

#include "engine/model/setting.h"
#include "engine/partition/cleaner_config.h"
#include "io/base/units.h"

namespace weir::partition {

using base::operator""_KiB;
using base::operator""_MiB;

struct Config {
  uint64_t flush_bytes = 256_KiB;  // committed bytes in the journal only, from which they are moved
  uint64_t carry_bytes_max = 64_KiB;     // at most this much is carried forward in the journal
  size_t tail_cache_bytes = 32_MiB;      // append buffers kept for tail readers, per core
  int64_t fetch_memory_bytes = 128 << 20;  // that reads hold until they are sent, per core
  int64_t prime_bytes_max = 128 << 20;     // at most this far behind its end a segment is primed
  uint64_t prime_burst_min = 16_MiB;     // after large writes of so much without a pause
  uint64_t prime_piece_bytes = 2_MiB;      // zeros in one write
  int64_t prime_quiet_ns = 100'000'000;  // a pause: no commit of the core for so long
  int64_t pool_bytes = int64_t{4} << 30;   // of dead segments' files kept for new ones, per core
  uint64_t pool_file_bytes_min = 256_KiB;  // with a smaller one nothing is gained
  int64_t reserve_bytes = 16 << 20;      // kept free on the disk, per core, for a full disk
  uint32_t producers_max = 100'000;      // per partition; the one idle for longest goes first
  int32_t producer_expiration_ms = 86'400'000;
  int64_t retention_check_ms = 300'000;  // between two rounds over the partitions of a core
  std::string hold_groups{};             // retention waits for these, separated by commas
  int64_t hold_bytes_max = int64_t{10} << 30;  // of a partition that they may keep

  bool cleaner_enable = true;
  CleanerConfig cleaner{};

  static constexpr void describe(auto& setting, auto& c) {
    setting("fetch.memory.max.bytes", c.fetch_memory_bytes,
            {.min = 4'194'304,
             .unit = "bytes",
             .doc = "Memory for the records of each core that are being sent to clients; when it "
                    "is used up, fetches wait, and are answered with fewer records."});
    CleanerConfig::describe(setting, c.cleaner);
    setting("log.cleaner.enable", c.cleaner_enable,
            {.doc = "Whether compacted topics are compacted."});
    setting("log.retention.check.interval.ms", c.retention_check_ms,
            {.min = 1,
             .unit = "ms",
             .doc = "How often segments are looked through for those that retention deletes."});
    setting("producer.id.expiration.ms", c.producer_expiration_ms,
            {.min = 1,
             .unit = "ms",
             .doc = "How long a partition remembers a producer that appends nothing; looked at "
                    "with every log.retention.check.interval.ms. Open transactions are not "
                    "forgotten."});
    setting("weir.disk.reserve.bytes", c.reserve_bytes,
            {.min = 0,
             .max = int64_t{1} << 40,
             .unit = "bytes",
             .doc = "Disk space that each core keeps for commits of groups, ends of transactions, "
                    "deletions and the next start when the disk is full. Should not be less than "
                    "8 MiB."});
    setting("weir.segment.pool.bytes", c.pool_bytes,
            {.min = 0,
             .max = int64_t{1} << 40,
             .unit = "bytes",
             .doc = "Size up to which each core keeps files of deleted segments to make new ones "
                    "of, which are then written faster; never more than a sixteenth of the disk, "
                    "and given back when that is full. 0: files are removed."});
    setting("weir.segment.prime.bytes", c.prime_bytes_max,
            {.min = 0,
             .max = int64_t{1} << 30,
             .unit = "bytes",
             .doc = "How far behind its end a partition that takes large batches has its segment "
                    "filled with zeros while nothing else is to do, so that the next ones are "
                    "written faster. 0: not at all, the disk is written once only."});
    setting("weir.retention.hold.bytes", c.hold_bytes_max,
            {.min = 0,
             .unit = "bytes",
             .doc = "Size of a partition up to which segments that a group of "
                    "weir.retention.hold.groups has not read are kept."});
    setting("weir.retention.hold.groups", c.hold_groups,
            {.list = true,
             .doc = "Groups whose unread segments retention keeps, up to "
                    "weir.retention.hold.bytes a partition."});
  }
};

static_assert(model::defaults_in_range<Config>());

}  // namespace weir::partition
