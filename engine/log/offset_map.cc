#include "engine/log/offset_map.h"

#include <algorithm>

#include "io/base/assert.h"

namespace weir::log {

void OffsetMap::begin(const base::SipKey& secret, uint64_t keys_wanted, size_t memory_max) {
  secret_ = secret;
  const size_t slots_max = std::max(memory_max, kMemoryMin) / kSlotSize;
  const size_t slots_min = kMemoryMin / kSlotSize;
  const uint64_t capped = std::min<uint64_t>(keys_wanted, slots_max);
  slot_count_ = std::clamp<size_t>(capped * 100 / kLoadMax + 1, slots_min, slots_max);
  keys_max_ = slot_count_ * kLoadMax / 100;
  slots_.reset(static_cast<Slot*>(std::calloc(slot_count_, sizeof(Slot))));
  ASSERT(slots_ != nullptr, "no memory for {} keys", keys_max_);
  size_ = 0;
}

void OffsetMap::clear() {
  slots_.reset();
  slot_count_ = keys_max_ = size_ = 0;
}

// The slot of the digest, or the free one where it would stand.
OffsetMap::Slot& OffsetMap::slot_of(const base::Digest128& digest) const {
  ASSERT(slot_count_ > 0);
  __extension__ using Wide = unsigned __int128;
  auto at = static_cast<size_t>(static_cast<Wide>(digest.low) * slot_count_ >> 64);
  while (slots_[at].next_offset != 0 && slots_[at].digest != digest) {
    at = at + 1 == slot_count_ ? 0 : at + 1;
  }
  return slots_[at];
}

bool OffsetMap::put(std::span<const std::byte> key, model::Offset offset) {
  const base::Digest128 digest = base::siphash128(secret_, key);
  Slot& slot = slot_of(digest);
  if (slot.next_offset == 0) {
    if (size_ == keys_max_) return false;
    ++size_;
    slot.digest = digest;
  }
  slot.next_offset = std::max(slot.next_offset, offset.value() + 1);
  return true;
}

model::Offset OffsetMap::find(std::span<const std::byte> key) const {
  return model::Offset(slot_of(base::siphash128(secret_, key)).next_offset - 1);
}

}  // namespace weir::log
