#pragma once
// Limits of the kernel, and what liburing 2.3 does not name yet; whether the running kernel has
// that is asked at start (features.h).

#include <cstddef>
#include <cstdint>

namespace weir::io::uring {

inline constexpr int kOpFtruncate = 55;  // IORING_OP_FTRUNCATE, Linux 6.9

// One transfer of the kernel; longer ones come back short.
inline constexpr size_t kTransferMax = size_t{1} << 30;

}  // namespace weir::io::uring
