// Operations of the coordinator: values made durable, transactions brought to their end, ids that
// nobody uses forgotten.

#include <algorithm>
#include <utility>

#include "engine/model/planted.h"
#include "engine/model/ports.h"
#include "engine/transaction/limits.h"
#include "engine/transaction/transaction_coordinator.h"
#include "io/base/logging.h"

namespace weir::transaction {

using model::ErrorCode;

namespace {

// As Kafka translates what a partition of the state topic says: all of it may be tried again.
ErrorCode error_of_write(ErrorCode error) {
  const bool gone = error == ErrorCode::not_leader_or_follower ||
                    error == ErrorCode::kafka_storage_error;
  return gone ? ErrorCode::not_coordinator : ErrorCode::coordinator_not_available;
}

// The partition needs no marker (any more): it is gone with its topic, or a tool ended the
// transaction with a newer epoch.
bool is_settled(ErrorCode error) {
  return error == ErrorCode::none || error == ErrorCode::unknown_topic_or_partition ||
         error == ErrorCode::invalid_producer_epoch ||
         error == ErrorCode::transaction_coordinator_fenced;
}

}  // namespace

void TransactionCoordinator::begin(Entry& entry, TransactionCall* call, Decision decision) {
  ASSERT(!entry.operation);
  entry.operation = std::make_unique<Operation>(*this, entry);
  Operation& operation = *entry.operation;
  operation.call = call;
  operation.decision = std::move(decision);
  if (!operation.decision.needs_producer_id) {
    if (model::planted(model::Bug::producer_epoch_not_durable) && entry.on_log && call != nullptr &&
        call->kind == TransactionCall::Kind::init_producer_id && entry.value.is_idle()) {
      apply(entry);
      return finish(entry);
    }
    return write(entry);
  }
  operation.stage = Stage::allocating;
  ++away_;
  host_.allocate(operation.id_wait);
}

void TransactionCoordinator::on_producer_id(Entry& entry) {
  --away_;
  Operation& operation = *entry.operation;
  ASSERT(operation.stage == Stage::allocating);
  if (operation.id_wait.error != ErrorCode::none) {
    return fail(entry, ErrorCode::coordinator_not_available, false);
  }
  take_producer_id(operation.decision, operation.id_wait.id);
  operation.stage = Stage::writing;
  write(entry);
}

void TransactionCoordinator::write(Entry& entry) {
  Operation& operation = *entry.operation;
  operation.append.partition = entry.partition;
  operation.append.error = ErrorCode::none;
  operation.append.outcome_unknown = false;
  encoder_.encode(entry.id, operation.is_tombstone ? nullptr : &operation.decision.next,
                  io_.clock.wall_ms(), operation.append.batch);
  ++away_;
  host_.append(operation.append);
}

void TransactionCoordinator::on_appended(Entry& entry) {
  --away_;
  Operation& operation = *entry.operation;
  const TransactionAppend& append = operation.append;
  ASSERT(operation.stage == Stage::writing || operation.stage == Stage::completing);
  if (append.error != ErrorCode::none || append.outcome_unknown) {
    ++metrics_.log_failures;
    // Every marker is written; that the end is complete must become durable some time.
    if (operation.stage == Stage::completing) return retry_later(entry);
    return fail(entry, error_of_write(append.error), append.outcome_unknown);
  }
  entry.on_log = true;
  if (operation.is_tombstone) return finish(entry);
  apply(entry);
  if (!entry.value.is_preparing()) return finish(entry);
  // Who comes to take over need not wait for the end of what it interrupted (KIP-98).
  if (operation.call && operation.call->kind == TransactionCall::Kind::init_producer_id) {
    reply(*std::exchange(operation.call, nullptr), operation.decision.error);
  }
  // A core that stops asks nothing more of others: the next start goes on from here.
  serving_ ? send_markers(entry) : retry_later(entry);
}

void TransactionCoordinator::apply(Entry& entry) {
  TransactionValue& next = entry.operation->decision.next;
  const bool was_idle = entry.value.is_idle();
  if (was_idle && next.is(TransactionState::ongoing)) {
    entry.number = ++numbers_;
    entry.open_since = io_.clock.now();
    ++metrics_.begun;
    ++metrics_.open;
  } else if (!was_idle && next.is_idle()) {
    --metrics_.open;
    ++(next.is(TransactionState::complete_commit) ? metrics_.committed : metrics_.aborted);
  }
  entry.value = std::move(next);
}

// --- markers -------------------------------------------------------------------------------------

void TransactionCoordinator::make_markers(Entry& entry) {
  Operation& operation = *entry.operation;
  for (const auto& [serial, topic] : entry.value.partitions) {
    for (const int32_t index : topic.partitions) {
      Marker& marker = operation.markers.emplace_back(*this, entry);
      partition::MarkerRequest& request = marker.request;
      request.key = {serial, model::PartitionIndex(index)};
      request.producer_id = entry.value.producer_id;
      request.producer_epoch = entry.value.epoch;
      request.marker = {.commit = entry.value.is(TransactionState::prepare_commit),
                        .coordinator_epoch = host_.coordinator_epoch()};
      request.origin = {.transaction = entry.number, .only_if_open = true};
    }
  }
}

void TransactionCoordinator::send_markers(Entry& entry) {
  Operation& operation = *entry.operation;
  if (operation.markers.empty()) make_markers(entry);
  operation.stage = Stage::marking;
  operation.marker_failed = false;
  // Where each goes is asked anew: a topic may have been deleted since.
  operation.markers_away = 1;
  ++away_;
  for (Marker& marker : operation.markers) {
    if (marker.done) continue;
    const auto route = host_.route(marker.request.key);
    if (!route) {
      marker.done = true;
      continue;
    }
    ++metrics_.markers;
    ++operation.markers_away;
    ++away_;
    marker.request.error = ErrorCode::none;
    marker.request.outcome_unknown = false;
    io_.mailboxes.send(route->core, route->port, marker.request);
  }
  --away_;
  if (--operation.markers_away == 0) after_markers(entry);
}

void TransactionCoordinator::on_marker(Marker& marker) {
  --away_;
  Operation& operation = *marker.entry.operation;
  ASSERT(operation.stage == Stage::marking && operation.markers_away > 0);
  const partition::MarkerRequest& request = marker.request;
  operation.outcome_unknown = operation.outcome_unknown || request.outcome_unknown;
  if (!request.outcome_unknown && is_settled(request.error)) {
    marker.done = true;
    if (request.error == ErrorCode::invalid_producer_epoch) {
      base::log_warning("transaction", "a newer epoch ended it already id={} partition={}-{}",
                        marker.entry.id, request.key.topic.value(), request.key.index.value());
    }
  } else {
    operation.marker_failed = true;
  }
  if (--operation.markers_away == 0) after_markers(marker.entry);
}

void TransactionCoordinator::after_markers(Entry& entry) {
  Operation& operation = *entry.operation;
  if (operation.marker_failed) return retry_later(entry);
  if (operation.call) {
    succeed(entry, *std::exchange(operation.call, nullptr), operation.decision);
  }
  if (!serving_) return retry_later(entry);
  operation.decision = {.what = Decision::Do::write,
                        .next = completed(entry.value, io_.clock.wall_ms())};
  operation.stage = Stage::completing;
  write(entry);
}

void TransactionCoordinator::retry_later(Entry& entry) {
  Operation& operation = *entry.operation;
  operation.stage = Stage::retrying;
  ++metrics_.marker_retries;
  std::deque<TransactionCall*> waiting = std::exchange(operation.parked, {});
  if (operation.call) waiting.push_front(std::exchange(operation.call, nullptr));
  for (TransactionCall* call : waiting) {
    call->outcome_unknown = operation.outcome_unknown;
    reply(*call, serving_ ? ErrorCode::concurrent_transactions : ErrorCode::not_coordinator);
  }
  if (serving_) io_.loop.timers().arm_after(operation.retry, kMarkerRetry_ns);
}

// --- the end of an operation ---------------------------------------------------------------------

void TransactionCoordinator::fail(Entry& entry, ErrorCode error, bool outcome_unknown) {
  Operation& operation = *entry.operation;
  if (operation.call) {
    operation.call->outcome_unknown = outcome_unknown;
    reply(*std::exchange(operation.call, nullptr), error);
  }
  operation.is_tombstone = false;
  finish(entry);
}

// Answers, then goes on with who waits. An id of which nothing is on the log is no id.
void TransactionCoordinator::finish(Entry& entry) {
  const std::unique_ptr<Operation> operation = std::move(entry.operation);
  if (operation->call) succeed(entry, *operation->call, operation->decision);
  std::deque<TransactionCall*> parked = std::move(operation->parked);
  if (operation->is_tombstone || !entry.on_log) {
    if (operation->is_tombstone) ++metrics_.ids_expired;
    erase(entry);
    // As if they had come now.
    for (TransactionCall* call : parked) on_call(*call);
    return;
  }
  while (!parked.empty()) {
    TransactionCall& call = *parked.front();
    parked.pop_front();
    handle(entry, call);
    if (!entry.operation) continue;
    entry.operation->parked = std::move(parked);
    return;
  }
}

void TransactionCoordinator::erase(Entry& entry) {
  entry.unlink();
  entries_.erase(entries_.find(entry.id));
  metrics_.ids = entries_.size();
}

// --- age -----------------------------------------------------------------------------------------

void TransactionCoordinator::on_sweep() {
  if (to_sweep_ == 0) to_sweep_ = entries_.size();
  const int64_t now_ms = io_.clock.wall_ms();
  const size_t count = std::min({to_sweep_, kSweepSlice, entries_.size()});
  to_sweep_ = count == 0 ? 0 : to_sweep_ - count;
  for (size_t i = 0; i < count && !order_.empty(); ++i) {
    Entry& entry = *order_.pop_front();
    order_.push_back(entry);
    sweep(entry, now_ms);
  }
  // Between slices the loop serves others.
  const int64_t pause_ns =
      to_sweep_ > 0 ? 1'000'000 : int64_t{config_.abort_interval_ms} * 1'000'000;
  io_.loop.timers().arm_after(sweep_timer_, pause_ns);
}

void TransactionCoordinator::sweep(Entry& entry, int64_t now_ms) {
  if (entry.operation) return;
  const TransactionValue& value = entry.value;
  const int64_t open_ms = (io_.clock.now() - entry.open_since) / 1'000'000;
  if (value.is(TransactionState::ongoing) && open_ms > value.timeout_ms) {
    ++metrics_.timed_out;
    base::log_info("transaction", "timed out id={} producer_id={} epoch={}", entry.id,
                   value.producer_id.value(), value.epoch.value());
    return begin(entry, nullptr, {.what = Decision::Do::write, .next = fenced(value, now_ms)});
  }
  if (!value.is_idle() || now_ms - value.update_ms <= config_.id_expiration_ms) return;
  entry.operation = std::make_unique<Operation>(*this, entry);
  entry.operation->is_tombstone = true;
  write(entry);
}

}  // namespace weir::transaction
