#pragma once
// OffsetMap: for compaction, the last offset of every key of a stretch of log. Memory is fixed when
// it begins: 24 bytes a slot, a keyed digest of the key instead of the key. Two keys with one
// digest would lose one of them; with 128 bits under a random secret that does not happen, and
// nobody can choose keys so that it does. One core; memory only between begin() and clear().

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "engine/model/ids.h"
#include "io/base/siphash.h"

namespace weir::log {

class OffsetMap {
 public:
  static constexpr size_t kSlotSize = 24;
  // Slots in use, of a hundred: beyond it the map is full.
  static constexpr size_t kLoadMax = 75;
  // Less would be a pass for a handful of keys.
  static constexpr size_t kMemoryMin = size_t{64} << 10;

  // Room for `keys_wanted` keys, or as many as fit into `memory_max` bytes, at least kMemoryMin.
  void begin(const base::SipKey& secret, uint64_t keys_wanted, size_t memory_max);
  void clear();

  // False: full, and the key is new. Offsets come in ascending order.
  [[nodiscard]] bool put(std::span<const std::byte> key, model::Offset offset);
  // kNoOffset: not here.
  model::Offset find(std::span<const std::byte> key) const;

  size_t size() const { return size_; }
  size_t keys_max() const { return keys_max_; }
  size_t memory_bytes() const { return slot_count_ * kSlotSize; }

 private:
  struct Slot {
    base::Digest128 digest;
    int64_t next_offset;  // behind the key's last offset; 0: free
  };
  static_assert(sizeof(Slot) == kSlotSize);

  Slot& slot_of(const base::Digest128& digest) const;

  base::SipKey secret_;
  // Zeros of the kernel, page by page when first touched: a core must not stand still for all.
  std::unique_ptr<Slot[], void (*)(void*)> slots_{nullptr, std::free};
  size_t slot_count_ = 0;
  size_t keys_max_ = 0;
  size_t size_ = 0;
};

}  // namespace weir::log
