#pragma once
// Fifo<T>: a queue in one piece of memory, none while it was never used: what thousands have and
// few need (std::deque takes 576 bytes for being there). In place of std::deque where references
// to elements are not kept over push_back(). Taking from the front is O(1) on average; the rest
// moves up once half of the memory lies before it.

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "io/base/assert.h"

namespace weir::base {

// T is default constructible; what was taken is replaced by such a one until the rest moves.
template <class T>
class Fifo {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  Fifo() = default;
  Fifo(const Fifo&) = default;
  Fifo& operator=(const Fifo&) = default;
  Fifo(Fifo&& other) noexcept { swap(other); }
  Fifo& operator=(Fifo&& other) noexcept {
    Fifo taken(std::move(other));  // which is empty then
    swap(taken);
    return *this;
  }
  void swap(Fifo& other) noexcept {
    items_.swap(other.items_);
    std::swap(begin_, other.begin_);
  }

  bool empty() const { return begin_ == items_.size(); }
  size_t size() const { return items_.size() - begin_; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }
  const T& back() const { return (*this)[size() - 1]; }
  T& operator[](size_t index) {
    ASSERT(index < size());
    return items_[begin_ + index];
  }
  const T& operator[](size_t index) const {
    ASSERT(index < size());
    return items_[begin_ + index];
  }
  iterator begin() { return items_.begin() + static_cast<std::ptrdiff_t>(begin_); }
  iterator end() { return items_.end(); }
  const_iterator begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(begin_); }
  const_iterator end() const { return items_.end(); }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  void push_back(T item) { items_.push_back(std::move(item)); }
  void pop_front() {
    ASSERT(!empty());
    items_[begin_++] = T{};
    if (empty()) {
      clear();
    } else if (begin_ >= items_.size() - begin_ && begin_ >= kMovesMin) {
      items_.erase(items_.begin(), begin());
      begin_ = 0;
    }
  }
  iterator erase(iterator from, iterator to) { return items_.erase(from, to); }
  iterator erase(iterator at) { return items_.erase(at); }
  // Memory for more than a few goes.
  void clear() {
    items_.clear();
    begin_ = 0;
    if (items_.capacity() > kKeptMax) items_.shrink_to_fit();
  }

 private:
  static constexpr size_t kMovesMin = 16;
  static constexpr size_t kKeptMax = 64;

  std::vector<T> items_;
  size_t begin_ = 0;  // of what is in it
};

}  // namespace weir::base
