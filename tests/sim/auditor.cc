#include "tests/sim/auditor.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {

Auditor::Auditor(Context& context, std::string name) : Actor(context, std::move(name)) {
  for (const auto& [topic, partitions] : context.model.topics()) {
    for (int32_t i = 0; i < partitions; ++i) all_.push_back({topic, i});
  }
  std::set<std::string> groups;
  for (const auto& [key, offset] : context.model.groups()) groups.insert(key.first);
  groups_.assign(groups.begin(), groups.end());
  if (all_.empty()) step_ = Step::finished;  // nothing was ever promised
}

void Auditor::advance() {
  step_ = static_cast<Step>(static_cast<int>(step_) + 1);
  if (step_ == Step::groups && groups_.empty()) step_ = Step::finished;
}

bool Auditor::passing(int error, const std::string& what) {
  if (error == codes::kNone) return false;
  constexpr int kPassing[] = {codes::kLeaderNotAvailable,     codes::kNotLeader,
                              codes::kCoordinatorLoading,     codes::kNotCoordinator,
                              codes::kCoordinatorNotAvailable, codes::kRequestTimedOut,
                              codes::kUnknownTopicOrPartition};
  const bool passes = std::ranges::find(kPassing, error) != std::end(kPassing);
  if (!passes || ++retries_ > kRetriesMax) fail(fmt::format("{}: error {}", what, error));
  return true;
}

void Auditor::act() {
  if (outstanding() > 0) return;
  for (const TopicPartition& where : all_) floors_[where] = context_.model.floors(where);
  switch (step_) {
    case Step::topics: {
      asked_ = context_.model.topics();
      std::vector<std::string> names;
      for (const auto& [topic, partitions] : asked_) names.push_back(topic);
      send(Api::metadata, 4, metadata_request(names, false));
      return;
    }
    case Step::earliest:
    case Step::latest: {
      const int64_t which = step_ == Step::earliest ? kEarliest : kLatest;
      send(Api::list_offsets, 2, list_offsets_request(2, which, all_));
      return;
    }
    case Step::content: return send_fetch();
    case Step::by_time: return send_by_time();
    case Step::groups: return send_group();
    case Step::finished: return;
  }
}

void Auditor::on_response(int32_t, Api, Reader& body) {
  switch (step_) {
    case Step::topics: on_topics(body); break;
    case Step::earliest:
    case Step::latest: on_offsets(body); break;
    case Step::content: on_content(body); break;
    case Step::by_time: on_by_time(body); break;
    case Step::groups: on_group(body); break;
    case Step::finished: break;
  }
  wake_after(retries_ > 0 ? 5'000'000 : 10'000);
}

void Auditor::on_topics(Reader& body) {
  const auto topics = read_metadata(body);
  for (const auto& [name, partitions] : asked_) {
    const auto topic = topics.find(name);
    if (topic == topics.end()) return fail("I15: topic " + name + " is missing");
    if (passing(topic->second.error, "I15: topic " + name)) return;
    if (topic->second.partitions.size() != static_cast<size_t>(partitions)) {
      return fail(fmt::format("I15: topic {} has {} partitions of {}", name,
                              topic->second.partitions.size(), partitions));
    }
  }
  advance();
}

void Auditor::on_offsets(Reader& body) {
  const auto results = read_list_offsets(2, body);
  for (const TopicPartition& where : all_) {
    const auto result = results.find(where);
    if (result == results.end()) return fail("offsets of " + to_string(where) + " are missing");
    if (passing(result->second.error, "offsets of " + to_string(where))) return;
    Content& content = contents_[where];
    if (step_ == Step::earliest) {
      content.log_start_offset = positions_[where] = result->second.offset;
      content.entries.clear();
      content.gaps.clear();
      context_.model.saw_log_start(where, floors_[where], result->second.offset);
    } else {
      content.end_offset = result->second.offset;
      context_.model.saw_offsets(where, floors_[where], content.log_start_offset,
                                 content.end_offset, content.end_offset);
    }
  }
  advance();
}

void Auditor::send_fetch() {
  std::vector<FetchPart> parts;
  for (const TopicPartition& where : all_) {
    const int64_t position = positions_[where];
    if (position < contents_[where].end_offset) parts.push_back({where, position});
  }
  if (parts.empty()) {
    check_all();
    advance();
    return wake_after(0);
  }
  FetchOptions options;
  options.wait_ms_max = 50;
  if (random_.chance(0.2)) options.size_max = static_cast<int32_t>(random_.between(1, 20'000));
  send(Api::fetch, 11, fetch_request(options, parts));
}

void Auditor::on_content(Reader& body) {
  const auto before = positions_;
  for (const auto& [where, result] : read_fetch(body)) {
    if (skip_rot(where, result.error)) continue;
    if (result.error == codes::kOffsetOutOfRange && ++retries_ <= kRetriesMax) {
      step_ = Step::earliest;  // the start moved on meanwhile
      return;
    }
    if (passing(result.error, fmt::format("fetch of {} at {}", to_string(where),
                                          positions_[where]))) {
      return;
    }
    take(where, result);
  }
  if (positions_ != before || ++retries_ <= kRetriesMax) return;
  for (const auto& [where, position] : positions_) {
    if (position >= contents_[where].end_offset) continue;
    return fail(fmt::format("I1: fetches of {} at {} bring nothing, the end is {}",
                            to_string(where), position, contents_[where].end_offset));
  }
}

// I14: an offset that rot may have taken is refused; the next one behind it is tried.
bool Auditor::skip_rot(const TopicPartition& where, int error) {
  if (error != codes::kStorageError && error != codes::kCorruptMessage) return false;
  int64_t& position = positions_[where];
  const bool allowed = std::ranges::any_of(context_.rot, [&](const RotRange& range) {
    return range.where == where && position >= range.from && position < range.to;
  });
  if (!allowed) return false;
  auto& gaps = contents_[where].gaps;
  if (gaps.empty() || gaps.back().second != position) gaps.emplace_back(position, position);
  gaps.back().second = ++position;
  return true;
}

void Auditor::take(const TopicPartition& where, const FetchResult& result) {
  context_.model.saw_offsets(where, floors_[where], result.log_start_offset,
                             result.last_stable_offset, result.high_watermark);
  Content& content = contents_[where];
  int64_t& position = positions_[where];
  ByteSpan rest = result.records;
  while (const auto batch = take_batch(rest)) {
    if (batch->next_offset() <= position) continue;
    const bool at_start = position == content.log_start_offset && batch->base_offset < position;
    if (batch->base_offset != position && !at_start) {
      return fail(fmt::format("I6: {}: at offset {} a batch begins at {}", to_string(where),
                              position, batch->base_offset));
    }
    context_.model.observed(where, *batch);
    const std::string& key = batch->first_key;
    content.entries.push_back({batch->base_offset, std::strtoull(key.c_str(), nullptr, 10)});
    position = batch->next_offset();
  }
}

void Auditor::check_all() {
  for (const TopicPartition& where : all_) {
    check_partition(context_.model, where, contents_[where], context_.findings);
    check_deleted(context_.model, where, contents_[where].log_start_offset, context_.clock,
                  context_.findings);
  }
}

void Auditor::send_by_time() {
  const auto& batches = context_.model.batches();
  if (batches.empty() || rounds_by_time_ >= 3 || !context_.rot.empty()) {
    advance();
    return wake_after(0);
  }
  const Batch& batch = *batches[random_.below(batches.size())];
  timestamp_ = batch.records[random_.below(batch.records.size())].timestamp +
               static_cast<int64_t>(random_.below(3)) - 1;
  timestamp_ = std::max<int64_t>(timestamp_, 0);
  send(Api::list_offsets, 1, list_offsets_request(1, timestamp_, all_));
}

void Auditor::on_by_time(Reader& body) {
  const auto results = read_list_offsets(1, body);
  for (const TopicPartition& where : all_) {
    const auto result = results.find(where);
    if (result == results.end()) return fail("offsets of " + to_string(where) + " are missing");
    if (passing(result->second.error, "offset by time of " + to_string(where))) return;
    const OffsetResult expected =
        first_at_or_after(context_.model, contents_[where], timestamp_);
    const bool same = result->second.offset == expected.offset &&
                      result->second.timestamp == expected.timestamp;
    if (!same && !time_agrees(where, result->second)) {
      return fail(fmt::format("I8: {} at time {}: offset {} time {}, a scan finds {} time {}",
                              to_string(where), timestamp_, result->second.offset,
                              result->second.timestamp, expected.offset, expected.timestamp));
    }
  }
  ++rounds_by_time_;
}

// Where the start may have moved on since the content was read: a record of that time behind it, or
// none.
bool Auditor::time_agrees(const TopicPartition& where, const OffsetResult& result) const {
  if (!context_.model.retention(where.topic).any()) return false;
  if (result.offset < 0) return true;
  Content rest = contents_.at(where);
  rest.log_start_offset = std::max(rest.log_start_offset, result.offset);
  const OffsetResult expected = first_at_or_after(context_.model, rest, timestamp_);
  return expected.offset == result.offset && expected.timestamp == result.timestamp;
}

void Auditor::send_group() {
  std::vector<TopicPartition> parts;
  for (const auto& [key, offset] : context_.model.groups()) {
    if (key.first == groups_[group_]) parts.push_back(key.second);
  }
  send(Api::offset_fetch, 1, offset_fetch_request(groups_[group_], parts));
}

void Auditor::on_group(Reader& body) {
  const std::string& group = groups_[group_];
  for (const auto& [where, result] : read_offset_fetch(body)) {
    if (passing(result.error, "offsets of group " + group)) return;
    context_.model.commit_read(group, where, result.offset);
    if (result.offset >= 0 && result.metadata != fmt::format("note {}", result.offset)) {
      return fail(fmt::format("I10: group {}: offset {} came with note '{}'", group, result.offset,
                              result.metadata));
    }
  }
  if (++group_ == groups_.size()) advance();
}

}  // namespace weir::simtest
