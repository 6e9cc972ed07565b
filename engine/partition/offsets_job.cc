#include "engine/partition/offsets_job.h"

#include <algorithm>
#include <utility>

#include "engine/log/time_search.h"
#include "engine/partition/partition_table.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

constexpr int64_t kMaxTimestamp = -3;
constexpr uint64_t kReadSize = 1 << 20;

}  // namespace

OffsetsJob::OffsetsJob(PartitionTable& table, Services& services)
    : table_(table),
      services_(services),
      loader_(services.io.disk, services.io.loop),
      reader_(services.io) {
  ledger_op_.bind<&OffsetsJob::on_ledger>(*this);
  read_op_.bind<&OffsetsJob::on_read>(*this);
}

void OffsetsJob::start(OffsetsRequest& request, Partition& partition) {
  request_ = &request;
  partition_ = &partition;
  partition.begin_read();
  largest_ = request.timestamp == kMaxTimestamp;
  wanted_ = request.timestamp;
  limit_ = request.read_committed ? partition.last_stable_offset() : partition.high_watermark();
  position_ = partition.log_start_offset();
  phase_ = Phase::ledgers;
  step();
}

void OffsetsJob::step() {
  // Again after every wait: a compacted segment may have taken the place of others.
  for (const auto& segment : partition_->log().segments()) {
    if (segment->ledger_loaded) continue;
    return loader_.start(partition_->log().directory(), *segment, segment->end, true, ledger_op_);
  }
  if (largest_ && replacements_ != partition_->log().replacements()) phase_ = Phase::ledgers;
  if (phase_ == Phase::ledgers) {
    phase_ = Phase::search;
    if (largest_) begin_largest();
  }
  while (true) {
    // Meanwhile the log may have begun to start further on.
    position_ = std::max(position_, partition_->log_start_offset());
    if (phase_ == Phase::largest && position_ >= head_end_) {
      position_ = std::max(position_, tail_begin_);
    }
    if (phase_ == Phase::search) {
      // The next group that may hold it; groups before are skipped by their summaries.
      model::Offset next = limit_;
      for (const auto& segment : partition_->log().segments()) {
        const auto& groups = segment->ledger.groups();
        const size_t group = segment->ledger.find_timestamp(
            wanted_, segment->ledger.find(position_));
        if (group == groups.size()) continue;
        next = std::max(position_, groups[group].base_offset);
        break;
      }
      position_ = next;
    }
    if (position_ >= limit_) {
      if (phase_ == Phase::search) return finish(ErrorCode::none);
      phase_ = Phase::search;
      position_ = partition_->log_start_offset();
      if (wanted_ < 0 && largest_) return finish(ErrorCode::none);
      continue;
    }
    if (!read_at(position_)) return;
    after_read();
    if (!request_) return;
  }
}

// The largest timestamp of the groups that are wholly visible; those that are not, at either end,
// are looked at by batches.
void OffsetsJob::begin_largest() {
  wanted_ = -1;
  replacements_ = partition_->log().replacements();
  const model::Offset start = partition_->log_start_offset();
  position_ = head_end_ = start;
  tail_begin_ = limit_;
  for (const auto& segment : partition_->log().segments()) {
    for (const auto& group : segment->ledger.groups()) {
      if (group.next_offset <= start) continue;
      if (group.next_offset > limit_) {
        tail_begin_ = std::min(tail_begin_, std::max(start, group.base_offset));
      } else if (group.base_offset < start) {
        head_end_ = group.next_offset;
      } else {
        wanted_ = std::max(wanted_, group.max_timestamp);
      }
    }
  }
  phase_ = Phase::largest;
}

bool OffsetsJob::read_at(model::Offset offset) {
  return reader_.start(partition_->log(),
                       {.offset = offset, .size_max = kReadSize, .first_batch_whole = true},
                       lease_, read_op_);
}

void OffsetsJob::on_ledger(io::Op& op) {
  if (op.result() < 0) return finish(ErrorCode::kafka_storage_error);
  step();
}

void OffsetsJob::on_read(io::Op&) {
  after_read();
  if (request_) step();
}

void OffsetsJob::after_read() {
  if (reader_.error() != ErrorCode::none) return finish(reader_.error());
  bytes_.clear();
  for (const io::Slice& piece : lease_.pieces) {
    bytes_.insert(bytes_.end(), piece.data, piece.data + piece.size);
  }
  lease_.release();
  if (bytes_.empty()) return finish(ErrorCode::none);
  if (phase_ == Phase::largest) return weigh_batches();
  if (search_batches()) finish(ErrorCode::none);
}

bool OffsetsJob::search_batches() {
  for (std::span<const std::byte> left = bytes_; !left.empty();) {
    const log::BatchView batch(left);
    const auto whole = left.first(batch.size());
    left = left.subspan(batch.size());
    position_ = batch.next_offset();
    const auto found =
        log::find_timestamp(whole, wanted_, partition_->log_start_offset(), inflater_);
    if (!found) continue;
    if (found->offset < limit_) {
      request_->offset = found->offset;
      request_->found_timestamp = found->timestamp;
      request_->leader_epoch = batch.leader_epoch();
    }
    return true;
  }
  return false;
}

void OffsetsJob::weigh_batches() {
  for (std::span<const std::byte> left = bytes_; !left.empty();) {
    const log::BatchView batch(left);
    const auto whole = left.first(batch.size());
    left = left.subspan(batch.size());
    position_ = batch.next_offset();
    if (batch.next_offset() > limit_) continue;
    wanted_ = std::max(wanted_, log::largest_timestamp(whole, partition_->log_start_offset(),
                                                       inflater_));
  }
}

void OffsetsJob::finish(model::ErrorCode error) {
  request_->error = error;
  OffsetsRequest& request = *std::exchange(request_, nullptr);
  Partition& partition = *std::exchange(partition_, nullptr);
  table_.done(*this);
  services_.io.mailboxes.reply(request);
  partition.end_read();
}

}  // namespace weir::partition
