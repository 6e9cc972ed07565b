#pragma once
// ReceiveBuffers: memory of the back end that receives land in.

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/uring/ring.h"

namespace weir::io::uring {

// One core's. The kernel takes a buffer when data has come, so a waiting connection holds none; it
// is given back as soon as the completion has run. Where the kernel has no buffer rings, all
// receives of the core share the first buffer, one at a time. Pages are touched only when used.
class ReceiveBuffers {
 public:
  static constexpr unsigned kCount = 64;  // power of two: entries of the kernel's ring
  static constexpr size_t kSize = size_t{16} << 10;
  static constexpr uint16_t kGroup = 0;

  explicit ReceiveBuffers(Ring& ring);  // the ring is closed before this is destroyed
  ~ReceiveBuffers();
  ReceiveBuffers(const ReceiveBuffers&) = delete;
  ReceiveBuffers& operator=(const ReceiveBuffers&) = delete;

  bool provided() const { return entries_ != nullptr; }
  std::span<std::byte> buffer(uint16_t index) { return {memory_ + index * kSize, kSize}; }
  void give_back(uint16_t index);

 private:
  std::byte* memory_ = nullptr;
  io_uring_buf_ring* entries_ = nullptr;  // shared with the kernel; null: not provided
};

}  // namespace weir::io::uring
