#include "engine/transaction/transaction_coordinator.h"

#include <algorithm>
#include <utility>

#include "engine/model/planted.h"
#include "engine/model/ports.h"
#include "engine/transaction/limits.h"
#include "io/base/logging.h"

namespace weir::transaction {

using model::ErrorCode;

TransactionCoordinator::TransactionCoordinator(io::CoreIo& io, TransactionHost& host,
                                               const TransactionConfig& config)
    : io_(io), host_(host), config_(config), scratch_(kScratchSizeMax) {
  sweep_timer_.bind<&TransactionCoordinator::on_sweep>(*this);
  io_.mailboxes.listen<&TransactionCoordinator::on_call>(model::ports::kTransaction, *this);
}

TransactionCoordinator::~TransactionCoordinator() = default;

const TransactionValue* TransactionCoordinator::find(std::string_view transactional_id) const {
  const auto found = entries_.find(transactional_id);
  return found == entries_.end() ? nullptr : &found->second->value;
}

TransactionCoordinator::Entry& TransactionCoordinator::insert(std::string_view id,
                                                              model::PartitionIndex partition) {
  auto owned = std::make_unique<Entry>();
  Entry& entry = *owned;
  entry.id = id;
  entry.partition = partition;
  entries_.emplace(entry.id, std::move(owned));
  order_.push_back(entry);
  metrics_.ids = entries_.size();
  return entry;
}

TransactionCoordinator::Entry* TransactionCoordinator::create(const TransactionCall& call) {
  if (entries_.size() >= kTransactionalIdsPerCoreMax) {
    ++metrics_.refused_for_limits;
    return nullptr;
  }
  return &insert(call.transactional_id, call.state_partition);
}

// --- replay --------------------------------------------------------------------------------------

void TransactionCoordinator::replay(model::PartitionIndex partition,
                                    std::span<const std::byte> batches) {
  ASSERT(!serving_);
  while (log::starts_with_batch(batches)) {
    const log::BatchView batch(batches);
    std::span<const std::byte> records = batch.records();
    batches = batches.subspan(batch.size());
    // Nobody but this broker's coordinator writes here, and it does not compress.
    if (batch.is_control() || batch.compression_bits() != 0) {
      records_skipped_ += static_cast<uint64_t>(batch.record_count());
      continue;
    }
    log::Record record;
    while (!records.empty() && log::read_record(records, record)) replay_record(partition, record);
  }
}

void TransactionCoordinator::replay_record(model::PartitionIndex partition,
                                           const log::Record& record) {
  auto decoded = decode_record(record, host_, scratch_);
  scratch_.reset();
  if (!decoded) {
    ++records_skipped_;
    return;
  }
  const auto found = entries_.find(decoded->transactional_id);
  if (!decoded->value) {
    if (found != entries_.end()) erase(*found->second);
    return;
  }
  Entry& entry = found != entries_.end() ? *found->second
                                         : insert(decoded->transactional_id, partition);
  entry.value = *std::move(decoded->value);
  entry.on_log = true;
}

void TransactionCoordinator::replay_done() {
  ASSERT(!serving_);
  serving_ = true;
  for (auto& [id, entry] : entries_) {
    if (entry->value.is_idle()) continue;
    entry->number = ++numbers_;
    ++metrics_.open;
    // Wall time says how long it has been open, as far as wall time can be believed.
    const int64_t age_ms = std::clamp<int64_t>(io_.clock.wall_ms() - entry->value.start_ms, 0,
                                               entry->value.timeout_ms);
    entry->open_since = io_.clock.now() + -age_ms * 1'000'000;
  }
  base::log_info("transaction", "restored core={} ids={} open={} records_skipped={}",
                 io_.index.value(), entries_.size(), metrics_.open, records_skipped_);
}

void TransactionCoordinator::start() {
  for (auto& [id, entry] : entries_) {
    if (!entry->value.is_preparing()) continue;
    if (model::planted(model::Bug::transaction_end_not_resumed)) {
      entry->value = completed(entry->value, entry->value.update_ms);
      continue;
    }
    entry->operation = std::make_unique<Operation>(*this, *entry);
    send_markers(*entry);
  }
  io_.loop.timers().arm_after(sweep_timer_, int64_t{config_.abort_interval_ms} * 1'000'000);
}

void TransactionCoordinator::stop() {
  serving_ = false;
  io_.loop.timers().cancel(sweep_timer_);
  for (auto& [id, entry] : entries_) {
    if (!entry->operation) continue;
    io_.loop.timers().cancel(entry->operation->retry);
    for (TransactionCall* call : std::exchange(entry->operation->parked, {})) {
      reply(*call, ErrorCode::not_coordinator);
    }
  }
}

// --- calls ---------------------------------------------------------------------------------------

void TransactionCoordinator::on_call(io::Message& message) {
  auto& call = static_cast<TransactionCall&>(message);
  call.outcome_unknown = false;
  if (!serving_) return reply(call, ErrorCode::not_coordinator);
  if (call.kind == TransactionCall::Kind::describe) {
    return describe(static_cast<DescribeTransactionsCall&>(call));
  }
  if (call.kind == TransactionCall::Kind::list) {
    return list(static_cast<ListTransactionsCall&>(call));
  }
  const auto found = entries_.find(call.transactional_id);
  Entry* entry = found == entries_.end() ? nullptr : found->second.get();
  if (entry == nullptr) {
    if (call.kind != TransactionCall::Kind::init_producer_id) {
      return reply(call, ErrorCode::invalid_producer_id_mapping);
    }
    const auto timeout_ms = static_cast<InitProducerIdCall&>(call).timeout_ms;
    if (timeout_ms <= 0 || timeout_ms > config_.max_timeout_ms) {
      return reply(call, ErrorCode::invalid_transaction_timeout);
    }
    entry = create(call);
    if (entry == nullptr) return reply(call, ErrorCode::coordinator_not_available);
  }
  if (!entry->operation) return handle(*entry, call);
  if (entry->operation->stage == Stage::retrying) {
    return reply(call, ErrorCode::concurrent_transactions);
  }
  entry->operation->parked.push_back(&call);
}

void TransactionCoordinator::handle(Entry& entry, TransactionCall& call) {
  switch (call.kind) {
    case TransactionCall::Kind::init_producer_id:
      return init(entry, static_cast<InitProducerIdCall&>(call));
    case TransactionCall::Kind::add_partitions:
      return add(entry, static_cast<AddPartitionsCall&>(call));
    case TransactionCall::Kind::end: return end(entry, static_cast<EndTransactionCall&>(call));
    case TransactionCall::Kind::describe:
    case TransactionCall::Kind::list: break;
  }
  UNREACHABLE("transaction call {}", static_cast<int>(call.kind));
}

void TransactionCoordinator::init(Entry& entry, InitProducerIdCall& call) {
  if (call.timeout_ms <= 0 || call.timeout_ms > config_.max_timeout_ms) {
    return reply(call, ErrorCode::invalid_transaction_timeout);
  }
  Decision decision =
      decide_init(entry.value, call.claim, call.timeout_ms, io_.clock.wall_ms());
  if (decision.what == Decision::Do::answer) return reply(call, decision.error);
  if (entry.value.is(TransactionState::ongoing)) ++metrics_.fenced;
  begin(entry, &call, std::move(decision));
}

void TransactionCoordinator::add(Entry& entry, AddPartitionsCall& call) {
  const ErrorCode error = check_claim(entry.value, call.claim);
  if (error != ErrorCode::none) return reply(call, error);
  if (call.verify_only) return verify(entry, call);
  TransactionPartitions added;
  for (const PartitionClaim& claim : call.partitions) {
    const bool open = entry.value.is(TransactionState::ongoing);
    if (open && entry.value.contains(claim.key)) continue;
    TopicPartitions& topic = added[claim.key.topic];
    topic.topic = claim.topic;
    topic.partitions.insert(claim.key.index.value());
  }
  Decision decision =
      decide_add(entry.value, added, call.client_version, io_.clock.wall_ms());
  if (decision.what == Decision::Do::answer) {
    call.transaction = entry.number;
    return reply(call, decision.error);
  }
  begin(entry, &call, std::move(decision));
}

void TransactionCoordinator::verify(const Entry& entry, AddPartitionsCall& call) {
  const bool open = entry.value.is(TransactionState::ongoing);
  for (PartitionClaim& claim : call.partitions) {
    const bool is_in = open && entry.value.contains(claim.key);
    claim.error = is_in ? ErrorCode::none : ErrorCode::transaction_abortable;
  }
  call.transaction = entry.number;
  reply(call, ErrorCode::none);
}

void TransactionCoordinator::end(Entry& entry, EndTransactionCall& call) {
  if (!call.end.bumps_epoch) {
    // With the first protocol the next transaction has the same epoch: a request that was stuck on
    // an older connection must not end it (RELIABILITY P12).
    if (call.connected_at < entry.end_connected_at) {
      return reply(call, ErrorCode::producer_fenced);
    }
    if (check_claim(entry.value, call.claim) == ErrorCode::none) {
      entry.end_connected_at = call.connected_at;
    }
  }
  Decision decision = decide_end(entry.value, call.claim, call.end, io_.clock.wall_ms());
  if (decision.what == Decision::Do::answer) {
    call.given = claim_after(entry.value);
    return reply(call, decision.error);
  }
  begin(entry, &call, std::move(decision));
}

void TransactionCoordinator::reply(TransactionCall& call, ErrorCode error) {
  call.error = error;
  io_.mailboxes.reply(call);
}

// What the call asked for is done; fills in its answer.
void TransactionCoordinator::succeed(const Entry& entry, TransactionCall& call,
                                     const Decision& decision) {
  switch (call.kind) {
    case TransactionCall::Kind::init_producer_id:
      static_cast<InitProducerIdCall&>(call).given = {entry.value.producer_id, entry.value.epoch};
      break;
    case TransactionCall::Kind::add_partitions:
      static_cast<AddPartitionsCall&>(call).transaction = entry.number;
      break;
    case TransactionCall::Kind::end:
      static_cast<EndTransactionCall&>(call).given = claim_after(entry.value);
      break;
    case TransactionCall::Kind::describe:
    case TransactionCall::Kind::list: break;
  }
  reply(call, decision.error);
}

// --- tools ---------------------------------------------------------------------------------------

void TransactionCoordinator::describe(DescribeTransactionsCall& call) {
  for (auto* item : call.items) describe_one(*item, *call.arena);
  reply(call, ErrorCode::none);
}

void TransactionCoordinator::describe_one(wire::DescribeTransactionsResponse::Transaction& out,
                                          base::Arena& arena) {
  using Topic = wire::DescribeTransactionsResponse::Topic;
  const TransactionValue* const value = find(out.transactional_id);
  if (value == nullptr) {
    out.error_code = static_cast<int16_t>(ErrorCode::transactional_id_not_found);
    return;
  }
  out.transaction_state = name(value->state);
  out.transaction_timeout_ms = value->timeout_ms;
  out.transaction_start_time_ms = value->start_ms;
  out.producer_id = value->producer_id.value();
  out.producer_epoch = value->epoch.value();
  out.topics = wire::make_array<Topic>(arena, value->partitions.size());
  for (size_t i = 0; const auto& [serial, from] : value->partitions) {
    if (out.topics.is_null()) break;
    Topic& topic = out.topics[i++];
    char* const text = arena.make_array<char>(from.topic.size());
    topic.partitions = wire::make_array<int32_t>(arena, from.partitions.size());
    if (text == nullptr || topic.partitions.is_null()) {
      out.topics = {};
      break;
    }
    std::ranges::copy(from.topic, text);
    topic.topic = {text, from.topic.size()};
    std::ranges::copy(from.partitions, topic.partitions.begin());
  }
  if (!out.topics.is_null() && out.topics.size() == value->partitions.size()) return;
  out.topics = {};
  out.error_code = static_cast<int16_t>(ErrorCode::coordinator_not_available);
}

void TransactionCoordinator::list(ListTransactionsCall& call) {
  using Item = wire::ListTransactionsResponse::Transaction;
  const int64_t now_ms = io_.clock.wall_ms();
  const auto matches = [&](const TransactionValue& value) {
    if (value.epoch.value() < 0) return false;  // being made
    if ((call.states >> static_cast<int>(value.state) & 1) == 0) return false;
    const auto& ids = call.producer_ids;
    if (!ids.empty() && std::ranges::find(ids, value.producer_id.value()) == ids.end()) {
      return false;
    }
    return call.duration_ms < 0 || now_ms - value.start_ms > call.duration_ms;
  };
  size_t count = 0;
  for (const auto& [id, entry] : entries_) count += matches(entry->value) ? 1 : 0;
  call.found = wire::make_array<Item>(*call.arena, count);
  if (call.found.is_null()) return reply(call, ErrorCode::coordinator_not_available);
  size_t next = 0;
  for (const auto& [id, entry] : entries_) {
    if (!matches(entry->value)) continue;
    char* const text = call.arena->make_array<char>(id.size());
    if (text == nullptr) return reply(call, ErrorCode::coordinator_not_available);
    std::ranges::copy(id, text);
    call.found[next++] = {.transactional_id = {text, id.size()},
                          .producer_id = entry->value.producer_id.value(),
                          .transaction_state = name(entry->value.state)};
  }
  reply(call, ErrorCode::none);
}

}  // namespace weir::transaction
