#pragma once
// Finding a record by its timestamp inside one batch: record timestamps need not rise, so the batch
// is opened (inflated where compressed) and its records are looked at in order (SCOPE 12).

#include <cstdint>
#include <optional>
#include <span>

#include "engine/log/inflater.h"
#include "engine/log/record_batch.h"

namespace weir::log {

struct TimedOffset {
  model::Offset offset;
  int64_t timestamp = -1;
};

// The first record of the batch, in offset order, with an offset >= `from` (a log may start in the
// middle of a batch) and a timestamp >= `wanted`. `batch` is whole and was validated when it came
// in.
std::optional<TimedOffset> find_timestamp(std::span<const std::byte> batch, int64_t wanted,
                                          model::Offset from, Inflater& inflater);
// The largest timestamp of the records with an offset >= `from`; kNoTimestamp when none is there.
int64_t largest_timestamp(std::span<const std::byte> batch, model::Offset from,
                          Inflater& inflater);

}  // namespace weir::log
