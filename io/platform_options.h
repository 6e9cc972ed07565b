#pragma once
// What a real platform is asked for; the back ends read it once.

#include <cstdint>

#include "io/mailbox.h"

namespace weir::io {

struct PlatformOptions {
  uint16_t cores = 1;  // 1 .. kCoresMax; the caller decides, usually one per allowed CPU
  bool pin = true;     // core i to the i-th CPU this process may use, when there are as many
};

}  // namespace weir::io
