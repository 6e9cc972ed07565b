#pragma once
// FrameBuffer: the bytes of one request frame, contiguous, growing while they arrive.
//
// Move-only owner of heap memory. capacity() is what is really allocated; it follows what has
// arrived, not what the peer announced (RELIABILITY rule 10).

#include <cstddef>
#include <cstdlib>
#include <span>
#include <utility>

#include "io/base/assert.h"

namespace weir::handlers {

class FrameBuffer {
 public:
  FrameBuffer() = default;
  ~FrameBuffer() { std::free(data_); }
  FrameBuffer(FrameBuffer&& other) noexcept { swap(other); }
  FrameBuffer& operator=(FrameBuffer&& other) noexcept {
    FrameBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }

  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::span<std::byte> first(size_t size) {
    ASSERT(size <= capacity_);
    return {data_, size};
  }
  // Keeps the content. False when the heap refuses: nothing has changed then.
  [[nodiscard]] bool grow(size_t capacity) {
    ASSERT(capacity >= capacity_);
    void* const grown = std::realloc(data_, capacity);
    if (grown == nullptr) return false;
    data_ = static_cast<std::byte*>(grown);
    capacity_ = capacity;
    return true;
  }

 private:
  void swap(FrameBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

  std::byte* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace weir::handlers
