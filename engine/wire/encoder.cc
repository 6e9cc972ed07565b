#include "engine/wire/encoder.h"

#include "io/base/assert.h"

namespace weir::wire {

void length_not_encodable(size_t length) { UNREACHABLE("length {} cannot be encoded", length); }

}  // namespace weir::wire
