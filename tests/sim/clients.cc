#include "tests/sim/clients.h"

#include <fmt/format.h>

namespace weir::simtest {
namespace {

bool is_passing(int error) {
  return error == codes::kUnknownTopicOrPartition || error == codes::kLeaderNotAvailable ||
         error == codes::kNotLeader || error == codes::kStorageError;
}
// Else what can be fetched can be read.
bool may_meet_damage(const Context& context) {
  const Scenario& scenario = context.scenario;
  return scenario.rot || scenario.disk_errors || scenario.few_descriptors;
}
bool is_coordinator_busy(int error) {
  return error == codes::kCoordinatorLoading || error == codes::kCoordinatorNotAvailable ||
         error == codes::kNotCoordinator || error == codes::kRequestTimedOut ||
         error == codes::kStorageError;
}

}  // namespace

void Consumer::act() {
  if (outstanding() > 0) return;
  if (!behind_.empty()) {
    const std::vector<TopicPartition> parts(behind_.begin(), behind_.end());
    for (const TopicPartition& where : parts) floors_[where] = context_.model.floors(where);
    send(Api::list_offsets, 2, list_offsets_request(2, kEarliest, parts));
    return;
  }
  std::vector<FetchPart> parts;
  for (const auto& [topic, partitions] : context_.model.topics()) {
    for (int32_t i = 0; i < partitions; ++i) {
      const TopicPartition where{topic, i};
      const int64_t position = positions_.try_emplace(where, 0).first->second;
      if (random_.chance(0.8)) parts.push_back({where, position});
    }
  }
  if (parts.empty()) return wake_after(5'000'000);
  floors_.clear();
  for (const FetchPart& part : parts) {
    floors_[part.where] = context_.model.floors(part.where);
  }
  FetchOptions options;
  options.wait_ms_max = static_cast<int32_t>(random_.below(200));
  options.size_min = random_.chance(0.8) ? 1 : 5'000;
  if (random_.chance(0.3)) options.size_max = static_cast<int32_t>(random_.between(1, 10'000));
  if (random_.chance(0.3)) {
    options.partition_size_max = static_cast<int32_t>(random_.between(1, 5'000));
  }
  send(Api::fetch, 11, fetch_request(options, parts));
}

void Consumer::on_response(int32_t, Api api, Reader& body) {
  if (api == Api::list_offsets) return on_earliest(body);
  for (const auto& [where, result] : read_fetch(body)) {
    if (result.error == codes::kOffsetOutOfRange) {
      behind_.insert(where);
      continue;
    }
    if (result.error != codes::kNone) {
      const bool damage = result.error == codes::kStorageError && !may_meet_damage(context_);
      if (!is_passing(result.error) || damage) {
        fail(fmt::format("fetch of {} at {}: error {}", to_string(where), positions_[where],
                         result.error));
      }
      continue;
    }
    take(where, result);
  }
  wake_after(static_cast<int64_t>(
      random_.between(0, 2 * static_cast<uint64_t>(context_.scenario.think_ns))));
}

// An offset that was refused lies before the start, and the start can be read (CASES C42).
void Consumer::on_earliest(Reader& body) {
  for (const auto& [where, result] : read_list_offsets(2, body)) {
    if (result.error != codes::kNone) {
      if (!is_passing(result.error)) fail(fmt::format("earliest: error {}", result.error));
      continue;
    }
    context_.model.saw_log_start(where, floors_[where], result.offset);
    int64_t& position = positions_[where];
    if (result.offset <= position) {
      return fail(fmt::format("I7: {}: {} was out of range, but the log starts at {}",
                              to_string(where), position, result.offset));
    }
    position = result.offset;
    behind_.erase(where);
  }
  wake_after(1'000'000);
}

void Consumer::take(const TopicPartition& where, const FetchResult& result) {
  context_.model.saw_offsets(where, floors_[where], result.log_start_offset,
                             result.last_stable_offset, result.high_watermark);
  int64_t& position = positions_[where];
  ByteSpan rest = result.records;
  while (const auto batch = take_batch(rest)) {
    if (batch->next_offset() <= position) continue;
    if (batch->base_offset > position) {
      return fail(fmt::format("I6: {}: offsets {} to {} are missing", to_string(where), position,
                              batch->base_offset));
    }
    if (batch->next_offset() > result.high_watermark) {
      return fail(fmt::format("P5: {}: read up to {} above the high watermark {}",
                              to_string(where), batch->next_offset(), result.high_watermark));
    }
    context_.model.observed(where, *batch);
    position = batch->next_offset();
  }
}

void Trimmer::act() {
  if (outstanding() > 0) return;
  if (context_.model.topics().empty() || random_.chance(0.7)) return wake_after(5'000'000);
  const auto& topics = context_.model.topics();
  const auto pick = static_cast<std::ptrdiff_t>(random_.below(topics.size()));
  const auto topic = std::next(topics.begin(), pick);
  where_ = {topic->first, static_cast<int32_t>(
                              random_.below(static_cast<uint64_t>(topic->second)))};
  floors_ = context_.model.floors(where_);
  offset_ = random_.chance(0.1) ? -1 : static_cast<int64_t>(random_.below(
                                           static_cast<uint64_t>(floors_.durable) + 1));
  context_.model.cut_sent(where_, offset_);
  trace(context_, fmt::format("{} cuts {} at {}", name(), to_string(where_), offset_));
  send(Api::delete_records, 1, delete_records_request(where_, offset_));
}

void Trimmer::on_response(int32_t, Api, Reader& body) {
  const DeletedResult result = read_delete_records(where_, body);
  trace(context_, fmt::format("{} told error {}, log start {}", name(), result.error,
                              result.low_watermark));
  if (result.error == codes::kNone) {
    context_.model.saw_log_start(where_, floors_, result.low_watermark);
    if (result.low_watermark < offset_) {
      return fail(fmt::format("I7: {} was cut at {}, and starts at {}", to_string(where_),
                              offset_, result.low_watermark));
    }
  } else if (!is_passing(result.error)) {
    return fail(fmt::format("cut of {} at {}: error {}", to_string(where_), offset_,
                            result.error));
  }
  wake_after(static_cast<int64_t>(random_.between(1'000'000, 30'000'000)));
}

Committer::Committer(Context& context, std::string name)
    : Actor(context, std::move(name)), left_(context.scenario.batches_per_producer) {}

void Committer::act() {
  if (outstanding() > 0) return;
  if (context_.model.topics().empty()) return wake_after(5'000'000);
  if (!found_) {
    send(Api::find_coordinator, 0, find_coordinator_request(name()));
    return;
  }
  const auto& [topic, partitions] = *context_.model.topics().begin();
  const TopicPartition where{topic, static_cast<int32_t>(random_.below(
                                        std::min<uint64_t>(2, static_cast<uint64_t>(partitions))))};
  if (left_ > 0 && random_.chance(0.7)) {
    --left_;
    const int64_t value = next_value_++;
    pending_ = CommitPart{where, value, fmt::format("note {}", value)};
    context_.model.commit_sent(name(), where, value);
    trace(context_, fmt::format("{} commits {} of {}", name(), value, to_string(where)));
    send(Api::offset_commit, 2, offset_commit_request(name(), std::span(&*pending_, 1)));
    return;
  }
  send(Api::offset_fetch, 1, offset_fetch_request(name(), std::span(&where, 1)));
}

void Committer::on_response(int32_t, Api api, Reader& body) {
  if (api == Api::find_coordinator) {
    const int error = read_find_coordinator(body);
    body.i32();
    body.text();
    body.i32();
    found_ = error == codes::kNone;
    if (!found_ && !is_coordinator_busy(error)) fail(fmt::format("coordinator: error {}", error));
  } else if (api == Api::offset_commit) {
    on_commit(body);
  } else {
    on_fetched(body);
  }
  wake_after(static_cast<int64_t>(
      random_.between(0, 2 * static_cast<uint64_t>(context_.scenario.think_ns))));
}

void Committer::on_commit(Reader& body) {
  const auto errors = read_offset_commit(body);
  const CommitPart commit = *std::exchange(pending_, std::nullopt);
  const auto error = errors.find(commit.where);
  if (error == errors.end()) return fail("a partition is missing in a commit response");
  trace(context_, fmt::format("{} told error {} for commit {}", name(), error->second,
                              commit.offset));
  if (error->second == codes::kNone) {
    return context_.model.commit_acked(name(), commit.where, commit.offset);
  }
  if (!is_coordinator_busy(error->second)) {
    return fail(fmt::format("commit {}: error {}", commit.offset, error->second));
  }
  if (error->second == codes::kRequestTimedOut) return;  // its outcome is unknown
  context_.model.commit_refused(name(), commit.where, commit.offset);
}

void Committer::on_fetched(Reader& body) {
  for (const auto& [where, result] : read_offset_fetch(body)) {
    if (result.error != codes::kNone) {
      if (!is_coordinator_busy(result.error)) fail(fmt::format("offsets: error {}", result.error));
      continue;
    }
    context_.model.commit_read(name(), where, result.offset);
    if (result.offset >= 0 && result.metadata != fmt::format("note {}", result.offset)) {
      fail(fmt::format("I10: offset {} came with note '{}'", result.offset, result.metadata));
    }
  }
}

void Committer::on_lost() {
  found_ = false;
  pending_.reset();  // stays unknown in the model
}

void Admin::act() {
  if (outstanding() > 0) return;
  const TopicPlan& topic = context_.scenario.topics[next_];
  trace(context_, fmt::format("{} creates {}", name(), topic.name));
  std::map<std::string, std::string> configs;
  if (topic.retention_ms >= 0) configs["retention.ms"] = fmt::format("{}", topic.retention_ms);
  if (topic.retention_bytes >= 0) {
    configs["retention.bytes"] = fmt::format("{}", topic.retention_bytes);
  }
  context_.model.set_retention(topic.name, {topic.retention_ms, topic.retention_bytes});
  send(Api::create_topics, 2, create_topic_request(topic.name, topic.partitions, configs));
}

void Admin::on_response(int32_t, Api, Reader& body) {
  std::string message;
  const int error = read_create_topic(body, message);
  const TopicPlan& topic = context_.scenario.topics[next_];
  if (error == codes::kNone || (error == codes::kTopicAlreadyExists && lost_)) {
    context_.model.topic_acked(topic.name, topic.partitions);
    ++next_;
    lost_ = false;
  } else if (error == codes::kRequestTimedOut) {
    lost_ = true;
  } else if (error != codes::kNotController && error != codes::kStorageError) {
    return fail(fmt::format("creating {}: error {} '{}'", topic.name, error, message));
  }
  wake_after(static_cast<int64_t>(random_.between(1'000, 5'000'000)));
}

ByteString Hostile::garbage() {
  Writer writer;
  switch (random_.below(5)) {
    case 0: writer.i32(static_cast<int64_t>(random_.next())); break;  // a size, huge or negative
    case 1: writer.i32(10).i16(static_cast<int>(random_.next())).i16(0); break;
    case 2:  // a known api that ends too early, or counts far more than there is
      writer.i32(30).i16(static_cast<int>(random_.below(60)));
      writer.i16(static_cast<int>(random_.below(8)));
      writer.i32(1).i16(-1).i32(INT32_MAX).i32(static_cast<int64_t>(random_.next())).i64(-1);
      break;
    case 3: writer.i32(static_cast<int64_t>(random_.between(8, 4'000))); break;  // then noise
    default: break;
  }
  for (uint64_t left = random_.below(300); left > 0; --left) {
    writer.i8(static_cast<int>(random_.next() & 0xFF));
  }
  return writer.take();
}

void Hostile::act() {
  ++rounds_;
  send_raw(garbage());
  if (random_.chance(0.7)) return drop_connection(random_.chance(0.5));
  wake_after(10'000'000);
}

}  // namespace weir::simtest
