#pragma once
// What liburing 2.3 does not name yet; whether the running kernel has it is asked at start
// (features.h).

#include <cstdint>

namespace weir::io::uring {

inline constexpr int kOpFtruncate = 55;  // IORING_OP_FTRUNCATE, Linux 6.9

}  // namespace weir::io::uring
