#include "engine/group/offset_store.h"

#include "engine/group/limits.h"
#include "io/base/assert.h"

namespace weir::group {

OffsetSlot* OffsetStore::find_slot(std::string_view topic, int32_t partition) {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return nullptr;
  const auto slot = found->second.find(partition);
  return slot == found->second.end() ? nullptr : &slot->second;
}

OffsetSlot& OffsetStore::make_slot(std::string_view topic, int32_t partition) {
  auto found = topics_.find(topic);
  if (found == topics_.end()) {
    found = topics_.emplace(std::string(topic), Partitions{}).first;
    memory_size_ += kOffsetCost + topic.size();
  }
  const auto [slot, is_new] = found->second.try_emplace(partition);
  if (is_new) memory_size_ += kOffsetCost;
  return slot->second;
}

const CommittedOffset* OffsetStore::find(std::string_view topic, const base::Uuid& topic_id,
                                         int32_t partition) const {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return nullptr;
  const auto slot = found->second.find(partition);
  if (slot == found->second.end() || !slot->second.has_value) return nullptr;
  const CommittedOffset& value = slot->second.value;
  const bool other_life =
      !topic_id.is_zero() && !value.topic_id.is_zero() && topic_id != value.topic_id;
  return other_life ? nullptr : &value;
}

bool OffsetStore::is_unstable(std::string_view topic, int32_t partition) const {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return false;
  const auto slot = found->second.find(partition);
  return slot != found->second.end() && slot->second.transactional > 0;
}

void OffsetStore::set(OffsetSlot& slot, CommittedOffset&& value) {
  if (!slot.has_value) ++value_count_;
  memory_size_ += value.metadata.size();
  memory_size_ -= slot.value.metadata.size();
  slot.value = std::move(value);
  slot.has_value = true;
}

void OffsetStore::clear(OffsetSlot& slot) {
  if (!slot.has_value) return;
  --value_count_;
  memory_size_ -= slot.value.metadata.size();
  slot.value = {};
  slot.has_value = false;
}

void OffsetStore::erase_if_free(std::string_view topic, int32_t partition) {
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return;
  const auto slot = found->second.find(partition);
  if (slot == found->second.end() || !slot->second.free()) return;
  found->second.erase(slot);
  memory_size_ -= kOffsetCost;
  if (!found->second.empty()) return;
  memory_size_ -= kOffsetCost + found->first.size();
  topics_.erase(found);
}

}  // namespace weir::group
