#pragma once
// Batches of a segment file, and the records of a batch, whatever its compression: for tools, which
// read few and print them.

#include <functional>

#include "engine/log/record_batch.h"
#include "tools/weir/dump.h"

namespace weir::tools {

// Calls `each` for one record after another until it returns false. False: the batch holds no sound
// records from some point on, or they inflate to more than Inflater::kSizeMax.
bool for_each_record(const log::BatchView& batch,
                     const std::function<bool(const log::Record&)>& each);

// The bytes of the batch at `position` when they hang together and its CRC is right; empty
// otherwise. Valid until the file is read again.
std::span<const std::byte> sound_batch(InputFile& file, uint64_t position);
// Where a sound batch begins again behind damage; the end of the file when nowhere.
uint64_t next_sound_position(InputFile& file, uint64_t position);

}  // namespace weir::tools
