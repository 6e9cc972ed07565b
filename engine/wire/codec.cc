#include "engine/wire/codec_impl.h"
#include "io/base/assert.h"

namespace weir::wire {

void version_not_encodable(const MessageInfo& info, int16_t version) {
  UNREACHABLE("{}{} has no version {}", info.name, info.suffix(), version);
}

}  // namespace weir::wire
