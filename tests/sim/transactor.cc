#include "tests/sim/transactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weir::simtest {
namespace {

// The transaction was taken away: it ran into its timeout, or the wall clock jumped over it.
bool is_fenced(int error) {
  return error == codes::kInvalidProducerEpoch || error == codes::kProducerFenced ||
         error == codes::kInvalidTxnState || error == codes::kInvalidProducerIdMapping;
}

bool is_abort_marker(const BatchView& batch) {
  return batch.first_key.size() == 4 && batch.first_key[3] == 0;
}

}  // namespace

Transactor::Transactor(Context& context, std::string name)
    : Actor(context, std::move(name)),
      topic_(this->name()),
      group_(this->name() + "-group"),
      partitions_(static_cast<int32_t>(random_.between(1, 3))),
      left_(static_cast<uint32_t>(
          random_.between(2, context.scenario.mode == Mode::lite ? 12 : 40))) {}

void Transactor::again(Step step) {
  step_ = step;
  wake_after(static_cast<int64_t>(random_.between(100'000, 20'000'000)));
}

// Codes that say "not now", or "start anew"; anything else is a finding.
bool Transactor::passes(int error, const char* what) {
  if (error == codes::kNone) return true;
  constexpr int kPassing[] = {codes::kUnknownTopicOrPartition, codes::kLeaderNotAvailable,
                              codes::kNotLeader,               codes::kRequestTimedOut,
                              codes::kCoordinatorLoading,      codes::kCoordinatorNotAvailable,
                              codes::kNotCoordinator,          codes::kStorageError,
                              codes::kConcurrentTransactions,  codes::kNotEnoughReplicas};
  if (std::ranges::find(kPassing, error) == std::end(kPassing) && !is_fenced(error)) {
    fail(fmt::format("T2: {}: error {}", what, error));
  }
  return false;
}

void Transactor::act() {
  if (outstanding() > 0) return;
  const auto id = name();
  switch (step_) {
    case Step::create_topic: {
      // The first record of each batch has a key of its own, the others share one.
      std::map<std::string, std::string> configs;
      if (context_.scenario.transactors_compact) configs["cleanup.policy"] = "compact";
      send(Api::create_topics, 2, create_topic_request(topic_, partitions_, configs));
      return;
    }
    case Step::take_over:
      send(Api::init_producer_id, 1, init_producer_id_request(id));
      return;
    case Step::read_back:
    case Step::peek: {
      auto& from = step_ == Step::peek ? stable_floor_ : positions_;
      std::vector<FetchPart> parts;
      for (int32_t i = 0; i < partitions_; ++i) parts.push_back({where(i), from[i]});
      FetchOptions options;
      options.wait_ms_max = 20;
      options.read_committed = true;
      if (random_.chance(0.3)) options.size_max = static_cast<int32_t>(random_.between(1, 9'000));
      send(Api::fetch, 11, fetch_request(options, parts));
      return;
    }
    case Step::read_offset: {
      const TopicPartition first = where(0);
      send(Api::offset_fetch, 1, offset_fetch_request(group_, std::span(&first, 1)));
      return;
    }
    case Step::add_partitions:
      send(Api::add_partitions_to_txn, 2, add_partitions_request(id, stamp_, topic_, chosen_));
      return;
    case Step::produce: return next_batch();
    case Step::add_offsets:
      send(Api::add_offsets_to_txn, 2, add_offsets_request(id, stamp_, group_));
      return;
    case Step::commit_offset: {
      const CommitPart part{where(0), static_cast<int64_t>(transactions_.size()), "t"};
      send(Api::txn_offset_commit, 2, txn_offset_commit_request(id, group_, stamp_, part));
      return;
    }
    case Step::end: return send_end();
    case Step::finished: return;
  }
}

void Transactor::on_lost() {
  // Large batches through connections that break might never be read back in one go: nothing is
  // open, so it may go on where it was.
  const bool reading = step_ == Step::read_back || step_ == Step::read_offset;
  if (reading && ++interruptions_ > kInterruptionsMax) return;
  // Whatever was open is not ended by us any more; the next take-over decides.
  if (step_ != Step::create_topic && step_ != Step::finished) step_ = Step::take_over;
}

void Transactor::on_response(int32_t, Api, Reader& body) {
  switch (step_) {
    case Step::create_topic: return on_create(body);
    case Step::take_over: return on_take_over(body);
    case Step::read_back: return on_read(body);
    case Step::read_offset: return on_offset(body);
    case Step::add_partitions:
    case Step::commit_offset: return on_added(body);
    case Step::produce: return on_produced(body);
    case Step::peek: return on_peek(body);
    case Step::add_offsets: {
      body.i32();
      if (!passes(body.i16(), "AddOffsetsToTxn")) return again(Step::take_over);
      return again(Step::commit_offset);
    }
    case Step::end: {
      body.i32();
      return on_ended(body.i16());
    }
    case Step::finished: return;
  }
}

void Transactor::on_create(Reader& body) {
  std::string message;
  const int error = read_create_topic(body, message);
  const bool there = error == codes::kNone || error == codes::kTopicAlreadyExists;
  again(there ? Step::take_over : Step::create_topic);
}

void Transactor::on_take_over(Reader& body) {
  ProducerStamp stamp;
  const int error = read_init_producer_id(body, stamp.producer_id, stamp.epoch);
  if (!passes(error, "InitProducerId")) return again(Step::take_over);
  const bool newer = stamp.producer_id != stamp_.producer_id || stamp.epoch > stamp_.epoch;
  if (!newer) {
    return fail(fmt::format("T2: producer {} epoch {} was given twice", stamp.producer_id,
                            stamp.epoch));
  }
  stamp_ = stamp;
  sequences_.clear();
  trace(context_, fmt::format("{} is producer {} epoch {}", name(), stamp.producer_id,
                              stamp.epoch));
  start_reading();
}

void Transactor::begin() {
  if (left_ == 0) {
    step_ = Step::finished;
    return;
  }
  --left_;
  transactions_.emplace_back();
  commit_ = random_.chance(0.6);
  chosen_.clear();
  for (int32_t i = 0; i < partitions_; ++i) {
    if (random_.chance(0.6)) chosen_.push_back(i);
  }
  if (chosen_.empty()) chosen_.push_back(0);
  batches_left_ = static_cast<uint32_t>(random_.between(1, 5));
  end_begun_ = false;
  trace(context_, fmt::format("{} begins transaction {}", name(), transactions_.size()));
  again(Step::add_partitions);
}

void Transactor::on_added(Reader& body) {
  int worst = codes::kNone;
  body.i32();
  for (const auto& [part, error] : read_partition_errors(body)) worst = error;
  if (!passes(worst, step_ == Step::commit_offset ? "TxnOffsetCommit" : "AddPartitionsToTxn")) {
    return again(Step::take_over);
  }
  again(step_ == Step::commit_offset ? Step::end : Step::produce);
}

void Transactor::next_batch() {
  at_partition_ = chosen_[random_.below(chosen_.size())];
  std::vector<Record> records(random_.between(1, 3));
  for (Record& record : records) {
    record.timestamp = context_.world.clock().wall_ms();
    record.value.resize(random_.between(0, context_.scenario.value_size_max));
  }
  // Batch and transaction, so that a reader can tell both.
  records.front().key = fmt::format("{} {}", next_batch_id_, transactions_.size());
  ProducerStamp stamp = stamp_;
  stamp.base_sequence = sequences_[at_partition_];
  const ByteString batch = encode_transactional_batch(stamp, records);
  sequences_[at_partition_] += static_cast<int32_t>(records.size());
  const ProducePart part{where(at_partition_), batch};
  send(Api::produce, context_.scenario.produce_version,
       produce_request(context_.scenario.produce_version, -1, 30'000, std::span(&part, 1), name()));
}

void Transactor::on_produced(Reader& body) {
  const auto results = read_produce(context_.scenario.produce_version, body);
  const auto result = results.find(where(at_partition_));
  if (result == results.end()) return fail("a partition is missing in a produce response");
  if (!passes(result->second.error, "Produce")) return again(Step::take_over);
  transactions_.back().batches.emplace(at_partition_, next_batch_id_++);
  --batches_left_;
  if (random_.chance(0.2)) return again(Step::peek);
  again(batches_left_ > 0 ? Step::produce : Step::add_offsets);
}

// What is open lies at or behind the last stable offset.
void Transactor::on_peek(Reader& body) {
  for (const auto& [place, result] : read_fetch(body)) {
    ByteSpan rest = result.records;
    while (const auto batch = take_batch(rest)) {
      const bool mine = batch->stamp.epoch == stamp_.epoch && !batch->is_control();
      const std::string number = fmt::format(" {}", transactions_.size());
      if (mine && batch->first_key.ends_with(number)) {
        return fail(fmt::format("T1: offset {} of an open transaction is seen",
                                batch->base_offset));
      }
    }
  }
  again(batches_left_ > 0 ? Step::produce : Step::add_offsets);
}

void Transactor::send_end() {
  if (commit_) transactions_.back().fate = Fate::unknown;
  send(Api::end_txn, 2, end_txn_request(name(), stamp_, commit_));
}

void Transactor::on_ended(int error) {
  trace(context_, fmt::format("{} told error {} for the {} of {}", name(), error,
                              commit_ ? "commit" : "abort", transactions_.size()));
  if (error == codes::kConcurrentTransactions) {
    end_begun_ = true;  // it may be past the point of no return
    return again(Step::end);
  }
  if (commit_ && is_fenced(error) && !end_begun_) transactions_.back().fate = Fate::aborted;
  if (!passes(error, "EndTxn")) return again(Step::take_over);
  transactions_.back().fate = commit_ ? Fate::committed : Fate::aborted;
  // Most go on at once, as producers do; some look first.
  if (left_ > 0 && random_.chance(0.7)) return begin();
  start_reading();
}

// --- reading back --------------------------------------------------------------------------------

void Transactor::start_reading() {
  for (int32_t i = 0; i < partitions_; ++i) positions_[i] = 0;
  seen_.clear();
  at_end_.clear();
  aborting_.clear();
  begun_.clear();
  again(Step::read_back);
}

void Transactor::on_read(Reader& body) {
  for (const auto& [place, result] : read_fetch(body)) {
    if (result.error != codes::kNone) {
      if (!passes(result.error, "Fetch")) return again(Step::read_back);
      continue;
    }
    take(place.partition, result);
  }
  if (at_end_.size() < static_cast<size_t>(partitions_)) return again(Step::read_back);
  again(Step::read_offset);
}

bool Transactor::ends_one(int32_t partition, const BatchView& marker) {
  const bool ends = begun_.erase({partition, marker.stamp.producer_id}) > 0;
  // Compaction may have taken the batches that it ended.
  if (ends || context_.scenario.transactors_compact) return true;
  fail(fmt::format("T5: the marker at offset {} of partition {} ends nothing", marker.base_offset,
                   partition));
  return false;
}

void Transactor::take(int32_t partition, const FetchResult& result) {
  int64_t& floor = stable_floor_[partition];
  if (result.last_stable_offset < floor) {
    return fail(fmt::format("T3: last stable offset {} of partition {}, it was {}",
                            result.last_stable_offset, partition, floor));
  }
  floor = result.last_stable_offset;
  // Nobody else writes here.
  if (result.last_stable_offset != result.high_watermark) {
    return fail(fmt::format("T4: partition {} is stable up to {} of {}", partition,
                            result.last_stable_offset, result.high_watermark));
  }
  int64_t& position = positions_[partition];
  auto& aborting = aborting_[partition];
  std::map<int64_t, int64_t> first_offsets;
  auto next_aborted = result.aborted.begin();
  ByteSpan rest = result.records;
  while (const auto batch = take_batch(rest)) {
    if (batch->base_offset >= result.last_stable_offset) {
      return fail(fmt::format("T4: offset {} read, stable is {}", batch->base_offset,
                              result.last_stable_offset));
    }
    if (!batch->checksum_matches()) {
      return fail(fmt::format("T1: bad checksum at offset {}", batch->base_offset));
    }
    // As Kafka's consumer does it.
    for (; next_aborted != result.aborted.end() &&
           next_aborted->second <= batch->base_offset + batch->last_offset_delta;
         ++next_aborted) {
      aborting[next_aborted->first] = next_aborted->second;
    }
    if (batch->next_offset() <= position) {
      if (batch->is_control() && is_abort_marker(*batch)) aborting.erase(batch->stamp.producer_id);
      continue;
    }
    position = batch->next_offset();
    if (!batch->is_control()) begun_.emplace(partition, batch->stamp.producer_id);
    if (batch->is_control()) {
      if (!ends_one(partition, *batch)) return;
      if (is_abort_marker(*batch)) aborting.erase(batch->stamp.producer_id);
      continue;
    }
    if (aborting.contains(batch->stamp.producer_id)) continue;
    if (batch->record_count == 0) continue;  // compaction left what it says of its producer
    uint64_t id = 0;
    std::from_chars(batch->first_key.data(), batch->first_key.data() + batch->first_key.size(),
                    id);
    if (!seen_.emplace(partition, id).second) {
      return fail(fmt::format("T1: batch {} is seen twice", id));
    }
  }
  if (position >= result.last_stable_offset) at_end_.insert(partition);
}

void Transactor::on_offset(Reader& body) {
  int64_t offset = -1;
  for (const auto& [place, result] : read_offset_fetch(body)) {
    if (!passes(result.error, "OffsetFetch")) return again(Step::read_offset);
    offset = result.offset;
  }
  int64_t expected = -1;
  for (size_t i = 0; i < transactions_.size(); ++i) {
    Transaction& transaction = transactions_[i];
    const auto is_seen = [&](const auto& batch) { return seen_.contains(batch); };
    const auto count = static_cast<size_t>(std::ranges::count_if(transaction.batches, is_seen));
    if (count != 0 && count != transaction.batches.size()) {
      return fail(fmt::format("T1: {} of {} batches of transaction {} are seen", count,
                              transaction.batches.size(), i + 1));
    }
    const bool seen = count > 0;
    if (transaction.fate != Fate::unknown && seen != (transaction.fate == Fate::committed)) {
      return fail(fmt::format("T2: transaction {} was {} and is {}", i + 1,
                              seen ? "aborted" : "committed", seen ? "seen" : "not seen"));
    }
    transaction.fate = seen ? Fate::committed : Fate::aborted;
    if (seen) expected = static_cast<int64_t>(i + 1);
  }
  if (offset != expected) {
    return fail(fmt::format("T1: the group is at {}, the last transaction seen is {}", offset,
                            expected));
  }
  if (!std::ranges::includes(seen_, seen_before_)) return fail("T3: what was seen is gone");
  seen_before_ = seen_;
  begin();
}

}  // namespace weir::simtest
