#pragma once
// GiveUp: an operator's word that damaged offsets of a partition are lost for good (RELIABILITY
// P7). The segment that has them is written anew without them, as compaction writes one, and takes
// its place by name (decisions 0015 and 0021): from then on they are a gap like that of compacted
// records. For tools, while no broker runs: straight line on one core.
//
// Interrupted anywhere it has happened for a segment or it has not; the next start or the next
// GiveUp removes what was not finished.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/partition/inspection.h"
#include "engine/partition/partition.h"
#include "io/core_io.h"

namespace weir::partition {

// Offsets [base_offset, next_offset).
struct OffsetRange {
  model::Offset base_offset;
  model::Offset next_offset;
};

class GiveUp {
 public:
  GiveUp(io::CoreIo& core, std::string directory)
      : core_(core), directory_(std::move(directory)), inspection_(core, directory_) {}

  // `partition` is what a recovery found, whose journals are in force still. Every range must hold
  // damaged offsets and nothing that can be read, and all that is damaged together must be given
  // up together: in one range, and in one segment. Else an error, and nothing was done. What was
  // given up comes back, as it was found damaged.
  base::Result<std::vector<Damage>> run(const Recovered& partition,
                                        std::span<const OffsetRange> ranges);

 private:
  base::Status check_range(const Recovered& partition, const OffsetRange& range);
  base::Status check_readable(const Recovered& partition, std::span<const OffsetRange> ranges);
  bool is_given_up(const Damage& damage, std::span<const OffsetRange> ranges) const;
  base::Status rewrite(const Recovered& partition, size_t index, uint64_t pass);

  io::CoreIo& core_;
  std::string directory_;
  Inspection inspection_;
  std::vector<Damage> damages_;
};

}  // namespace weir::partition
