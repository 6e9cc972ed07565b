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
  current_ = &new_batch(partition);
}

void LogWriter::add(std::span<const std::byte> key, std::optional<std::span<const std::byte>> value,
                    std::span<const log::RecordHeader> headers) {
  ASSERT(current_ != nullptr);
  current_->builder.append(key, value, io_.clock.wall_ms(), headers);
  ++metrics_.log_records;
}

void LogWriter::wait(LogWrite& write) {
  ASSERT(current_ != nullptr && current_->builder.record_count() > 0);
  ASSERT(!write.in_flight_ && write.function_ != nullptr);
  write.in_flight_ = true;
  write.error = model::ErrorCode::none;
  write.outcome_unknown = false;
  current_->writes.push_back(write);
}

LogWriter::Batch& LogWriter::new_batch(model::PartitionIndex partition) {
  std::unique_ptr<Batch> batch;
  if (free_.empty()) {
    batch = std::make_unique<Batch>();
    batch->append.bind<&LogWriter::on_appended>(*this);
  } else {
    batch = std::move(free_.back());
    free_.pop_back();
  }
  batch->builder.reset({});
  batch->append.partition = partition;
  batch->append.error = model::ErrorCode::none;
  batch->append.outcome_unknown = false;
  dirty_.push_back(std::move(batch));
  return *(open_[partition.value()] = dirty_.back().get());
}

void LogWriter::on_turn_end(io::Op&) {
  current_ = nullptr;
  open_.clear();
  std::vector<std::unique_ptr<Batch>> dirty;
  dirty.swap(dirty_);
  for (std::unique_ptr<Batch>& owned : dirty) {
    Batch& batch = *owned;
    ASSERT(batch.builder.record_count() > 0, "opened and left empty");
    batch.append.batch = batch.builder.finish();
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
