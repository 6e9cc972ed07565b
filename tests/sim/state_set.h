#pragma once
// StateSet: hashes of states that were seen, in memory that forked processes share. One process
// writes at a time.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/base/assert.h"

namespace weir::simtest {

class StateSet {
 public:
  explicit StateSet(size_t capacity_bits)
      : capacity_(size_t{1} << capacity_bits) {
    void* memory = ::mmap(nullptr, (capacity_ + 1) * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT(memory != MAP_FAILED);
    words_ = static_cast<uint64_t*>(memory);
  }
  ~StateSet() { ::munmap(words_, (capacity_ + 1) * sizeof(uint64_t)); }
  StateSet(const StateSet&) = delete;
  StateSet& operator=(const StateSet&) = delete;

  bool contains(uint64_t hash) const { return *place(hash) != 0; }
  // False when it was there.
  bool insert(uint64_t hash) {
    uint64_t* slot = place(hash);
    if (*slot != 0) return false;
    ASSERT(++words_[capacity_] < capacity_ / 4 * 3, "more states than the set holds");
    *slot = hash | 1;
    return true;
  }
  uint64_t size() const { return words_[capacity_]; }

 private:
  uint64_t* place(uint64_t hash) const {
    hash |= 1;  // 0: free
    size_t at = static_cast<size_t>(hash >> 8) & (capacity_ - 1);
    while (words_[at] != 0 && words_[at] != hash) at = (at + 1) & (capacity_ - 1);
    return &words_[at];
  }

  const size_t capacity_;
  uint64_t* words_;  // and their number behind them
};

}  // namespace weir::simtest
