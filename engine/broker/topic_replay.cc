#include "engine/broker/topic_replay.h"

namespace weir::broker {
namespace {

constexpr uint64_t kReadSize = 1 << 20;

}  // namespace

TopicReplay::TopicReplay(io::CoreIo& io, partition::PartitionTable& table)
    : io_(io), table_(table), reader_(io) {
  read_op_.bind<&TopicReplay::on_read>(*this);
}

void TopicReplay::start(const catalog::Topic& topic, const catalog::Catalog& catalog,
                        ReplaySink& sink, io::Op& done) {
  sink_ = &sink;
  done_ = &done;
  partitions_.clear();
  for (int32_t i = 0; i < topic.partition_count; ++i) {
    const model::PartitionIndex index(i);
    if (catalog.home_core(topic, index) != io_.index) continue;
    partition::Partition* partition = table_.find({topic.serial, index});
    if (partition && partition->high_watermark() > partition->log_start_offset()) {
      partitions_.push_back(partition);
    }
  }
  next_ = 0;
  if (!partitions_.empty()) offset_ = partitions_[0]->log_start_offset();
  step();
}

void TopicReplay::step() {
  while (next_ < partitions_.size()) {
    partition::Partition& partition = *partitions_[next_];
    if (offset_ >= partition.high_watermark()) {
      if (++next_ < partitions_.size()) offset_ = partitions_[next_]->log_start_offset();
      continue;
    }
    const log::SegmentReader::Wish wish{
        .offset = offset_, .size_max = kReadSize, .first_batch_whole = true};
    if (!reader_.start(partition.log(), wish, lease_, read_op_)) return;
    take();
  }
  io_.loop.post(*done_, 0);
}

void TopicReplay::on_read(io::Op&) {
  take();
  step();
}

void TopicReplay::take() {
  bytes_.clear();
  for (const io::Slice& piece : lease_.pieces) {
    bytes_.insert(bytes_.end(), piece.data, piece.data + piece.size);
  }
  lease_.release();
  if (bytes_.empty()) {
    // A damaged range: what it held is lost, what lies behind it is not.
    offset_ = partitions_[next_]->log().offset_after_damage(offset_);
    return;
  }
  replayed_bytes_ += bytes_.size();
  sink_->replay(partitions_[next_]->key().index, bytes_);
  for (std::span<const std::byte> left = bytes_; !left.empty();) {
    const log::BatchView batch(left);
    offset_ = batch.next_offset();
    left = left.subspan(batch.size());
  }
}

}  // namespace weir::broker
