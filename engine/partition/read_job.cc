#include "engine/partition/read_job.h"

#include <algorithm>
#include <utility>

#include "engine/partition/partition_table.h"
#include "engine/partition/read_gate.h"

namespace weir::partition {

using model::ErrorCode;

ReadJob::ReadJob(PartitionTable& table, Services& services)
    : table_(table), services_(services), reader_(services.io) {
  read_op_.bind<&ReadJob::on_read>(*this);
}

void ReadJob::start(ReadRequest& request) {
  request_ = &request;
  request.lease = this;
  next_ = 0;
  left_ = request.size_max;
  first_ = request.first_batch_whole;
  admitted_ = false;
  found_.assign(request.items.size(), {});
  step();
}

void ReadJob::step() {
  while (next_ < request_->items.size()) {
    ReadItem& item = request_->items[next_];
    Partition* partition = table_.find(item.key);
    if (!partition) {
      item.error = ErrorCode::unknown_topic_or_partition;
    } else if (check(*partition, item) && may_take()) {
      if (!read(*partition, item)) return;  // on_read goes on
    } else if (waits_) {
      return;
    }
    ++next_;
  }
  finish();
}

// False: not now (waits_), or nothing more: what there is, is answered.
bool ReadJob::may_take() {
  ReadGate& gate = table_.read_gate();
  if (!lease_.pieces.empty()) {
    if (gate.roomy()) return true;
    take_no_more();
    return false;
  }
  if (admitted_ ? gate.open() : gate.admits()) {
    if (!gate.roomy()) left_ = std::min<uint64_t>(left_, ReadGate::kLittle);
    return true;
  }
  waits_ = true;
  gate.wait(*this);
  return false;
}

void ReadJob::take_no_more() {
  left_ = 0;
  first_ = false;
}

void ReadJob::admitted() {
  waits_ = false;
  admitted_ = true;
  step();
}

void ReadJob::turned_away() {
  waits_ = false;
  take_no_more();
  step();
}

// Offsets and epochs; false when there is nothing to read. One snapshot for the whole item (CASES
// C51).
bool ReadJob::check(Partition& partition, ReadItem& item) {
  const int32_t epoch = partition.leader_epoch();
  if (item.current_leader_epoch >= 0 && item.current_leader_epoch != epoch) {
    item.error = item.current_leader_epoch < epoch ? ErrorCode::fenced_leader_epoch
                                                   : ErrorCode::unknown_leader_epoch;
    return false;
  }
  const model::Offset start = partition.log_start_offset();
  const model::Offset high_watermark = partition.high_watermark();
  if (item.fetch_offset < start || item.fetch_offset > high_watermark) {
    item.error = ErrorCode::offset_out_of_range;
    return false;
  }
  if (item.last_fetched_epoch >= 0) {
    const auto [found, end] = partition.log().epoch_end(item.last_fetched_epoch);
    if (found < 0) {
      item.error = ErrorCode::offset_out_of_range;
      return false;
    }
    if (found < item.last_fetched_epoch || end < item.fetch_offset) {
      item.diverging_epoch = found;
      item.diverging_end_offset = end;
    }
  }
  item.high_watermark = high_watermark;
  item.last_stable_offset = partition.last_stable_offset();
  item.log_start_offset = start;
  const model::Offset limit =
      item.read_committed ? item.last_stable_offset : item.high_watermark;
  return item.diverging_epoch < 0 && item.fetch_offset < limit && (left_ > 0 || first_);
}

bool ReadJob::read(Partition& partition, ReadItem& item) {
  piece_begin_ = lease_.pieces.size();
  const log::SegmentReader::Wish wish{.offset = item.fetch_offset,
                                      .size_max = std::min<uint64_t>(item.size_max, left_),
                                      .first_batch_whole = first_,
                                      .end = item.read_committed ? item.last_stable_offset
                                                                 : item.high_watermark};
  partition.begin_read();
  if (reader_.start(partition.log(), wish, lease_, read_op_)) {
    take(partition, item);
    partition.end_read();
    return true;
  }
  ++services_.metrics.cold_reads;
  reading_ = &partition;
  return false;
}

void ReadJob::on_read(io::Op&) {
  take(*reading_, request_->items[next_]);
  ++next_;
  std::exchange(reading_, nullptr)->end_read();
  step();
}

void ReadJob::take(Partition& partition, ReadItem& item) {
  item.error = reader_.error();
  if (item.error != ErrorCode::none) {
    item.high_watermark = item.last_stable_offset = item.log_start_offset = model::kNoOffset;
    return;
  }
  item.size = reader_.size();
  const size_t aborted_begin = aborted_.size();
  // What lies below the last stable offset does not change any more, so a read that took its time
  // finds the same.
  if (item.read_committed && item.size > 0) {
    partition.producers().transactions().find_aborted(item.fetch_offset, reader_.next_offset(),
                                                      aborted_);
  }
  found_[next_] = {piece_begin_, lease_.pieces.size() - piece_begin_, aborted_begin,
                   aborted_.size() - aborted_begin};
  left_ -= std::min<uint64_t>(left_, item.size);
  if (item.size > 0) first_ = false;
  services_.metrics.read_bytes += item.size;
}

void ReadJob::finish() {
  for (size_t i = 0; i < found_.size(); ++i) {
    request_->items[i].pieces =
        std::span(lease_.pieces).subspan(found_[i].first_piece, found_[i].piece_count);
    request_->items[i].aborted =
        std::span(aborted_).subspan(found_[i].first_aborted, found_[i].aborted_count);
  }
  services_.io.mailboxes.reply(*std::exchange(request_, nullptr));
}

void ReadJob::release() {
  lease_.release();
  aborted_.clear();
}

}  // namespace weir::partition
