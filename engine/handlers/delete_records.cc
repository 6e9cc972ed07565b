#include "engine/handlers/delete_records.h"

#include "engine/catalog/catalog.h"
#include "engine/handlers/context.h"
#include "engine/model/ports.h"

namespace weir::handlers {

using model::ErrorCode;

namespace {

// Kafka's order: the partition, the kind of topic, its policy; offsets only where the log is.
ErrorCode check(const catalog::Topic* topic, int32_t partition) {
  if (topic == nullptr || partition < 0 || partition >= topic->partition_count) {
    return ErrorCode::unknown_topic_or_partition;
  }
  if (topic->internal) return ErrorCode::invalid_topic_exception;
  const bool only_compacts = topic->config.compacts() && !topic->config.deletes();
  return only_compacts ? ErrorCode::policy_violation : ErrorCode::none;
}

}  // namespace

void start_delete_records(Request& request) { request.run<DeleteRecordsHandler>(); }

DeleteRecordsHandler::~DeleteRecordsHandler() { std::destroy_n(parts_, part_count_); }

void DeleteRecordsHandler::start() {
  if (!request_.decode(in_)) return;
  if (!prepare()) return request_.close_connection("request too large for its memory");
  outstanding_ = 1;
  for (size_t i = 0; i < in_.topics.size(); ++i) ask_topic(in_.topics[i], out_.topics[i]);
  if (--outstanding_ == 0) finish();
}

// All memory is taken before the first message leaves: with messages away there is no way back.
bool DeleteRecordsHandler::prepare() {
  size_t count = 0;
  for (const auto& topic : in_.topics) count += topic.partitions.size();
  parts_ = static_cast<Part*>(arena().allocate(count * sizeof(Part), alignof(Part)));
  out_.topics = wire::make_array<Response::Topic>(arena(), in_.topics.size());
  if ((parts_ == nullptr && count > 0) || out_.topics.is_null()) return false;
  for (size_t i = 0; i < in_.topics.size(); ++i) {
    out_.topics[i].name = in_.topics[i].name;
    out_.topics[i].partitions =
        wire::make_array<Response::Partition>(arena(), in_.topics[i].partitions.size());
    if (out_.topics[i].partitions.is_null()) return false;
  }
  return true;
}

void DeleteRecordsHandler::ask_topic(const wire::DeleteRecordsRequest::Topic& in,
                                     Response::Topic& out) {
  const catalog::Topic* const topic = context().catalog.find(in.name);
  for (size_t i = 0; i < in.partitions.size(); ++i) {
    const auto& partition = in.partitions[i];
    Part& part = *std::construct_at(&parts_[part_count_++], *this);
    part.out = &out.partitions[i];
    part.out->partition_index = partition.partition_index;
    part.error = check(topic, partition.partition_index);
    if (part.error != ErrorCode::none) continue;
    part.cut.key = {topic->serial, model::PartitionIndex(partition.partition_index)};
    part.cut.offset = model::Offset(partition.offset);
    ++outstanding_;
    const auto home = context().catalog.home_core(*topic, part.cut.key.index);
    context().io.mailboxes.send(home, model::ports::kDeleteRecords, part.cut);
  }
}

void DeleteRecordsHandler::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ == 0) finish();
}

void DeleteRecordsHandler::finish() {
  for (size_t i = 0; i < part_count_; ++i) {
    const Part& part = parts_[i];
    const ErrorCode error = part.error != ErrorCode::none ? part.error : part.cut.error;
    part.out->error_code = static_cast<int16_t>(error);
    part.out->low_watermark = error == ErrorCode::none ? part.cut.low_watermark.value() : -1;
  }
  request_.respond(out_);
}

}  // namespace weir::handlers
