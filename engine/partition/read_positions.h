#pragma once
// ReadPositions: how far groups have read the partitions of this core, for retention. What groups
// committed lies with their coordinators on all cores; the broker, who knows both sides, brings it
// here.

#include <span>
#include <string>

#include "engine/model/ids.h"
#include "io/op.h"

namespace weir::partition {

struct ReadPosition {
  std::string group;
  model::Offset offset;  // committed: the first one it has not read
  bool holds = false;    // a group of weir.retention.hold.groups
};

class ReadPositions {
 public:
  virtual ~ReadPositions() = default;
  // Asks all cores anew; `done` runs when of() knows what they said.
  virtual void update(io::Op& done) = 0;
  // As of the last update; valid until the next.
  virtual std::span<const ReadPosition> of(model::PartitionKey key) const = 0;
};

}  // namespace weir::partition
