#include "engine/group/pending_offsets.h"

#include <utility>

#include "io/base/assert.h"

namespace weir::group {

void PendingOffsets::add(model::PartitionIndex partition, model::ProducerId producer_id,
                         Group& group, std::string_view topic, int32_t topic_partition,
                         CommittedOffset&& value) {
  auto& transaction = transactions_[{partition, producer_id}];
  const auto [it, is_new] =
      transaction.try_emplace(Key{group.id(), std::string(topic), topic_partition});
  if (is_new) ++group.offsets.make_slot(topic, topic_partition).transactional;
  it->second = {std::move(value), next_order()};
}

void PendingOffsets::end(model::PartitionIndex partition, model::ProducerId producer_id,
                         bool commit) {
  auto node = transactions_.extract({partition, producer_id});
  if (node.empty()) return;
  for (auto& [key, pending] : node.mapped()) {
    const auto& [group_id, topic, topic_partition] = key;
    Group* const group = table_.find(group_id);
    ASSERT(group != nullptr, "a slot holds its group");
    OffsetSlot& slot = *group->offsets.find_slot(topic, topic_partition);
    if (commit && (!slot.has_value || slot.order < pending.order)) {
      slot.order = pending.order;
      group->offsets.set(slot, std::move(pending.value));
    }
    release(*group, topic, topic_partition);
    table_.forget_if_idle(*group);
  }
}

void PendingOffsets::forget(Group& group, std::string_view topic, int32_t topic_partition) {
  const Key key{group.id(), std::string(topic), topic_partition};
  for (auto it = transactions_.begin(); it != transactions_.end();) {
    if (it->second.erase(key) > 0) release(group, topic, topic_partition);
    it = it->second.empty() ? transactions_.erase(it) : std::next(it);
  }
}

void PendingOffsets::release(Group& group, std::string_view topic, int32_t topic_partition) {
  OffsetSlot* const slot = group.offsets.find_slot(topic, topic_partition);
  ASSERT(slot != nullptr && slot->transactional > 0);
  --slot->transactional;
  group.offsets.erase_if_free(topic, topic_partition);
}

}  // namespace weir::group
