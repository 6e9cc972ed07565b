#include "engine/handlers/list_offsets.h"

#include <algorithm>

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

constexpr int8_t kIsolationLevelMax = 1;

// What a timestamp below 0 means, and the first version that may send it.
struct SpecialTimestamp {
  int64_t timestamp;
  int16_t first_version;
};
constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;
constexpr int64_t kLargestTimestamp = -3;
constexpr int64_t kEarliestLocal = -4;
constexpr int64_t kLatestTiered = -5;
constexpr int64_t kEarliestPendingUpload = -6;
constexpr SpecialTimestamp kSpecialTimestamps[] = {
    {kLatest, 0},        {kEarliest, 0},     {kLargestTimestamp, 7},
    {kEarliestLocal, 8}, {kLatestTiered, 9}, {kEarliestPendingUpload, 11},
};

// There is no tiered storage: nothing is there, and nothing is on its way.
bool is_tiered(int64_t timestamp) {
  return timestamp == kLatestTiered || timestamp == kEarliestPendingUpload;
}

bool is_earliest(int64_t timestamp) {
  return timestamp == kEarliest || timestamp == kEarliestLocal;
}

bool is_supported(int64_t timestamp, int16_t version) {
  if (timestamp >= 0) return true;
  return std::ranges::any_of(kSpecialTimestamps, [&](const SpecialTimestamp& special) {
    return special.timestamp == timestamp && version >= special.first_version;
  });
}

}  // namespace

void start_list_offsets(Request& request) { request.run<ListOffsetsHandler>(); }

ListOffsetsHandler::~ListOffsetsHandler() { std::destroy_n(parts_, part_count_); }

void ListOffsetsHandler::start() {
  if (!request_.decode(in_)) return;
  if (!resolve()) return request_.close_connection("request too large for its memory");
  mark_duplicates();
  outstanding_ = 1;
  for (size_t i = 0; i < part_count_; ++i) send(parts_[i]);
  if (--outstanding_ == 0) finish();
}

bool ListOffsetsHandler::resolve() {
  size_t count = 0;
  for (const auto& topic : in_.topics) count += topic.partitions.size();
  parts_ = static_cast<Part*>(arena().allocate(count * sizeof(Part), alignof(Part)));
  out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
  if ((parts_ == nullptr && count > 0) || out_.topics.is_null()) return false;
  for (size_t i = 0; i < in_.topics.size(); ++i) {
    const auto& in = in_.topics[i];
    Response::Topic& out = out_.topics[i];
    out.name = in.name;
    out.partitions = wire::make_array<Response::Partition>(arena(), in.partitions.size());
    if (out.partitions.is_null()) return false;
    resolve_topic(in, out);
  }
  return true;
}

void ListOffsetsHandler::resolve_topic(const wire::ListOffsetsRequest::Topic& in,
                                       Response::Topic& out) {
  const catalog::Topic* const topic = context().catalog.find(in.name);
  for (size_t i = 0; i < in.partitions.size(); ++i) {
    const auto& partition = in.partitions[i];
    Part& part = *std::construct_at(&parts_[part_count_++], *this);
    part.out = &out.partitions[i];
    part.out->partition_index = partition.partition_index;
    if (topic == nullptr || partition.partition_index < 0 ||
        partition.partition_index >= topic->partition_count) {
      part.error = ErrorCode::unknown_topic_or_partition;
    } else if (!is_supported(partition.timestamp, request_.api_version())) {
      part.error = ErrorCode::unsupported_version;
    } else if (in_.isolation_level < 0 || in_.isolation_level > kIsolationLevelMax) {
      part.error = ErrorCode::invalid_request;
    } else {
      part.topic = topic;
      part.lookup.key = {topic->serial, model::PartitionIndex(partition.partition_index)};
      part.timestamp = partition.timestamp;
      // The home core still says whether it serves the partition in this epoch.
      part.lookup.timestamp = is_tiered(part.timestamp) ? kLatest : part.timestamp;
      part.lookup.current_leader_epoch = partition.current_leader_epoch;
      part.lookup.read_committed = in_.isolation_level == kIsolationLevelMax;
    }
  }
}

void ListOffsetsHandler::mark_duplicates() {
  if (part_count_ < 2) return;
  Part** const sorted = arena().allocate_array<Part*>(part_count_);
  if (sorted == nullptr) return;
  size_t count = 0;
  for (size_t i = 0; i < part_count_; ++i) {
    if (parts_[i].topic != nullptr) sorted[count++] = &parts_[i];
  }
  std::sort(sorted, sorted + count, [](const Part* a, const Part* b) {
    return a->lookup.key == b->lookup.key ? a < b : a->lookup.key < b->lookup.key;
  });
  for (size_t i = 1; i < count; ++i) {
    if (sorted[i - 1]->lookup.key != sorted[i]->lookup.key) continue;
    sorted[i - 1]->error = sorted[i]->error = ErrorCode::invalid_request;
    sorted[i]->answered = true;
  }
}

void ListOffsetsHandler::send(Part& part) {
  if (part.error != ErrorCode::none) return;
  ++outstanding_;
  const auto home = context().catalog.home_core(*part.topic, part.lookup.key.index);
  context().io.mailboxes.send(home, model::ports::kListOffsets, part.lookup);
}

void ListOffsetsHandler::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ == 0) finish();
}

void ListOffsetsHandler::finish() {
  for (size_t i = 0; i < part_count_; ++i) {
    const Part& part = parts_[i];
    const ErrorCode error = part.error != ErrorCode::none ? part.error : part.lookup.error;
    part.out->error_code = static_cast<int16_t>(error);
    if (error != ErrorCode::none || is_tiered(part.timestamp)) continue;
    part.out->offset = part.lookup.offset.value();
    part.out->timestamp = part.lookup.found_timestamp;
    part.out->leader_epoch = part.lookup.leader_epoch;
    // An empty log has no record to tell the epoch; the next one there will be of this epoch.
    if (is_earliest(part.timestamp) && part.out->leader_epoch < 0) {
      part.out->leader_epoch = context().node.leader_epoch;
    }
  }
  drop_answered();
  request_.respond(out_);
}

// One answer for a partition, however often it was named.
void ListOffsetsHandler::drop_answered() {
  size_t next = 0;
  for (Response::Topic& topic : out_.topics) {
    size_t kept = 0;
    for (const Response::Partition& partition : topic.partitions) {
      if (!parts_[next++].answered) topic.partitions[kept++] = partition;
    }
    topic.partitions = {topic.partitions.data(), kept};
  }
}

}  // namespace weir::handlers
