#pragma once
// ByteFifo: bytes in at the back, out at the front; contiguous, so that a parser may look at all of
// it.

#include <cstddef>
#include <span>
#include <vector>

#include "io/base/assert.h"

namespace weir::io::sim {

class ByteFifo {
 public:
  size_t size() const { return bytes_.size() - head_; }
  bool empty() const { return size() == 0; }
  std::span<const std::byte> view() const { return std::span(bytes_).subspan(head_); }

  void push(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void drop(size_t count) {
    ASSERT(count <= size());
    head_ += count;
    if (head_ == bytes_.size()) clear();
    if (head_ > 65536 && head_ > bytes_.size() / 2) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }
  void clear() {
    bytes_.clear();
    head_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  size_t head_ = 0;  // bytes before it are gone
};

}  // namespace weir::io::sim
