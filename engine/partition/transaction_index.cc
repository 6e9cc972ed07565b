#include "engine/partition/transaction_index.h"

#include <algorithm>

#include "io/base/assert.h"

namespace weir::partition {

void TransactionIndex::begin(model::Offset first_offset) {
  const bool is_new = unstable_.emplace(first_offset, model::kNoOffset).second;
  ASSERT(is_new, "two transactions begin at {}", first_offset.value());
}

void TransactionIndex::end(model::ProducerId producer_id, model::Offset first_offset,
                           model::Offset marker_offset, bool committed) {
  const auto found = unstable_.find(first_offset);
  ASSERT(found != unstable_.end() && found->second == model::kNoOffset,
         "no open transaction begins at {}", first_offset.value());
  found->second = marker_offset;
  ended_.push_back(first_offset);
  if (committed) return;
  // The oldest one still open; those that ended and are not durable have markers before this one.
  model::Offset stable = marker_offset + 1;
  for (const auto& [first, marker] : unstable_) {
    if (marker != model::kNoOffset) continue;
    stable = first;
    break;
  }
  aborted_.push_back({producer_id, first_offset, marker_offset, stable});
}

void TransactionIndex::on_durable(model::Offset next_offset) {
  while (!ended_.empty()) {
    const auto found = unstable_.find(ended_.front());
    ASSERT(found != unstable_.end());
    if (found->second >= next_offset) return;
    unstable_.erase(found);
    ended_.pop_front();
  }
}

void TransactionIndex::find_aborted(model::Offset from, model::Offset to,
                                    std::vector<AbortedTransaction>& out) const {
  const size_t begin = out.size();
  for (auto it = std::ranges::lower_bound(aborted_, from, {}, &Aborted::last_offset);
       it != aborted_.end(); ++it) {
    if (it->first_offset < to) out.push_back({it->producer_id, it->first_offset});
    if (it->stable_offset >= to) break;
  }
  std::ranges::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), {},
                    &AbortedTransaction::first_offset);
}

void TransactionIndex::forget_before(model::Offset log_start) {
  while (!aborted_.empty() && aborted_.front().last_offset < log_start) aborted_.pop_front();
}

void TransactionIndex::forget_markers(std::span<const model::Offset> markers) {
  for (const model::Offset marker : markers) {
    const auto found = std::ranges::lower_bound(aborted_, marker, {}, &Aborted::last_offset);
    if (found != aborted_.end() && found->last_offset == marker) aborted_.erase(found);
  }
}

}  // namespace weir::partition
