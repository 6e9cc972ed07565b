#pragma once
// BufferPool: block-aligned memory of one core for append buffers and cold reads, in five sizes.
// Buffers of 256 KiB and more are cut from slabs of one huge page, so that a write of one is one
// piece to the device. What is free is kept for reuse up to a limit, then given back. One core;
// plain counters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "io/base/assert.h"
#include "io/base/huge_pages.h"
#include "io/base/units.h"

namespace weir::log {

class BufferPool {
 public:
  static constexpr size_t kClasses = 5;
  static constexpr std::array<size_t, kClasses> kSizes = {4096, 16384, 65536, 262144, 1048576};
  static constexpr size_t kSizeMax = kSizes[kClasses - 1];
  static constexpr size_t kSlabSize = base::kHugePageSize;

  // `kept_max`: bytes of free memory kept for reuse. The free part of a slab in use counts, and
  // may exceed it: slabs go back whole.
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

  // Of the memory in use: what readers hold (append_buffer.h, lease_chunk), each buffer once.
  size_t leased_bytes() const { return leased_; }
  void count_lease(size_t size) { leased_ += size; }
  void count_return(size_t size) {
    ASSERT(leased_ >= size);
    leased_ -= size;
  }

 private:
  static constexpr size_t kSlabClassMin = 3;
  // One huge page cut into buffers of one class.
  struct Slab {
    std::byte* memory = nullptr;
    uint32_t free = 0;  // one bit a buffer
  };
  static_assert(kSlabSize / kSizes[kSlabClassMin] <= 32 && kSlabSize % kSizeMax == 0);

  static size_t class_of(size_t wanted);
  static uint32_t all_free(size_t index);
  std::byte* take_small(size_t index);
  std::byte* take_from_slab(size_t index);
  void return_small(size_t index, std::byte* memory);
  void return_to_slab(size_t index, std::byte* memory);
  Slab& map_slab(size_t index);
  void unmap_slab(size_t index, Slab& slab);

  size_t kept_max_;
  size_t kept_ = 0;
  size_t used_ = 0;
  size_t leased_ = 0;
  std::array<std::vector<std::byte*>, kSlabClassMin> free_;  // of the classes below slabs
  std::unordered_map<std::byte*, Slab> slabs_;               // by address
  // Slabs with a free buffer; the last is taken from first.
  std::array<std::vector<Slab*>, kClasses> open_;
};

}  // namespace weir::log
