#pragma once
// UnreadGuard: what retention may not delete yet because groups have not read it. Groups named in
// weir.retention.hold.groups keep their unread segments up to weir.retention.hold.bytes a
// partition. For every group that would lose records it has not read there is first a warning, with
// their number, and a round later they go. Owned by Retention; one core.

#include <cstdint>
#include <unordered_map>

#include "engine/log/retention.h"
#include "engine/partition/config.h"
#include "engine/partition/metrics.h"
#include "engine/partition/read_positions.h"
#include "io/base/logging.h"

namespace weir::partition {

class Partition;

class UnreadGuard {
 public:
  UnreadGuard(const Config& config, Metrics& metrics) : config_(config), metrics_(metrics) {}

  void begin_round();
  void end_round();
  // How far the log start of the partition may move now, at most to `wanted`.
  model::Offset allow(Partition& partition, model::Offset wanted,
                      std::span<const ReadPosition> positions, const log::RetentionTime& now);

 private:
  model::Offset hold(Partition& partition, model::Offset wanted,
                     std::span<const ReadPosition> positions, const log::RetentionTime& now) const;
  void warn(Partition& partition, const ReadPosition& position, uint64_t records,
            const log::RetentionTime& now);

  const Config& config_;
  Metrics& metrics_;
  struct Warned {
    model::Offset until;  // below it everybody was warned
    uint64_t round = 0;
  };
  std::unordered_map<model::PartitionKey, Warned> warned_;  // in the round before, or in this one
  uint64_t round_ = 0;
  uint64_t at_risk_ = 0;  // records counted in this round
  base::LogLimiter limiter_;
};

}  // namespace weir::partition
