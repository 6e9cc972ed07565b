#pragma once
// BufferPool: block-aligned memory of one core for append buffers and cold reads, in five sizes.
// Freed buffers are kept for reuse up to a limit, then given back to the allocator. One core; plain
// counters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/base/units.h"

namespace weir::log {

class BufferPool {
 public:
  static constexpr size_t kClasses = 5;
  static constexpr std::array<size_t, kClasses> kSizes = {4096, 16384, 65536, 262144, 1048576};
  static constexpr size_t kSizeMax = kSizes[kClasses - 1];

  // `kept_max`: bytes of free buffers kept for reuse.
  explicit BufferPool(size_t kept_max) : kept_max_(kept_max) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;

  struct Buffer {
    std::byte* memory = nullptr;
    size_t size = 0;
  };
  // The smallest class that holds `wanted`, or the largest class there is.
  Buffer allocate(size_t wanted);
  // At least `wanted` bytes in one piece, however large; sizes above kSizeMax are not kept.
  Buffer allocate_whole(size_t wanted);
  void release(Buffer buffer);
  size_t used_bytes() const { return used_; }
  size_t kept_bytes() const { return kept_; }

 private:
  static size_t class_of(size_t wanted);

  size_t kept_max_;
  size_t kept_ = 0;
  size_t used_ = 0;
  std::array<std::vector<std::byte*>, kClasses> free_;
};

}  // namespace weir::log
