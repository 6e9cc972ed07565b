#include "tests/sim/producer.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {
namespace {

// Errors that say "not now": nothing was written and the batch may be sent again.
bool is_retriable(int error) {
  return error == codes::kUnknownTopicOrPartition || error == codes::kLeaderNotAvailable ||
         error == codes::kNotLeader || error == codes::kStorageError;
}

constexpr int64_t kFarFuture = 4'102'444'800'000;  // the year 2100

}  // namespace

Producer::Producer(Context& context, std::string name, bool idempotent)
    : Actor(context, std::move(name)), idempotent_(idempotent),
      left_(context.scenario.batches_per_producer) {}

bool Producer::done() const {
  if (left_ > 0 || !requests_.empty()) return false;
  return std::ranges::all_of(lanes_, [](const auto& l) { return l.second.unsettled.empty(); });
}

void Producer::find_lanes() {
  for (const auto& [topic, partitions] : context_.model.topics()) {
    for (int32_t i = 0; i < partitions; ++i) {
      const TopicPartition where{topic, i};
      lanes_.try_emplace(where, Lane{where, {}, 0, {}, 0});
    }
  }
}

std::vector<Record> Producer::make_records() {
  const Scenario& scenario = context_.scenario;
  std::vector<Record> records(random_.between(1, scenario.records_max));
  const bool odd = scenario.odd_time_chance > 0 && random_.chance(scenario.odd_time_chance);
  const int64_t odd_time = odd && random_.chance(0.5) ? kFarFuture : -1;
  for (Record& record : records) {
    record.timestamp = context_.world.clock().wall_ms() - static_cast<int64_t>(random_.below(1000));
    if (odd) record.timestamp = odd_time;
    record.value.resize(random_.between(0, scenario.value_size_max));
    const uint64_t salt = random_.next();
    for (size_t i = 0; i < record.value.size(); ++i) {
      record.value[i] = static_cast<char>(salt >> (i % 8 * 8)) ^ static_cast<char>(i / 8);
    }
    if (random_.chance(0.2)) record.headers.emplace_back("header", fmt::format("{}", salt));
  }
  return records;
}

bool Producer::make_batch(Lane& lane) {
  if (left_ == 0 || lane.unsettled.size() >= kWindow) return false;
  --left_;
  ProducerStamp stamp = stamp_;
  std::vector<Record> records = make_records();
  if (idempotent_) {
    stamp.base_sequence = lane.next_sequence;
    lane.next_sequence += static_cast<int32_t>(records.size());
  }
  lane.unsettled.push_back(&context_.model.add_batch(lane.where, stamp, std::move(records)));
  return true;
}

void Producer::send_parts(const std::vector<Part>& parts) {
  std::vector<ProducePart> wire;
  for (const Part& part : parts) {
    context_.model.sent(*part.batch, context_.world.now_ns());
    trace(context_, fmt::format("{} sends {}{}", name(), describe(*part.batch),
                                part.repeat ? " again" : ""));
    wire.push_back({part.lane->where, part.batch->bytes});
  }
  const int version = context_.scenario.produce_version;
  const ByteString body =
      produce_request(version, random_.chance(0.5) ? -1 : 1, 30'000, wire);
  requests_[send(Api::produce, version, body)] = parts;
}

bool Producer::send_next() {
  std::vector<Lane*> lanes;
  for (auto& [where, lane] : lanes_) lanes.push_back(&lane);
  std::vector<Part> parts;
  const size_t parts_max = random_.between(1, context_.scenario.parts_max);
  while (!lanes.empty() && parts.size() < parts_max) {
    const size_t pick = random_.below(lanes.size());
    Lane& lane = *lanes[pick];
    lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(pick));
    if (lane.unsent == lane.unsettled.size() && !make_batch(lane)) continue;
    parts.push_back({&lane, lane.unsettled[lane.unsent++], false});
  }
  if (parts.empty()) return false;
  send_parts(parts);
  return true;
}

// One of the last batches once more, as a client does that missed the answer.
bool Producer::send_repeat() {
  std::vector<Lane*> lanes;
  for (auto& [where, lane] : lanes_) {
    if (lane.unsettled.empty() && !lane.recent.empty()) lanes.push_back(&lane);
  }
  if (lanes.empty()) return false;
  Lane& lane = *lanes[random_.below(lanes.size())];
  send_parts({{&lane, lane.recent[random_.below(lane.recent.size())], true}});
  return true;
}

void Producer::act() {
  if (idempotent_ && stamp_.producer_id < 0) {
    if (asking_id_) return;
    asking_id_ = true;
    send(Api::init_producer_id, random_.chance(0.5) ? 0 : 1, init_producer_id_request());
    return;
  }
  find_lanes();
  const size_t in_flight_max = random_.between(1, context_.scenario.pipeline_max);
  while (open() && outstanding() < in_flight_max) {
    const bool repeat = idempotent_ && random_.chance(context_.scenario.duplicate_chance);
    if (repeat && send_repeat()) continue;
    if (!send_next()) break;
  }
  if (random_.chance(0.002)) drop_connection(random_.chance(0.5));
  if (!done() && outstanding() == 0) wake_after(static_cast<int64_t>(1'000'000));
}

void Producer::on_response(int32_t correlation, Api api, Reader& body) {
  if (api == Api::init_producer_id) {
    asking_id_ = false;
    ProducerStamp stamp;
    const int error = read_init_producer_id(body, stamp.producer_id, stamp.epoch);
    if (error == codes::kNone) stamp_ = stamp;
    return wake_after(1'000'000);
  }
  const auto results = read_produce(context_.scenario.produce_version, body);
  const std::vector<Part> parts = requests_.at(correlation);
  requests_.erase(correlation);
  for (const Part& part : parts) {
    const auto result = results.find(part.lane->where);
    if (result == results.end()) return fail("a partition is missing in a produce response");
    settle(part, result->second);
  }
  wake_after(static_cast<int64_t>(random_.between(0, 2 * static_cast<uint64_t>(
                                                              context_.scenario.think_ns))));
}

void Producer::settle(const Part& part, const ProduceResult& result) {
  trace(context_, fmt::format("{} told error {} offset {} for batch {}", name(), result.error,
                              result.base_offset, part.batch->id));
  if (result.error != codes::kNone) return refuse(part, result.error);
  context_.model.acked(*part.batch, result.base_offset);
  if (part.repeat) return;
  Lane& lane = *part.lane;
  const auto at = std::ranges::find(lane.unsettled, part.batch);
  if (at == lane.unsettled.end()) return;
  const auto index = static_cast<size_t>(at - lane.unsettled.begin());
  lane.unsettled.erase(at);
  if (lane.unsent > index) --lane.unsent;
  lane.recent.push_back(part.batch);
  if (lane.recent.size() > kWindow) lane.recent.pop_front();
}

void Producer::refuse(const Part& part, int error) {
  ++refusals_;
  Lane& lane = *part.lane;
  const auto at = std::ranges::find(lane.unsettled, part.batch);
  const auto index = static_cast<size_t>(at - lane.unsettled.begin());
  // A gap before it is the only good reason to call a sequence out of order.
  const bool after_gap = error == codes::kOutOfOrderSequence && idempotent_ && index > 0 &&
                         at != lane.unsettled.end();
  if (!is_retriable(error) && !after_gap) {
    return fail(fmt::format("I13: error {} for {}", error, describe(*part.batch)));
  }
  if (part.repeat || error == codes::kRequestTimedOut) return;
  context_.model.refused(*part.batch);
  if (at == lane.unsettled.end()) return;
  if (!idempotent_ && random_.chance(0.5)) {
    lane.unsettled.erase(at);
    if (lane.unsent > index) --lane.unsent;
    return;
  }
  lane.unsent = std::min(lane.unsent, index);
}

void Producer::on_lost() {
  asking_id_ = false;
  requests_.clear();
  for (auto& [where, lane] : lanes_) {
    lane.unsent = 0;
    if (idempotent_ || lane.unsettled.empty() || random_.chance(0.5)) continue;
    lane.unsettled.clear();  // gives up: their outcome stays unknown
  }
}

}  // namespace weir::simtest
