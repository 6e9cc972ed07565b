#pragma once
// The records of a batch, whatever its compression: for tools, which read few and print them.

#include <functional>

#include "engine/log/record_batch.h"

namespace weir::tools {

// Calls `each` for one record after another until it returns false. False: the batch holds no sound
// records from some point on, or they inflate to more than Inflater::kSizeMax.
bool for_each_record(const log::BatchView& batch,
                     const std::function<bool(const log::Record&)>& each);

}  // namespace weir::tools
