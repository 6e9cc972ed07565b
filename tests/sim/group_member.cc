#include "tests/sim/group_member.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {
namespace {

constexpr int32_t kPartitions = 5;
constexpr int32_t kLeave = -1;
const std::string kTopic = "members-topic";
const std::string kGroup = "members-group";

bool is_busy(int error) {
  return error == codes::kCoordinatorLoading || error == codes::kCoordinatorNotAvailable ||
         error == codes::kNotCoordinator || error == codes::kRequestTimedOut ||
         error == codes::kStorageError;
}

// Lengths of flexible messages: one more than what they count, 0 for null.
void put_length(Writer& writer, size_t length) {
  for (size_t left = length + 1;; left >>= 7) {
    if (left < 0x80) {
      writer.i8(static_cast<int>(left));
      return;
    }
    writer.i8(static_cast<int>((left & 0x7f) | 0x80));
  }
}
void put_text(Writer& writer, const std::string& text) {
  put_length(writer, text.size());
  writer.raw(std::as_bytes(std::span(text)));
}
void put_null(Writer& writer) { writer.i8(0); }
void put_no_tags(Writer& writer) { writer.i8(0); }

// -1: null.
int64_t take_length(Reader& reader) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35 && reader.ok(); shift += 7) {
    const auto byte = static_cast<uint8_t>(reader.i8());
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return static_cast<int64_t>(value) - 1;
}
void skip_text(Reader& reader) {
  const int64_t length = take_length(reader);
  if (length > 0) reader.raw(static_cast<size_t>(length));
}
void skip_no_tags(Reader& reader) { reader.i8(); }

std::set<GroupPartition> take_assignment(Reader& body) {
  std::set<GroupPartition> assigned;
  for (int64_t topics = take_length(body); topics > 0 && body.ok(); --topics) {
    const ByteSpan id = body.raw(16);
    for (int64_t left = take_length(body); left > 0 && body.ok(); --left) {
      assigned.emplace(ByteString(id.begin(), id.end()), body.i32());
    }
    skip_no_tags(body);
  }
  skip_no_tags(body);
  return assigned;
}

}  // namespace

std::string GroupWatch::take(const GroupPartition& partition, const std::string& member) {
  const auto [entry, is_new] = owners_.emplace(partition, member);
  return is_new ? "" : entry->second;
}

GroupMember::GroupMember(Context& context, GroupWatch& watch, std::string name)
    : Actor(context, std::move(name)),
      watch_(watch),
      id_(this->name()),
      left_(static_cast<uint32_t>(
          random_.between(10, context.scenario.mode == Mode::lite ? 40 : 150))) {}

void GroupMember::on_lost() {
  unsure_ = true;
  if (sent_epoch_ != kLeave || epoch_ == 0) return;
  // The broker may read it at any time yet, after what the next connection brings: who comes back
  // is somebody else.
  start_anew();
  id_ = fmt::format("{}/{}", name(), ++lives_);
}

void GroupMember::act() {
  if (outstanding() > 0) return;
  if (!created_) {
    send(Api::create_topics, 2, create_topic_request(kTopic, kPartitions, {}));
    return;
  }
  if (epoch_ > 0 && context_.world.now_ns() - heard_ns_ > kSilenceMaxNs) start_anew();
  if (left_ == 0 && epoch_ == 0) {
    finished_ = true;
    return;
  }
  if (left_ > 0) --left_;
  const bool leaves = epoch_ > 0 && (left_ == 0 || random_.chance(0.05));
  if (leaves) set_owned({});  // before it says so
  send_heartbeat(leaves ? kLeave : epoch_);
  if (random_.chance(0.05)) drop_connection(random_.chance(0.5));
}

void GroupMember::send_heartbeat(int32_t epoch) {
  Writer writer;
  put_no_tags(writer);  // of the header
  put_text(writer, kGroup);
  put_text(writer, id_);
  writer.i32(epoch);
  put_null(writer);  // instance
  put_null(writer);  // rack
  writer.i32(epoch == kLeave ? -1 : 600'000);
  if (epoch == kLeave) {
    put_null(writer);
  } else {
    put_length(writer, 1);
    put_text(writer, kTopic);
  }
  put_null(writer);  // assignor
  std::map<ByteString, std::vector<int32_t>> topics;
  for (const auto& [topic, partition] : owned_) topics[topic].push_back(partition);
  put_length(writer, topics.size());
  for (const auto& [topic, partitions] : topics) {
    writer.raw(topic);
    put_length(writer, partitions.size());
    for (const int32_t partition : partitions) writer.i32(partition);
    put_no_tags(writer);
  }
  put_no_tags(writer);
  sent_epoch_ = epoch;
  floor_epoch_ = watch_.highest_epoch();
  sent_ns_ = context_.world.now_ns();
  send(Api::consumer_group_heartbeat, 0, writer.view());
}

void GroupMember::on_response(int32_t, Api api, Reader& body) {
  if (api == Api::create_topics) {
    std::string message;
    const int error = read_create_topic(body, message);
    created_ = error == codes::kNone || error == codes::kTopicAlreadyExists;
  } else {
    on_heartbeat(body);
  }
  wake_after(static_cast<int64_t>(random_.between(1'000'000, 400'000'000)));
}

void GroupMember::on_heartbeat(Reader& body) {
  skip_no_tags(body);  // of the header
  body.i32();
  const int error = body.i16();
  skip_text(body);
  skip_text(body);
  const int32_t epoch = body.i32();
  body.i32();
  const bool told = body.i8() >= 0;
  std::set<GroupPartition> assigned;
  if (told) assigned = take_assignment(body);
  skip_no_tags(body);
  trace(context_, fmt::format("{} sent epoch {}, told error {} epoch {} and {} partitions", name(),
                              sent_epoch_, error, epoch,
                              told ? static_cast<int>(assigned.size()) : -1));
  if (!body.ok()) return;
  if (error != codes::kNone) return on_refused(error);
  heard_ns_ = sent_ns_;
  unsure_ = false;
  if (sent_epoch_ == kLeave) {
    epoch_ = 0;
    return;
  }
  if (sent_epoch_ == 0 && epoch < floor_epoch_) {
    return fail(fmt::format("G4: it joins at epoch {}, {} was known", epoch, floor_epoch_));
  }
  watch_.told(epoch);
  epoch_ = epoch;
  if (told) set_owned(std::move(assigned));
}

void GroupMember::on_refused(int error) {
  if (is_busy(error)) {
    unsure_ = true;  // it may have been carried out in part
    return;
  }
  const bool unknown = error == codes::kUnknownMemberId || error == codes::kGroupIdNotFound;
  const bool fenced = error == codes::kFencedMemberEpoch;
  if (!unknown && !fenced) return fail(fmt::format("heartbeat: error {}", error));
  if (!unsure_ && sent_epoch_ > 0) {
    return fail(fmt::format("{}: error {} for epoch {}, which it was told", fenced ? "G3" : "G2",
                            error, sent_epoch_));
  }
  start_anew();
}

void GroupMember::set_owned(std::set<GroupPartition> owned) {
  for (const GroupPartition& partition : owned_) {
    if (!owned.contains(partition)) watch_.release(partition);
  }
  for (const GroupPartition& partition : owned) {
    if (owned_.contains(partition)) continue;
    const std::string other = watch_.take(partition, name());
    if (!other.empty()) {
      fail(fmt::format("G1: partition {} is given to it while {} has it", partition.second, other));
    }
  }
  owned_ = std::move(owned);
}

void GroupMember::start_anew() {
  set_owned({});
  epoch_ = 0;
  unsure_ = true;
}

}  // namespace weir::simtest
