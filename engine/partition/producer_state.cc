#include "engine/partition/producer_state.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/log/transaction_marker.h"
#include "engine/model/planted.h"
#include "engine/partition/producer_snapshot.h"
#include "io/base/assert.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

}  // namespace

model::Sequence next_sequence(model::Sequence sequence) {
  if (sequence.value() == std::numeric_limits<int32_t>::max()) return model::Sequence(0);
  return sequence + 1;
}

model::Sequence ProducerEntry::last_sequence() const {
  if (batch_count > 0) return last().last_sequence;
  return expected.value() == 0 ? model::Sequence(-1) : model::Sequence(expected.value() - 1);
}

ProducerState::Verdict ProducerState::check(const log::BatchView& batch,
                                            const BatchOrigin& origin) const {
  const auto it = entries_.find(batch.producer_id());
  const ProducerEntry* const known = it == entries_.end() ? nullptr : &it->second;
  if (batch.is_control()) return check_marker(batch, known, origin);
  if (known && origin.transaction != 0 && known->ended_transaction >= origin.transaction) {
    return {.error = known->epoch > batch.producer_epoch() ? ErrorCode::invalid_producer_epoch
                                                           : ErrorCode::invalid_txn_state};
  }
  // An unknown producer may start anywhere: its state may have expired (SCOPE trap 20).
  if (!known || !known->is_known()) {
    const bool gap = origin.unknown_starts_at_0 && batch.base_sequence().value() > 0;
    return {.error = gap ? ErrorCode::out_of_order_sequence_number : ErrorCode::none};
  }
  const ProducerEntry& entry = *known;
  if (batch.producer_epoch() == entry.epoch) {
    for (size_t i = 0; i < entry.batch_count; ++i) {
      const ProducerBatch& stored = entry.batches[i];
      if (stored.first_sequence == batch.base_sequence() &&
          stored.last_sequence == batch.last_sequence()) {
        return {.duplicate = &stored};
      }
    }
  }
  if (batch.producer_epoch() < entry.epoch) return {.error = ErrorCode::invalid_producer_epoch};
  const bool same_epoch = batch.producer_epoch() == entry.epoch;
  model::Sequence wanted(0);
  if (same_epoch) {
    wanted = entry.batch_count == 0 ? entry.expected : next_sequence(entry.last().last_sequence);
  }
  // A coordinator's own records have no sequence.
  const bool sequenced = batch.base_sequence().value() >= 0;
  if (sequenced && batch.base_sequence() != wanted) {
    return {.error = ErrorCode::out_of_order_sequence_number};
  }
  if (entry.in_transaction() && !batch.is_transactional()) {
    return {.error = ErrorCode::invalid_txn_state};
  }
  return {};
}

ProducerState::Verdict ProducerState::check_marker(const log::BatchView& batch,
                                                   const ProducerEntry* entry,
                                                   const BatchOrigin& origin) const {
  if (!entry || !entry->is_known()) return {.nothing_to_end = origin.only_if_open};
  if (batch.producer_epoch() < entry->epoch) return {.error = ErrorCode::invalid_producer_epoch};
  const auto marker = log::read_marker(batch);
  ASSERT(marker.has_value(), "a control batch that is no marker");
  if (marker->coordinator_epoch < entry->coordinator_epoch) {
    return {.error = ErrorCode::transaction_coordinator_fenced};
  }
  const bool twice = model::planted(model::Bug::marker_written_twice);
  return {.nothing_to_end = origin.only_if_open && !entry->in_transaction() && !twice};
}

void ProducerState::append(const log::BatchView& batch, model::Offset base_offset, int64_t now_ms,
                           const BatchOrigin& origin) {
  ProducerEntry& entry = entries_[batch.producer_id()];
  if (entry.epoch != batch.producer_epoch()) {
    entry.epoch = batch.producer_epoch();
    entry.batch_count = 0;
    entry.expected = model::Sequence(0);
    entry.last_data_offset = model::kNoOffset;
  }
  entry.producer_id = batch.producer_id();
  entry.last_append_ms = now_ms;
  entry.last_timestamp = batch.max_timestamp();
  if (batch.is_control()) {
    entry.ended_transaction = std::max(entry.ended_transaction, origin.transaction);
    return end_transaction(entry, batch, base_offset);
  }
  if (batch.is_transactional() && !entry.in_transaction()) {
    entry.transaction_first_offset = base_offset;
    transactions_.begin(base_offset);
  }
  if (batch.base_sequence().value() < 0) return;
  entry.last_data_offset = base_offset + batch.last_offset_delta();
  if (entry.batch_count == kBatchesRemembered) {
    std::shift_left(entry.batches.begin(), entry.batches.end(), 1);
    --entry.batch_count;
  }
  entry.batches[entry.batch_count++] = {batch.base_sequence(), batch.last_sequence(), base_offset,
                                        base_offset + batch.last_offset_delta(),
                                        batch.max_timestamp()};
}

void ProducerState::end_transaction(ProducerEntry& entry, const log::BatchView& batch,
                                    model::Offset offset) {
  const auto marker = log::read_marker(batch);
  if (!marker) return;  // of a kind that ends nothing: found in a log of another broker
  entry.coordinator_epoch = std::max(entry.coordinator_epoch, marker->coordinator_epoch);
  if (entry.batch_count > 0) {
    entry.expected = next_sequence(entry.last().last_sequence);
    entry.batch_count = 0;
  }
  if (!entry.in_transaction()) return;
  const model::Offset first =
      std::exchange(entry.transaction_first_offset, model::kNoOffset);
  transactions_.end(entry.producer_id, first, offset, marker->commit);
}

void ProducerState::note_ended(model::ProducerId producer_id, uint64_t transaction,
                               int64_t now_ms) {
  const auto [it, is_new] = entries_.try_emplace(producer_id);
  it->second.producer_id = producer_id;
  it->second.ended_transaction = std::max(it->second.ended_transaction, transaction);
  if (is_new) it->second.last_append_ms = now_ms;
}

void ProducerState::refuse(const log::BatchView& batch, int64_t now_ms) {
  const auto it = entries_.try_emplace(batch.producer_id()).first;
  if (it->second.is_known()) return;
  it->second.producer_id = batch.producer_id();
  it->second.epoch = batch.producer_epoch();
  it->second.expected = batch.base_sequence();
  it->second.last_append_ms = now_ms;
}

size_t ProducerState::expire(io::Instant now, int64_t age_ns) {
  size_t count = 0;
  for (auto at = entries_.begin(); at != entries_.end();) {
    ProducerEntry& entry = at->second;
    const bool changed = entry.seen_append_ms != entry.last_append_ms ||
                         entry.seen_data_offset != entry.last_data_offset;
    if (changed || entry.in_transaction()) {
      entry.seen_append_ms = entry.last_append_ms;
      entry.seen_data_offset = entry.last_data_offset;
      entry.unchanged_since = now;
    }
    const bool expired = now - entry.unchanged_since > age_ns;
    at = expired ? entries_.erase(at) : std::next(at);
    count += expired ? 1 : 0;
  }
  return count;
}

void ProducerState::limit(size_t count_max) {
  while (entries_.size() > count_max) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& item) {
      const ProducerEntry& entry = item.second;
      return std::tuple(entry.in_transaction(), entry.last_append_ms, item.first);
    });
    if (oldest->second.in_transaction()) return;
    entries_.erase(oldest);
  }
}

std::vector<std::byte> ProducerState::encode(model::Offset next_offset,
                                             std::span<const log::EpochStart> epochs) const {
  std::vector<const ProducerEntry*> sorted;
  for (const auto& [id, entry] : entries_) {
    // One that was only refused is not worth it.
    const bool ended = entry.is_known() && entry.coordinator_epoch >= 0;
    if (entry.batch_count > 0 || entry.in_transaction() || ended) sorted.push_back(&entry);
  }
  std::ranges::sort(sorted, {}, &ProducerEntry::producer_id);
  return encode_snapshot({next_offset, sorted, epochs, transactions_.aborted()});
}

bool ProducerState::decode(std::span<const std::byte> bytes, model::Offset& next_offset,
                           std::vector<log::EpochStart>& epochs) {
  DecodedSnapshot snapshot;
  if (!decode_snapshot(bytes, snapshot)) return false;
  entries_.clear();
  transactions_ = {};
  for (ProducerEntry& entry : snapshot.producers) {
    if (entry.in_transaction()) transactions_.begin(entry.transaction_first_offset);
    entries_.emplace(entry.producer_id, entry);
  }
  if (model::planted(model::Bug::aborted_index_not_restored)) snapshot.aborted.clear();
  for (const auto& aborted : snapshot.aborted) transactions_.restore_aborted(aborted);
  epochs = std::move(snapshot.epochs);
  next_offset = snapshot.next_offset;
  return true;
}

}  // namespace weir::partition
