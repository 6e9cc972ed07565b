#pragma once
// RingBuffer: a bounded queue of pointers from one thread to one other. SleepFlag: how the two
// agree on who must be woken. The only atomics outside start-up live here (STYLE 2.7).

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/base/assert.h"

namespace weir::base {

inline constexpr size_t kCacheLineSize = 64;

// One producer, one consumer; no locks, no allocation after construction. What was written to an
// element before push() is visible after pop(). The ring does not own its elements.
//
// Indices run on without wrapping; the slot is the index modulo the capacity. Each side keeps the
// other's index as it last saw it and looks again only when the ring seems full (or empty), so that
// in a stream of elements a cache line moves between the cores once per many elements, not once per
// element.
template <class T>
class RingBuffer {
 public:
  explicit RingBuffer(size_t capacity) : slots_(capacity), mask_(capacity - 1) {
    ASSERT(std::has_single_bit(capacity), "capacity {} is no power of two", capacity);
  }
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;

  size_t capacity() const { return mask_ + 1; }

  // Producer. False: full, and the element is still the caller's.
  bool push(T& element) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_ && full()) return false;
    slots_[tail & mask_] = &element;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool full() {
    head_seen_ = head_.load(std::memory_order_acquire);
    return tail_.load(std::memory_order_relaxed) - head_seen_ > mask_;
  }

  // Consumer. nullptr: empty.
  T* pop() {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_ && size() == 0) return nullptr;
    T* const element = slots_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return element;
  }
  // How many are there to pop now; more may arrive at any moment.
  size_t size() {
    tail_seen_ = tail_.load(std::memory_order_acquire);
    return tail_seen_ - head_.load(std::memory_order_relaxed);
  }

 private:
  std::vector<T*> slots_;
  const size_t mask_;
  alignas(kCacheLineSize) std::atomic<size_t> tail_{0};  // written by the producer
  size_t head_seen_ = 0;                                 // the producer's
  alignas(kCacheLineSize) std::atomic<size_t> head_{0};  // written by the consumer
  size_t tail_seen_ = 0;                                 // the consumer's
};

// One thread waits for something that others change; they signal it only when it said that it
// waits.
//
//   waiter:  announce(); look once more; if there is still nothing, wait for the signal; clear()
//   others:  make the change; if (claim()) signal
//
// Either the claim sees the announcement and signals, or it came first in the order of the
// exchanges on the flag, and then the waiter's second look sees the change. At most one of the
// others signals per wait.
class SleepFlag {
 public:
  void announce() { waiting_.exchange(true, std::memory_order_acq_rel); }
  // An exchange too: a plain store would break the chain of exchanges that carries the changes.
  void clear() { waiting_.exchange(false, std::memory_order_acq_rel); }
  [[nodiscard]] bool claim() { return waiting_.exchange(false, std::memory_order_acq_rel); }

 private:
  alignas(kCacheLineSize) std::atomic<bool> waiting_{false};
};

}  // namespace weir::base
