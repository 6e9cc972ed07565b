#include "tests/sim/keyed_clients.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {
namespace {

bool is_passing_for_keyed(int error) {
  return error == codes::kUnknownTopicOrPartition || error == codes::kLeaderNotAvailable ||
         error == codes::kNotLeader || error == codes::kStorageError ||
         error == codes::kRequestTimedOut;
}

}  // namespace

KeyedWriter::KeyedWriter(Context& context, std::string name)
    : Actor(context, std::move(name)), topic_(this->name()) {
  const uint32_t keys[] = {2, 8, 40};
  keys_ = keys[random_.below(3)];
  left_ = 2 * context.scenario.batches_per_producer;
  rules_.delete_retention_ms = context.scenario.delete_retention_ms;
  const int64_t ages[] = {0, 100, 2'000};
  if (random_.chance(0.3)) rules_.retention_ms = ages[random_.below(3)];
  const uint64_t partitions = random_.between(1, 2);
  for (uint64_t i = 0; i < partitions; ++i) lanes_[static_cast<int32_t>(i)];
}

bool KeyedWriter::any_pending() const {
  return std::ranges::any_of(lanes_, [](const auto& l) { return !l.second.pending.empty(); });
}

bool KeyedWriter::done() const { return left_ == 0 && !any_pending() && outstanding() == 0; }

void KeyedWriter::create_topic() {
  std::map<std::string, std::string> configs;
  const bool deletes = rules_.retention_ms >= 0;
  configs["cleanup.policy"] = deletes ? "compact,delete" : "compact";
  if (deletes) configs["retention.ms"] = fmt::format("{}", rules_.retention_ms);
  if (random_.chance(0.8)) configs["segment.ms"] = fmt::format("{}", random_.between(1, 100));
  send(Api::create_topics, 2,
       create_topic_request(topic_, static_cast<int32_t>(lanes_.size()), configs));
}

void KeyedWriter::act() {
  if (outstanding() > 0) return;
  if (!created_) return create_topic();
  // Another producer takes over now and then, and nothing may be left of the one before it.
  if (stamp_.producer_id < 0 || (!any_pending() && random_.chance(0.03))) {
    send(Api::init_producer_id, 1, init_producer_id_request());
    return;
  }
  send_batches();
}

void KeyedWriter::make_batch(int32_t partition, Lane& lane) {
  --left_;
  const int64_t wall_ms = context_.world.clock().wall_ms();
  std::vector<Record> records(random_.between(1, std::min(8u, context_.scenario.records_max)));
  for (Record& record : records) {
    record.timestamp = wall_ms - static_cast<int64_t>(random_.below(1000));
    record.key = fmt::format("{}", random_.below(keys_));
    record.tombstone = random_.chance(0.2);
    if (!record.tombstone) {
      record.value = fmt::format("{} ", next_value_++);
      record.value.resize(random_.between(0, std::min(900u, context_.scenario.value_size_max)) +
                              record.value.size(),
                          '.');
    }
    if (random_.chance(0.1)) record.headers.emplace_back("header", record.key);
  }
  ProducerStamp stamp = stamp_;
  stamp.base_sequence = lane.next_sequence;
  lane.next_sequence += static_cast<int32_t>(records.size());
  Sent sent{encode_batch(stamp, records), 0, records.size()};
  KeyedLog& log = context_.model.keyed().at(where(partition));
  sent.offset = log.append(std::move(records), context_.world.now_ns());
  lane.pending.push_back(std::move(sent));
}

void KeyedWriter::send_batches() {
  under_way_.clear();
  std::vector<ProducePart> parts;
  for (auto& [partition, lane] : lanes_) {
    lane.repeats = false;
    if (lane.pending.empty() && !lane.recent.empty() && random_.chance(0.1)) {
      lane.repeats = true;
      under_way_[partition] = lane.recent[random_.below(lane.recent.size())];
    } else {
      if (lane.pending.empty() && left_ > 0 && random_.chance(0.7)) make_batch(partition, lane);
      if (lane.pending.empty()) continue;
      under_way_[partition] = lane.pending.front();
    }
    parts.push_back({where(partition), under_way_[partition].bytes});
    trace(context_, fmt::format("{} sends offset {} of {}{}", name(),
                                under_way_[partition].offset, to_string(where(partition)),
                                lane.repeats ? " again" : ""));
  }
  if (parts.empty()) return wake_after(1'000'000);
  const int version = context_.scenario.produce_version;
  send(Api::produce, version, produce_request(version, -1, 30'000, parts));
}

void KeyedWriter::on_response(int32_t, Api api, Reader& body) {
  if (api == Api::create_topics) on_created(body);
  if (api == Api::produce) on_produced(body);
  if (api == Api::init_producer_id) {
    ProducerStamp stamp;
    if (read_init_producer_id(body, stamp.producer_id, stamp.epoch) == codes::kNone) {
      stamp_ = stamp;
      for (auto& [partition, lane] : lanes_) {
        lane.next_sequence = 0;
        lane.recent.clear();
      }
    }
  }
  wake_after(static_cast<int64_t>(
      random_.between(0, 2 * static_cast<uint64_t>(context_.scenario.think_ns))));
}

void KeyedWriter::on_created(Reader& body) {
  std::string message;
  const int error = read_create_topic(body, message);
  created_ = error == codes::kNone || error == codes::kTopicAlreadyExists;
  if (created_) {
    for (const auto& [partition, lane] : lanes_) {
      context_.model.keyed().emplace(where(partition), KeyedLog(rules_));
    }
  } else if (error != codes::kNotController && !is_passing_for_keyed(error)) {
    fail(fmt::format("creating {}: error {} '{}'", topic_, error, message));
  }
}

void KeyedWriter::on_produced(Reader& body) {
  const auto results = read_produce(context_.scenario.produce_version, body);
  for (const auto& [partition, sent] : under_way_) {
    const auto result = results.find(where(partition));
    if (result == results.end()) return fail("a partition is missing in a produce response");
    const int error = result->second.error;
    trace(context_, fmt::format("{} told error {} offset {} for offset {}", name(), error,
                                result->second.base_offset, sent.offset));
    if (is_passing_for_keyed(error)) continue;  // again
    if (error != codes::kNone) {
      return fail(fmt::format("K5: offset {} of {}: error {}", sent.offset,
                              to_string(where(partition)), error));
    }
    const std::string problem = context_.model.keyed().at(where(partition))
                                    .acked(sent.offset, result->second.base_offset, sent.count);
    if (!problem.empty()) return fail(to_string(where(partition)) + ": " + problem);
    Lane& lane = lanes_.at(partition);
    if (lane.repeats) continue;
    lane.recent.push_back(std::move(lane.pending.front()));
    lane.pending.pop_front();
    if (lane.recent.size() > kWindow) lane.recent.pop_front();
  }
}

void KeyedWriter::on_lost() {}

KeyedReader::KeyedReader(Context& context, std::string name, bool once)
    : Actor(context, std::move(name)), once_(once) {}

ReadMoment KeyedReader::moment() const {
  return {sent_ns_, context_.world.now_ns(), context_.clock};
}

void KeyedReader::tell(const TopicPartition& where, const std::string& problem) {
  if (!problem.empty()) fail(to_string(where) + ": " + problem);
}

void KeyedReader::act() {
  if (outstanding() > 0) return;
  for (const auto& [where, log] : context_.model.keyed()) places_.try_emplace(where);
  std::vector<TopicPartition> unknown;
  std::vector<FetchPart> parts;
  for (auto& [where, place] : places_) {
    const KeyedLog& log = context_.model.keyed().at(where);
    place.start_at_send = log.log_start();
    place.durable_at_send = log.durable();
    if (place.position < 0) unknown.push_back(where);
    else if (!place.at_end) parts.push_back({where, place.position});
  }
  sent_ns_ = context_.world.now_ns();
  if (!unknown.empty()) {
    send(Api::list_offsets, 2, list_offsets_request(2, kEarliest, unknown));
    return;
  }
  if (parts.empty()) {
    finished_ = once_;
    places_.clear();
    return wake_after(static_cast<int64_t>(random_.between(1'000'000, 50'000'000)));
  }
  FetchOptions options;
  options.wait_ms_max = 10;
  options.read_committed = random_.chance(0.5);
  if (random_.chance(0.3)) options.size_max = static_cast<int32_t>(random_.between(1, 10'000));
  if (random_.chance(0.3)) {
    options.partition_size_max = static_cast<int32_t>(random_.between(1, 5'000));
  }
  send(Api::fetch, 11, fetch_request(options, parts));
}

void KeyedReader::on_response(int32_t, Api api, Reader& body) {
  if (api == Api::list_offsets) on_earliest(body);
  else on_fetched(body);
  wake_after(static_cast<int64_t>(random_.between(10'000, 2'000'000)));
}

void KeyedReader::on_earliest(Reader& body) {
  for (const auto& [where, result] : read_list_offsets(2, body)) {
    if (result.error == codes::kNone) {
      places_.at(where).position = result.offset;
      if (result.offset < places_.at(where).start_at_send) {
        return tell(where, fmt::format("K4: log start {}, it was {}", result.offset,
                                       places_.at(where).start_at_send));
      }
    } else if (!is_passing_for_keyed(result.error)) {
      return tell(where, fmt::format("earliest: error {}", result.error));
    }
  }
}

void KeyedReader::on_fetched(Reader& body) {
  for (const auto& [where, result] : read_fetch(body)) {
    Place& place = places_.at(where);
    if (result.error == codes::kOffsetOutOfRange) place.position = -1;  // the start moved on
    else if (result.error == codes::kNone) take(where, place, result);
    else if (!is_passing_for_keyed(result.error)) {
      return tell(where, fmt::format("fetch at {}: error {}", place.position, result.error));
    }
  }
}

void KeyedReader::take(const TopicPartition& where, Place& place, const FetchResult& result) {
  KeyedLog& log = context_.model.keyed().at(where);
  const ReadMoment at = moment();
  tell(where, log.saw_bounds(at, place.start_at_send, place.durable_at_send,
                             result.log_start_offset, result.high_watermark));
  ByteSpan rest = result.records;
  while (const auto batch = take_batch(rest)) {
    if (batch->next_offset() <= place.position) continue;
    tell(where, log.saw_batch(at, place.position, *batch, result.high_watermark));
    if (context_.findings.any()) return;
    place.position = batch->next_offset();
  }
  place.at_end = place.position >= result.high_watermark;
}

}  // namespace weir::simtest
