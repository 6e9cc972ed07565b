#include "engine/log/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "io/base/assert.h"
#include "io/base/heap.h"
#include "io/disk.h"

namespace weir::log {
namespace {

std::byte* allocate_blocks(size_t size) { return base::allocate_aligned(io::kBlockSize, size); }

}  // namespace

BufferPool::~BufferPool() {
  for (auto& list : free_) {
    for (std::byte* memory : list) std::free(memory);
  }
  for (const auto& [memory, slab] : slabs_) base::unmap_huge(memory, kSlabSize);
}

size_t BufferPool::class_of(size_t wanted) {
  size_t index = 0;
  while (index + 1 < kClasses && kSizes[index] < wanted) ++index;
  return index;
}

uint32_t BufferPool::all_free(size_t index) {
  return static_cast<uint32_t>((uint64_t{1} << (kSlabSize / kSizes[index])) - 1);
}

BufferPool::Buffer BufferPool::allocate(size_t wanted) {
  const size_t index = class_of(wanted);
  used_ += kSizes[index];
  return {index < kSlabClassMin ? take_small(index) : take_from_slab(index), kSizes[index]};
}

BufferPool::Buffer BufferPool::allocate_whole(size_t wanted) {
  if (wanted <= kSizeMax) return allocate(wanted);
  const size_t size = base::round_up(wanted, io::kBlockSize);
  used_ += size;
  return {allocate_blocks(size), size};
}

void BufferPool::release(Buffer buffer) {
  ASSERT(used_ >= buffer.size);
  used_ -= buffer.size;
  if (buffer.size > kSizeMax) return std::free(buffer.memory);
  const size_t index = class_of(buffer.size);
  index < kSlabClassMin ? return_small(index, buffer.memory) : return_to_slab(index, buffer.memory);
}

std::byte* BufferPool::take_small(size_t index) {
  auto& list = free_[index];
  if (list.empty()) return allocate_blocks(kSizes[index]);
  std::byte* const memory = list.back();
  list.pop_back();
  kept_ -= kSizes[index];
  return memory;
}

void BufferPool::return_small(size_t index, std::byte* memory) {
  if (kept_ + kSizes[index] > kept_max_) return std::free(memory);
  kept_ += kSizes[index];
  free_[index].push_back(memory);
}

std::byte* BufferPool::take_from_slab(size_t index) {
  Slab& slab = open_[index].empty() ? map_slab(index) : *open_[index].back();
  const auto place = static_cast<size_t>(std::countr_zero(slab.free));
  slab.free &= slab.free - 1;
  if (slab.free == 0) open_[index].pop_back();
  kept_ -= kSizes[index];
  return slab.memory + place * kSizes[index];
}

void BufferPool::return_to_slab(size_t index, std::byte* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const auto found = slabs_.find(memory - address % kSlabSize);
  ASSERT(found != slabs_.end(), "a buffer of another pool");
  Slab& slab = found->second;
  const uint32_t bit = uint32_t{1} << (address % kSlabSize / kSizes[index]);
  ASSERT((slab.free & bit) == 0, "a buffer released twice");
  if (slab.free == 0) open_[index].push_back(&slab);
  slab.free |= bit;
  kept_ += kSizes[index];
  if (slab.free == all_free(index) && kept_ > kept_max_) unmap_slab(index, slab);
}

BufferPool::Slab& BufferPool::map_slab(size_t index) {
  std::byte* const memory = base::map_huge(kSlabSize);
  if (memory == nullptr) base::out_of_memory(kSlabSize);
  Slab& slab = slabs_[memory];
  slab = {.memory = memory, .free = all_free(index)};
  open_[index].push_back(&slab);
  kept_ += kSlabSize;
  return slab;
}

void BufferPool::unmap_slab(size_t index, Slab& slab) {
  std::erase(open_[index], &slab);
  kept_ -= kSlabSize;
  std::byte* const memory = slab.memory;
  slabs_.erase(memory);
  base::unmap_huge(memory, kSlabSize);
}

}  // namespace weir::log
