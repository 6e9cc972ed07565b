#include "engine/log/buffer_pool.h"

#include <cstdlib>

#include "io/base/assert.h"
#include "io/disk.h"

namespace weir::log {

BufferPool::~BufferPool() {
  for (auto& list : free_) {
    for (std::byte* memory : list) std::free(memory);
  }
}

size_t BufferPool::class_of(size_t wanted) {
  size_t index = 0;
  while (index + 1 < kClasses && kSizes[index] < wanted) ++index;
  return index;
}

BufferPool::Buffer BufferPool::allocate(size_t wanted) {
  const size_t index = class_of(wanted);
  const size_t size = kSizes[index];
  used_ += size;
  auto& list = free_[index];
  if (!list.empty()) {
    std::byte* memory = list.back();
    list.pop_back();
    kept_ -= size;
    return {memory, size};
  }
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(io::kBlockSize, size));
  ASSERT(memory != nullptr, "out of memory for a buffer of {} bytes", size);
  return {memory, size};
}

BufferPool::Buffer BufferPool::allocate_whole(size_t wanted) {
  if (wanted <= kSizeMax) return allocate(wanted);
  const size_t size = base::round_up(wanted, io::kBlockSize);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(io::kBlockSize, size));
  ASSERT(memory != nullptr, "out of memory for a buffer of {} bytes", size);
  used_ += size;
  return {memory, size};
}

void BufferPool::release(Buffer buffer) {
  ASSERT(used_ >= buffer.size);
  used_ -= buffer.size;
  if (buffer.size > kSizeMax || kept_ + buffer.size > kept_max_) {
    std::free(buffer.memory);
    return;
  }
  kept_ += buffer.size;
  free_[class_of(buffer.size)].push_back(buffer.memory);
}

}  // namespace weir::log
