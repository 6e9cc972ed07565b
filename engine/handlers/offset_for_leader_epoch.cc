#include "engine/handlers/offset_for_leader_epoch.h"

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

void start_offset_for_leader_epoch(Request& request) {
  request.run<OffsetForLeaderEpochHandler>();
}

OffsetForLeaderEpochHandler::~OffsetForLeaderEpochHandler() {
  std::destroy_n(parts_, part_count_);
}

void OffsetForLeaderEpochHandler::start() {
  if (!request_.decode(in_)) return;
  if (!prepare()) return request_.close_connection("request too large for its memory");
  outstanding_ = 1;
  for (size_t i = 0; i < in_.topics.size(); ++i) ask_topic(in_.topics[i], out_.topics[i]);
  if (--outstanding_ == 0) finish();
}

// All memory is taken before the first message leaves: with messages away there is no way back.
bool OffsetForLeaderEpochHandler::prepare() {
  size_t count = 0;
  for (const auto& topic : in_.topics) count += topic.partitions.size();
  parts_ = static_cast<Part*>(arena().allocate(count * sizeof(Part), alignof(Part)));
  out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
  if ((parts_ == nullptr && count > 0) || out_.topics.is_null()) return false;
  for (size_t i = 0; i < in_.topics.size(); ++i) {
    out_.topics[i].topic = in_.topics[i].topic;
    out_.topics[i].partitions =
        wire::make_array<Response::Partition>(arena(), in_.topics[i].partitions.size());
    if (out_.topics[i].partitions.is_null()) return false;
  }
  return true;
}

void OffsetForLeaderEpochHandler::ask_topic(const wire::OffsetForLeaderEpochRequest::Topic& in,
                                            Response::Topic& out) {
  const catalog::Topic* const topic = context().catalog.find(in.topic);
  for (size_t i = 0; i < in.partitions.size(); ++i) {
    const auto& partition = in.partitions[i];
    Part& part = *std::construct_at(&parts_[part_count_++], *this);
    part.out = &out.partitions[i];
    part.out->partition = partition.partition;
    if (topic == nullptr || partition.partition < 0 ||
        partition.partition >= topic->partition_count) {
      part.out->error_code = static_cast<int16_t>(ErrorCode::unknown_topic_or_partition);
      continue;
    }
    part.lookup.key = {topic->serial, model::PartitionIndex(partition.partition)};
    part.lookup.current_leader_epoch = partition.current_leader_epoch;
    part.lookup.leader_epoch = partition.leader_epoch;
    part.sent = true;
    ++outstanding_;
    const auto home = context().catalog.home_core(*topic, part.lookup.key.index);
    context().io.mailboxes.send(home, model::ports::kEpochEnd, part.lookup);
  }
}

void OffsetForLeaderEpochHandler::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ == 0) finish();
}

void OffsetForLeaderEpochHandler::finish() {
  for (size_t i = 0; i < part_count_; ++i) {
    const Part& part = parts_[i];
    if (!part.sent) continue;
    part.out->error_code = static_cast<int16_t>(part.lookup.error);
    if (part.lookup.error != ErrorCode::none) continue;
    part.out->leader_epoch = part.lookup.found_epoch;
    part.out->end_offset = part.lookup.end_offset.value();
  }
  request_.respond(out_);
}

}  // namespace weir::handlers
