#include "tests/sim/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace weir::simtest {
namespace {

constexpr std::string_view kNames[] = {
    "append",           "append-idempotent", "retry",          "roll",
    "commit-offset",    "begin-transaction", "commit-transaction", "abort-transaction",
    "delete-records",   "create-topic",      "delete-topic",   "snapshot",
    "clean-stop"};
static_assert(std::size(kNames) == static_cast<size_t>(kLastOperation) + 1);

constexpr std::string_view kOperatedTopic = "t";
constexpr std::string_view kOldTopic = "old";
constexpr std::string_view kTransactional = "x";
constexpr int32_t kTransactionalPartitions = 2;
constexpr std::string_view kOperatedGroup = "g";
constexpr size_t kSmall = 700;    // more than a sector
constexpr size_t kLarge = 15'000;  // of a segment of 16 KiB
constexpr int64_t kRestNs = 200'000'000;
constexpr int64_t kRetryNs = 5'000'000;
constexpr uint32_t kRetriesMax = 200;

bool goes_away(int error) {
  constexpr int kPassing[] = {codes::kLeaderNotAvailable,      codes::kNotLeader,
                              codes::kCoordinatorLoading,      codes::kNotCoordinator,
                              codes::kCoordinatorNotAvailable, codes::kConcurrentTransactions,
                              codes::kUnknownTopicOrPartition};
  return std::ranges::find(kPassing, error) != std::end(kPassing);
}

int worst(const std::map<TopicPartition, int>& errors) {
  for (const auto& [where, error] : errors) {
    if (error != codes::kNone) return error;
  }
  return errors.empty() ? -1 : codes::kNone;
}

// DeleteTopics v1.
ByteString delete_topic_request(const std::string& name) {
  Writer writer;
  writer.i32(1).text(name).i32(5'000);
  return writer.take();
}

int read_delete_topic(Reader& body) {
  body.i32();  // throttle time
  if (body.count() != 1) return -1;
  body.text();
  return body.i16();
}

uint64_t fold(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 32);
}

}  // namespace

std::string_view to_string(Operation operation) { return kNames[static_cast<size_t>(operation)]; }

std::optional<Operation> operation_of(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Operation>(found - std::begin(kNames));
}

uint64_t Told::hash(const Model& model) const {
  uint64_t hash = 1;
  const auto add = [&](int64_t value) { hash = fold(hash, static_cast<uint64_t>(value)); };
  for (const auto& batch : model.batches()) {
    add(batch->acked_offset);
    add(batch->possible() ? 1 : 0);
  }
  for (const auto& [where, partition] : model.partitions()) {
    add(partition.durable_floor);
    add(partition.log_start_floor);
    add(partition.cut_bound);
  }
  for (const auto& [group, offset] : model.groups()) {
    add(offset.settled);
    for (const auto& [value, incarnation] : offset.unknown) add(value);
  }
  for (const Transaction& transaction : transactions) {
    add(static_cast<int64_t>(transaction.fate));
    add(static_cast<int64_t>(transaction.batches_acked));
  }
  for (const auto& [topic, fate] : topics) add(static_cast<int64_t>(fate));
  return fold(hash, model.topics().size());
}

Operator::Operator(Context& context, Told& told, std::string name)
    : Actor(context, std::move(name)), told_(told) {}

// --- requests, one after another -----------------------------------------------------------------

void Operator::call(std::string what, Api api, int version, std::function<ByteString()> body,
                    std::function<int(Reader&)> read) {
  calls_.push_back({std::move(what), api, version, std::move(body), std::move(read)});
}

void Operator::act() {
  if (outstanding() > 0 || calls_.empty()) return;
  Call& next = calls_.front();
  if (next.wait_ns > 0) {
    const int64_t wait_ns = std::exchange(next.wait_ns, 0);
    return wake_after(wait_ns);
  }
  if (!next.read) {  // the wait is over
    calls_.pop_front();
    return wake_after(0);
  }
  trace(context_, fmt::format("{}: {}", name(), next.what));
  send(next.api, next.version, next.body());
}

void Operator::on_response(int32_t, Api, Reader& body) {
  const Call call = calls_.front();
  const int error = call.read(body);
  trace(context_, fmt::format("{}: {}: error {}", name(), call.what, error));
  if (goes_away(error) && ++retries_ < kRetriesMax) return wake_after(kRetryNs);
  if (error != codes::kNone) return fail(fmt::format("{}: error {}", call.what, error));
  retries_ = 0;
  calls_.pop_front();
  wake_after(0);
}

// --- operations ----------------------------------------------------------------------------------

bool Operator::applies(Operation operation) const {
  const bool open = !told_.transactions.empty() && told_.transactions.back().open;
  if (operation == Operation::begin_transaction) return !open;
  if (operation == Operation::commit_transaction || operation == Operation::abort_transaction) {
    return open;
  }
  if (operation == Operation::delete_topic) return !told_.newest_topic.empty();
  return true;
}

void Operator::begin(Operation operation) {
  switch (operation) {
    case Operation::append: produce(make_batch(std::string(kOperatedTopic), kSmall, false)); break;
    case Operation::append_idempotent:
      produce(make_batch(std::string(kOperatedTopic), kSmall, true));
      break;
    case Operation::retry: produce(*told_.idempotent.back()); break;
    case Operation::roll: produce(make_batch(std::string(kOperatedTopic), kLarge, false)); break;
    case Operation::commit_offset: commit_offset(); break;
    case Operation::begin_transaction: begin_transaction(); break;
    case Operation::commit_transaction: end_transaction(true); break;
    case Operation::abort_transaction: end_transaction(false); break;
    case Operation::delete_records: delete_records(); break;
    case Operation::create_topic:
      create(fmt::format("new-{}", told_.topics.size()), 1, false);
      break;
    case Operation::delete_topic: remove(told_.newest_topic); break;
    case Operation::snapshot:
      calls_.push_back({"rest", Api::metadata, 0, nullptr, nullptr, kRestNs});
      break;
    case Operation::clean_stop: ASSERT(false); break;
  }
  start();
}

void Operator::set_up() {
  create(std::string(kOperatedTopic), 1, true);
  create(std::string(kTransactional), kTransactionalPartitions, false);
  create(std::string(kOldTopic), 1, false);
  init_producer(told_.producer, "");
  call("find the coordinator", Api::find_coordinator, 0,
       [] { return find_coordinator_request(std::string(kOperatedGroup)); },
       [](Reader& body) {
         const int error = read_find_coordinator(body);
         body.i32();
         body.text();
         body.i32();
         return error;
       });
  commit_offset();
  init_producer(told_.transactor, std::string(kTransactional));
  produce(make_batch(std::string(kOperatedTopic), kSmall, false));
  produce(make_batch(std::string(kOldTopic), kSmall, false));
  start();
}

Batch& Operator::make_batch(const std::string& topic, size_t value_size, bool idempotent) {
  std::vector<Record> records(1);
  records[0].timestamp = context_.world.clock().wall_ms();
  const auto number = static_cast<char>('a' + context_.model.batches().size() % 26);
  records[0].value.assign(value_size, number);
  ProducerStamp stamp;
  if (idempotent) {
    stamp = told_.producer;
    stamp.base_sequence = told_.next_sequence++;
  }
  Batch& batch = context_.model.add_batch({topic, 0}, stamp, std::move(records));
  if (idempotent) told_.idempotent.push_back(&batch);
  return batch;
}

// I13: where it was seen, or acknowledged before, is where it is.
void Operator::produce(Batch& batch) {
  call("produce " + describe(batch), Api::produce, 7,
       [this, &batch] {
         context_.model.sent(batch, context_.world.now_ns());
         const ProducePart part{batch.where, batch.bytes};
         return produce_request(7, -1, 30'000, std::span(&part, 1));
       },
       [this, &batch](Reader& body) {
         const auto results = read_produce(7, body);
         const auto result = results.find(batch.where);
         if (result == results.end()) return -1;
         if (result->second.error != codes::kNone) {
           context_.model.refused(batch);
           return result->second.error;
         }
         const int64_t offset = result->second.base_offset;
         context_.model.acked(batch, offset);
         for (const auto& [at, id] : context_.model.partitions().at(batch.where).observed) {
           if (id == batch.id && at != offset) {
             fail(fmt::format("I13: {} was read at offset {} before", describe(batch), at));
           }
         }
         return codes::kNone;
       });
}

void Operator::create(const std::string& topic, int32_t partitions, bool modelled) {
  call("create topic " + topic, Api::create_topics, 2,
       [this, topic, partitions] {
         told_.topics[topic] = Told::Fate::unknown;
         return create_topic_request(topic, partitions, {});
       },
       [this, topic, partitions, modelled](Reader& body) {
         std::string message;
         const int error = read_create_topic(body, message);
         if (error != codes::kNone) return error;
         told_.topics[topic] = Told::Fate::done;
         if (modelled) context_.model.topic_acked(topic, partitions);
         if (!modelled && topic != kTransactional) told_.newest_topic = topic;
         return error;
       });
}

void Operator::remove(const std::string& topic) {
  call("delete topic " + topic, Api::delete_topics, 1,
       [this, topic] {
         told_.topics[topic] = Told::Fate::unknown;
         told_.newest_topic.clear();
         return delete_topic_request(topic);
       },
       [this, topic](Reader& body) {
         const int error = read_delete_topic(body);
         if (error == codes::kNone) told_.topics[topic] = Told::Fate::aborted;
         return error;
       });
}

void Operator::init_producer(ProducerStamp& stamp, const std::string& transactional_id) {
  call("producer id", Api::init_producer_id, 1,
       [transactional_id] { return init_producer_id_request(transactional_id); },
       [this, &stamp](Reader& body) {
         ProducerStamp given;
         const int error = read_init_producer_id(body, given.producer_id, given.epoch);
         if (error != codes::kNone) return error;
         if (given.producer_id == stamp.producer_id && given.epoch <= stamp.epoch) {
           fail(fmt::format("I12: producer {} epoch {} was given before", given.producer_id,
                            given.epoch));
         }
         stamp = given;
         return error;
       });
}

void Operator::commit_offset() {
  const TopicPartition where{std::string(kOperatedTopic), 0};
  const int64_t value = ++told_.committed;
  call(fmt::format("commit offset {}", value), Api::offset_commit, 2,
       [this, where, value] {
         context_.model.commit_sent(std::string(kOperatedGroup), where, value);
         const CommitPart part{where, value, fmt::format("note {}", value)};
         return offset_commit_request(std::string(kOperatedGroup), std::span(&part, 1));
       },
       [this, where, value](Reader& body) {
         const int error = worst(read_offset_commit(body));
         if (error == codes::kNone) {
           context_.model.commit_acked(std::string(kOperatedGroup), where, value);
         }
         return error;
       });
}

void Operator::begin_transaction() {
  constexpr int32_t kBoth[] = {0, 1};
  const std::string topic(kTransactional);
  call("add partitions", Api::add_partitions_to_txn, 2,
       [this, topic, kBoth] {
         return add_partitions_request(topic, told_.transactor, topic, kBoth);
       },
       [this](Reader& body) {
         body.i32();
         const int error = worst(read_partition_errors(body));
         if (error == codes::kNone) told_.transactions.emplace_back();
         return error;
       });
  for (const int32_t partition : kBoth) {
    const TopicPartition where{topic, partition};
    call("produce in the transaction to " + to_string(where), Api::produce, 7,
         [this, topic, where] {
           std::vector<Record> records(1);
           records[0].timestamp = context_.world.clock().wall_ms();
           records[0].key = fmt::format("{}", told_.transactions.size());
           records[0].value.assign(kSmall, 'x');
           ProducerStamp stamp = told_.transactor;
           stamp.base_sequence = static_cast<int32_t>(told_.transactions.size()) - 1;
           const ByteString batch = encode_transactional_batch(stamp, records);
           const ProducePart part{where, batch};
           return produce_request(7, -1, 30'000, std::span(&part, 1), topic);
         },
         [this, where](Reader& body) {
           const auto results = read_produce(7, body);
           const auto result = results.find(where);
           if (result == results.end()) return -1;
           if (result->second.error == codes::kNone) ++told_.transactions.back().batches_acked;
           return result->second.error;
         });
  }
  read_transactions(false);
}

void Operator::end_transaction(bool commit) {
  call(commit ? "commit" : "abort", Api::end_txn, 2,
       [this, commit] {
         Told::Transaction& transaction = told_.transactions.back();
         transaction.open = false;
         if (commit) transaction.fate = Told::Fate::unknown;
         return end_txn_request(std::string(kTransactional), told_.transactor, commit);
       },
       [this, commit](Reader& body) {
         body.i32();
         const int error = body.i16();
         if (commit && error == codes::kNone) told_.transactions.back().fate = Told::Fate::done;
         return error;
       });
}

void Operator::delete_records() {
  const TopicPartition where{std::string(kOperatedTopic), 0};
  const Floors floors = context_.model.floors(where);
  const int64_t offset = std::max(floors.durable - 1, floors.log_start);
  call(fmt::format("delete records below {}", offset), Api::delete_records, 1,
       [this, where, offset] {
         context_.model.cut_sent(where, offset);
         return delete_records_request(where, offset);
       },
       [this, where, floors](Reader& body) {
         const DeletedResult result = read_delete_records(where, body);
         if (result.error == codes::kNone) {
           context_.model.saw_log_start(where, floors, result.low_watermark);
         }
         return result.error;
       });
}

// --- after a restart -----------------------------------------------------------------------------

void Operator::verify() {
  check_topics();
  for (Batch* batch : told_.idempotent) produce(*batch);
  if (told_.topics.contains(std::string(kTransactional)) && told_.transactor.producer_id >= 0) {
    init_producer(told_.transactor, std::string(kTransactional));
    read_transactions(true);
  }
  if (context_.model.topics().contains(std::string(kOperatedTopic))) {
    produce(make_batch(std::string(kOperatedTopic), kSmall, false));
  }
  start();
}

void Operator::check_topics() {
  std::vector<std::string> names;
  for (const auto& [topic, fate] : told_.topics) names.push_back(topic);
  if (names.empty()) return;
  call("metadata", Api::metadata, 4, [names] { return metadata_request(names, false); },
       [this](Reader& body) {
         const auto topics = read_metadata(body);
         for (auto& [topic, fate] : told_.topics) {
           const auto found = topics.find(topic);
           if (found == topics.end()) return -1;
           const int error = found->second.error;
           if (error != codes::kNone && error != codes::kUnknownTopicOrPartition) return error;
           const bool there = error == codes::kNone;
           if (fate != Told::Fate::unknown && there != (fate == Told::Fate::done)) {
             fail(fmt::format("I15: topic {} is {}", topic, there ? "there" : "gone"));
           }
           fate = there ? Told::Fate::done : Told::Fate::aborted;
         }
         return codes::kNone;
       });
}

void Operator::read_transactions(bool settled) {
  call("read committed", Api::fetch, 11,
       [] {
         FetchOptions options;
         options.wait_ms_max = 0;
         options.read_committed = true;
         std::vector<FetchPart> parts;
         for (int32_t i = 0; i < kTransactionalPartitions; ++i) {
           parts.push_back({{std::string(kTransactional), i}, 0});
         }
         return fetch_request(options, parts);
       },
       [this, settled](Reader& body) {
         std::map<uint64_t, size_t> seen;
         const auto results = read_fetch(body);
         if (results.size() != static_cast<size_t>(kTransactionalPartitions)) return -1;
         for (const auto& [where, result] : results) {
           if (result.error != codes::kNone) return result.error;
           if (settled && result.last_stable_offset != result.high_watermark) {
             fail(fmt::format("I9: {} is stable up to {} of {}", to_string(where),
                              result.last_stable_offset, result.high_watermark));
           }
           take(result, seen);
         }
         check_transactions(seen, settled);
         return codes::kNone;
       });
}

// As Kafka's consumer filters what was aborted.
void Operator::take(const FetchResult& result, std::map<uint64_t, size_t>& seen) {
  std::map<int64_t, int64_t> aborting;
  ByteSpan rest = result.records;
  auto aborted = result.aborted.begin();
  while (const auto batch = take_batch(rest)) {
    for (; aborted != result.aborted.end() && aborted->second < batch->next_offset(); ++aborted) {
      aborting[aborted->first] = aborted->second;
    }
    if (batch->is_control()) {
      aborting.erase(batch->stamp.producer_id);
      continue;
    }
    if (aborting.contains(batch->stamp.producer_id)) continue;
    uint64_t number = 0;
    const std::string& key = batch->first_key;
    std::from_chars(key.data(), key.data() + key.size(), number);
    if (number == 0 || number > told_.transactions.size()) {
      fail(fmt::format("I9: offset {} is of no transaction", batch->base_offset));
    }
    ++seen[number];
  }
}

void Operator::check_transactions(const std::map<uint64_t, size_t>& seen, bool settled) {
  for (size_t i = 0; i < told_.transactions.size(); ++i) {
    Told::Transaction& transaction = told_.transactions[i];
    const auto found = seen.find(i + 1);
    const size_t count = found == seen.end() ? 0 : found->second;
    if (count != 0 && count != transaction.batches_acked) {
      fail(fmt::format("I9: {} of {} batches of transaction {} are seen", count,
                       transaction.batches_acked, i + 1));
    }
    if (transaction.fate != Told::Fate::unknown &&
        (count > 0) != (transaction.fate == Told::Fate::done)) {
      fail(fmt::format("I9: transaction {}, {}committed, is {}", i + 1, count > 0 ? "not " : "",
                       count > 0 ? "seen" : "not seen"));
    }
    if (!settled) continue;
    transaction.fate = count > 0 ? Told::Fate::done : Told::Fate::aborted;
    transaction.open = false;
  }
}

}  // namespace weir::simtest
