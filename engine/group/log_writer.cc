#include "engine/group/log_writer.h"

#include "engine/group/limits.h"

namespace weir::group {

LogWriter::LogWriter(io::CoreIo& io, GroupLog& log, GroupMetrics& metrics)
    : io_(io), log_(log), metrics_(metrics) {
  turn_end_.bind<&LogWriter::on_turn_end>(*this);
}

LogWriter::~LogWriter() = default;

void LogWriter::open(model::PartitionIndex partition, size_t size) {
  if (!turn_end_.armed()) io_.loop.at_turn_end(turn_end_);
  const auto found = open_.find(partition.value());
  if (found != open_.end() && found->second->builder.size() + size <= kLogBatchSizeMax) {
    current_ = found->second;
    return;
  }
  current_ = open_[partition.value()] = &new_batch(partition);
}

void LogWriter::open_transactional(model::PartitionIndex partition, model::ProducerId producer_id,
                                   model::ProducerEpoch producer_epoch, uint64_t transaction) {
  if (!turn_end_.armed()) io_.loop.at_turn_end(turn_end_);
  current_ = &new_batch(partition, {.producer_id = producer_id,
                                    .producer_epoch = producer_epoch,
                                    .transactional = true});
  current_->append.origin.transaction = transaction;
}

void LogWriter::write_marker(const partition::MarkerRequest& request, LogWrite& write) {
  if (!turn_end_.armed()) io_.loop.at_turn_end(turn_end_);
  current_ = &new_batch(request.key.index);
  current_->is_marker = true;
  current_->append.origin = request.origin;
  log::encode_marker(request.marker, request.producer_id, request.producer_epoch,
                     io_.clock.wall_ms(), current_->marker);
  wait(write);
}

void LogWriter::add(std::span<const std::byte> key, std::optional<std::span<const std::byte>> value,
                    std::span<const log::RecordHeader> headers) {
  ASSERT(current_ != nullptr);
  current_->builder.append(key, value, io_.clock.wall_ms(), headers);
  ++metrics_.log_records;
}

void LogWriter::wait(LogWrite& write) {
  ASSERT(current_ != nullptr && current_->has_content());
  ASSERT(!write.in_flight_ && write.function_ != nullptr);
  write.in_flight_ = true;
  write.error = model::ErrorCode::none;
  write.outcome_unknown = false;
  current_->writes.push_back(write);
}

// What was open stays as it is: records keep their order.
LogWriter::Batch& LogWriter::new_batch(model::PartitionIndex partition,
                                       const log::BatchOptions& options) {
  std::unique_ptr<Batch> batch;
  if (free_.empty()) {
    batch = std::make_unique<Batch>();
    batch->append.bind<&LogWriter::on_appended>(*this);
  } else {
    batch = std::move(free_.back());
    free_.pop_back();
  }
  batch->builder.reset(options);
  batch->is_marker = false;
  batch->append.origin = {};
  batch->append.partition = partition;
  batch->append.error = model::ErrorCode::none;
  batch->append.outcome_unknown = false;
  open_.erase(partition.value());
  dirty_.push_back(std::move(batch));
  return *dirty_.back();
}

void LogWriter::on_turn_end(io::Op&) {
  current_ = nullptr;
  open_.clear();
  std::vector<std::unique_ptr<Batch>> dirty;
  dirty.swap(dirty_);
  for (std::unique_ptr<Batch>& owned : dirty) {
    Batch& batch = *owned;
    ASSERT(batch.has_content(), "opened and left empty");
    if (batch.is_marker) batch.append.batch = batch.marker;
    else batch.append.batch = batch.builder.finish();
    ++metrics_.log_batches;
    ++batches_in_flight_;
    in_flight_.emplace(&batch.append, std::move(owned));
    log_.append(batch.append);
  }
  // Keeps the memory of the vector for the next turn.
  dirty.clear();
  if (dirty_.empty()) dirty_.swap(dirty);
}

void LogWriter::on_appended(GroupAppend& append) {
  auto node = in_flight_.extract(&append);
  ASSERT(!node.empty());
  std::unique_ptr<Batch> batch = std::move(node.mapped());
  --batches_in_flight_;
  if (append.error != model::ErrorCode::none || append.outcome_unknown) ++metrics_.log_failures;
  // A write's owner may end its life while it runs, and may open new batches, never this one.
  while (LogWrite* write = batch->writes.pop_front()) {
    write->in_flight_ = false;
    write->error = append.error;
    write->outcome_unknown = append.outcome_unknown;
    write->function_(write->owner_, *write);
  }
  if (free_.size() < kFreeBatchesMax && batch->builder.size() <= kFreeBatchSizeMax) {
    free_.push_back(std::move(batch));
  }
}

}  // namespace weir::group
