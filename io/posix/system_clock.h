#pragma once
// SystemClock: the kernel's clocks, read without a system call. SystemRandom: the kernel's
// generator. Used by both real back ends.

#include <array>
#include <cstddef>
#include <cstdint>

#include "io/clock.h"
#include "io/random.h"

namespace weir::io::posix {

// No state: any core may use any instance.
class SystemClock final : public Clock {
 public:
  Instant now() override;
  int64_t wall_ms() override;
};

// Numbers fit for salts and nonces. One core's; takes a block from the kernel and hands it out.
class SystemRandom final : public Random {
 public:
  uint64_t next() override;

 private:
  std::array<uint64_t, 32> block_{};  // getrandom never splits 256 bytes
  size_t used_ = 32;                  // numbers handed out of block_
};

}  // namespace weir::io::posix
