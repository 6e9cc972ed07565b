#include "engine/transaction/transaction.h"

#include <algorithm>
#include <array>

#include "engine/transaction/limits.h"
#include "io/base/assert.h"

namespace weir::transaction {

using model::ErrorCode;
using model::ProducerEpoch;

namespace {

constexpr std::array<std::string_view, 8> kNames = {
    "Empty",          "Ongoing",       "PrepareCommit", "PrepareAbort",
    "CompleteCommit", "CompleteAbort", "Dead",          "PrepareEpochFence"};

ProducerEpoch next_epoch(ProducerEpoch epoch) {
  ASSERT(epoch.value() < INT16_MAX);
  return ProducerEpoch(static_cast<int16_t>(epoch.value() + 1));
}

Decision answer(ErrorCode error) { return {.error = error, .next = {}}; }

Decision write(TransactionValue next, ErrorCode error = ErrorCode::none) {
  return {.what = Decision::Do::write, .error = error, .next = std::move(next)};
}

// An end that was asked for before and took place: the epoch is one behind, or the last one of the
// producer id before.
bool is_repeated_end(const TransactionValue& now, const Claim& claim) {
  if (now.epoch.value() > 0 && claim.producer_id == now.producer_id) {
    return claim.epoch.value() == now.epoch.value() - 1;
  }
  return now.epoch.value() == 0 && claim.producer_id == now.previous_producer_id &&
         claim.producer_id != model::kNoProducerId && claim.epoch.value() == kProducerEpochMax;
}

Decision end_ongoing(const TransactionValue& now, const End& end, int64_t now_ms) {
  TransactionValue next = now;
  next.state = end.commit ? TransactionState::prepare_commit : TransactionState::prepare_abort;
  next.update_ms = now_ms;
  if (end.bumps_epoch) {
    next.last_epoch = now.epoch;
    next.epoch = next_epoch(now.epoch);
    next.client_version = kEpochBumpVersion;
  }
  Decision decision = write(std::move(next));
  decision.needs_producer_id = end.bumps_epoch && now.is_epoch_exhausted();
  return decision;
}

// KIP-890: an abort without a transaction still gives a new epoch, so that nothing sent before it
// can be taken for part of the next transaction.
Decision end_nothing(const TransactionValue& now, int64_t now_ms) {
  TransactionValue next = now;
  next.state = TransactionState::complete_abort;
  next.partitions.clear();
  next.update_ms = now_ms;
  next.last_epoch = now.epoch;
  next.client_version = kEpochBumpVersion;
  const bool exhausted = now.is_epoch_exhausted();
  if (!exhausted) next.epoch = next_epoch(now.epoch);
  Decision decision = write(std::move(next));
  decision.needs_producer_id = exhausted;
  return decision;
}

}  // namespace

std::string_view name(TransactionState state) {
  const auto index = static_cast<size_t>(state);
  return index < kNames.size() ? kNames[index] : "";
}

bool TransactionValue::is_epoch_exhausted() const { return epoch.value() >= kProducerEpochMax; }

bool TransactionValue::contains(model::PartitionKey key) const {
  const auto found = partitions.find(key.topic);
  return found != partitions.end() && found->second.partitions.contains(key.index.value());
}

size_t TransactionValue::partition_count() const {
  size_t count = 0;
  for (const auto& [serial, topic] : partitions) count += topic.partitions.size();
  return count;
}

// --- InitProducerId ------------------------------------------------------------------------------

namespace {

bool may_init(const TransactionValue& now, const Claim& claim) {
  if (claim.producer_id == model::kNoProducerId || now.epoch.value() < 0) return true;
  if (claim.producer_id == now.producer_id) return true;
  return claim.producer_id == now.previous_producer_id &&
         claim.epoch.value() >= kProducerEpochMax;
}

}  // namespace

Decision decide_init(const TransactionValue& now, const Claim& claim, int32_t timeout_ms,
                     int64_t now_ms) {
  if (!may_init(now, claim)) return answer(ErrorCode::producer_fenced);
  if (now.is_preparing()) return answer(ErrorCode::concurrent_transactions);
  if (now.is(TransactionState::ongoing)) {
    return write(fenced(now, now_ms), ErrorCode::concurrent_transactions);
  }
  TransactionValue next = now;
  next.state = TransactionState::empty;
  next.partitions.clear();
  next.timeout_ms = timeout_ms;
  next.start_ms = -1;
  next.update_ms = now_ms;
  const bool claimed = claim.producer_id != model::kNoProducerId;
  const bool is_current = !claimed || now.epoch.value() < 0 ||
                          (claim.producer_id == now.producer_id && claim.epoch == now.epoch);
  if (!is_current) {
    // The answer to the same request was missed.
    if (now.last_epoch.value() < 0 || claim.epoch != now.last_epoch) {
      return answer(ErrorCode::producer_fenced);
    }
    return write(std::move(next));
  }
  next.last_epoch = claimed ? now.epoch : ProducerEpoch(-1);
  const bool needs_id = now.epoch.value() < 0 || now.is_epoch_exhausted();
  if (!needs_id) next.epoch = next_epoch(now.epoch);
  Decision decision = write(std::move(next));
  decision.needs_producer_id = needs_id;
  return decision;
}

void take_producer_id(Decision& decision, model::ProducerId producer_id) {
  ASSERT(decision.needs_producer_id);
  TransactionValue& next = decision.next;
  decision.needs_producer_id = false;
  if (next.is_preparing()) {
    next.next_producer_id = producer_id;
    return;
  }
  next.previous_producer_id = next.producer_id;
  next.producer_id = producer_id;
  next.epoch = ProducerEpoch(0);
}

// --- AddPartitionsToTxn --------------------------------------------------------------------------

ErrorCode check_claim(const TransactionValue& now, const Claim& claim) {
  if (claim.producer_id != now.producer_id) return ErrorCode::invalid_producer_id_mapping;
  if (claim.epoch != now.epoch) return ErrorCode::producer_fenced;
  if (now.is_preparing()) return ErrorCode::concurrent_transactions;
  return ErrorCode::none;
}

Decision decide_add(const TransactionValue& now, const TransactionPartitions& added,
                    int16_t client_version, int64_t now_ms) {
  const bool is_open = now.is(TransactionState::ongoing);
  if (added.empty() && is_open) return answer(ErrorCode::none);
  TransactionValue next = now;
  if (!is_open) {
    next.state = TransactionState::ongoing;
    next.partitions.clear();
    next.start_ms = now_ms;
  }
  next.update_ms = now_ms;
  next.client_version = client_version;
  for (const auto& [serial, topic] : added) {
    TopicPartitions& to = next.partitions[serial];
    to.topic = topic.topic;
    to.partitions.insert(topic.partitions.begin(), topic.partitions.end());
  }
  if (next.partition_count() > kPartitionsPerTransactionMax) {
    return answer(ErrorCode::policy_violation);
  }
  return write(std::move(next));
}

// --- EndTxn --------------------------------------------------------------------------------------

Decision decide_end(const TransactionValue& now, const Claim& claim, const End& end,
                    int64_t now_ms) {
  const bool repeated = end.bumps_epoch && !now.is(TransactionState::ongoing) &&
                        !now.is(TransactionState::empty) && is_repeated_end(now, claim);
  if (!repeated) {
    if (claim.producer_id != now.producer_id) return answer(ErrorCode::invalid_producer_id_mapping);
    const bool bumped_meanwhile = end.bumps_epoch && now.is_preparing();
    if (claim.epoch != now.epoch || bumped_meanwhile) return answer(ErrorCode::producer_fenced);
  }
  const auto prepared =
      end.commit ? TransactionState::prepare_commit : TransactionState::prepare_abort;
  const auto complete =
      end.commit ? TransactionState::complete_commit : TransactionState::complete_abort;
  if (now.is(TransactionState::ongoing)) return end_ongoing(now, end, now_ms);
  if (now.is(prepared)) return answer(ErrorCode::concurrent_transactions);
  if (now.is(complete) && (repeated || !end.bumps_epoch)) return answer(ErrorCode::none);
  if (end.bumps_epoch && !repeated && !end.commit && now.is_idle()) return end_nothing(now, now_ms);
  return answer(ErrorCode::invalid_txn_state);
}

TransactionValue fenced(const TransactionValue& now, int64_t now_ms) {
  ASSERT(now.is(TransactionState::ongoing));
  TransactionValue next = now;
  next.state = TransactionState::prepare_abort;
  next.last_epoch = now.epoch;
  next.epoch = next_epoch(now.epoch);
  next.update_ms = now_ms;
  return next;
}

TransactionValue completed(const TransactionValue& now, int64_t now_ms) {
  ASSERT(now.is_preparing());
  TransactionValue next = now;
  next.state = now.is(TransactionState::prepare_commit) ? TransactionState::complete_commit
                                                        : TransactionState::complete_abort;
  next.partitions.clear();
  next.update_ms = now_ms;
  if (now.next_producer_id == model::kNoProducerId) return next;
  next.previous_producer_id = now.producer_id;
  next.producer_id = now.next_producer_id;
  next.next_producer_id = model::kNoProducerId;
  next.epoch = ProducerEpoch(0);
  next.last_epoch = ProducerEpoch(kProducerEpochMax);
  return next;
}

Claim claim_after(const TransactionValue& now) {
  if (now.next_producer_id != model::kNoProducerId) {
    return {now.next_producer_id, ProducerEpoch(0)};
  }
  return {now.producer_id, now.epoch};
}

}  // namespace weir::transaction
