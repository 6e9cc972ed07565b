#pragma once
// Memory of one request: objects are placed one after the other and freed all at once.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace weir::base {

// Bump allocator over blocks taken from the heap. One core owns it; nothing is freed before reset()
// or destruction, and no destructor of a placed object runs, so only trivially destructible types
// may be placed. The memory taken never exceeds size_max: an allocation that would exceed it, or
// that the heap refuses, returns nullptr and changes nothing.
//
// Blocks double from block_size up to kBlockSizeMax; a larger object gets a block of its own size.
// reset() keeps the first block, so a request of usual size costs no heap call.
class Arena {
 public:
  static constexpr size_t kBlockSizeDefault = 8 * 1024;
  static constexpr size_t kBlockSizeMin = 128;
  static constexpr size_t kBlockSizeMax = 1024 * 1024;

  // size_max: most bytes of blocks, headers included. block_size: size of the first block.
  explicit Arena(size_t size_max, size_t block_size = kBlockSizeDefault);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // size bytes aligned to a power of two of at most alignof(std::max_align_t); nullptr when full.
  // A size of zero gives a pointer that must not be read.
  [[nodiscard]] void* allocate(size_t size, size_t alignment) {
    const size_t padding = (~reinterpret_cast<uintptr_t>(position_) + 1) & (alignment - 1);
    const auto left = static_cast<size_t>(end_ - position_);
    if (padding > left || size > left - padding || position_ == nullptr) [[unlikely]] {
      return allocate_from_new_block(size);
    }
    std::byte* const start = position_ + padding;
    position_ = start + size;
    size_used_ += size;
    return start;
  }

  // count objects, value-initialised; nullptr when full or when count * sizeof(T) overflows.
  template <class T>
    requires std::is_trivially_destructible_v<T>
  [[nodiscard]] T* make_array(size_t count) {
    T* const first = allocate_array<T>(count);
    if (first != nullptr) std::uninitialized_value_construct_n(first, count);
    return first;
  }

  // The same memory, not initialised: the caller constructs each object before reading it.
  template <class T>
    requires std::is_trivially_destructible_v<T>
  [[nodiscard]] T* allocate_array(size_t count) {
    if (count > SIZE_MAX / sizeof(T)) return nullptr;
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }

  // Forgets everything placed; memory of all blocks but the first goes back to the heap.
  void reset();

  [[nodiscard]] size_t size_max() const { return size_max_; }
  // Bytes asked for since the last reset, padding not counted.
  [[nodiscard]] size_t size_used() const { return size_used_; }
  // Bytes held from the heap; never more than size_max().
  [[nodiscard]] size_t size_reserved() const { return size_reserved_; }

 private:
  struct Block;

  void* allocate_from_new_block(size_t size);
  void free_blocks_after_first();

  std::byte* position_ = nullptr;  // next free byte of the newest block
  std::byte* end_ = nullptr;       // its end
  Block* first_ = nullptr;         // kept by reset()
  Block* last_ = nullptr;          // newest; links back to older ones
  size_t size_max_;
  size_t block_size_;              // of the next block
  const size_t block_size_first_;
  size_t size_used_ = 0;
  size_t size_reserved_ = 0;
};

}  // namespace weir::base
