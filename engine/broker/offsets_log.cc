#include "engine/broker/offsets_log.h"

#include <cerrno>
#include <utility>

#include "engine/model/planted.h"
#include "engine/model/ports.h"

namespace weir::broker {
namespace {

constexpr uint64_t kReadSize = 1 << 20;

}  // namespace

void OffsetsLog::append(group::GroupAppend& append) {
  if (free_.empty()) {
    writes_.push_back(std::make_unique<Write>(*this));
    free_.push_back(writes_.back().get());
  }
  Write& write = *free_.back();
  free_.pop_back();
  write.append = &append;
  const catalog::Topic* topic = catalog_.find(kOffsetsTopic);
  // Without the topic the serial is one that no partition has, and the answer says so.
  write.request.key = {topic ? topic->serial : model::TopicSerial(0), append.partition};
  write.request.batch = append.batch;
  write.request.error = model::ErrorCode::none;
  write.request.outcome_unknown = false;
  io_.mailboxes.send(io_.index, model::ports::kAppend, write.request);
}

void OffsetsLog::Write::on_reply(io::Message&) {
  group::GroupAppend& done = *std::exchange(append, nullptr);
  done.error = request.error;
  done.outcome_unknown = request.outcome_unknown;
  owner.free_.push_back(this);
  done.complete();
}

OffsetsReplay::OffsetsReplay(io::CoreIo& io, partition::PartitionTable& table,
                             group::GroupCoordinator& groups)
    : io_(io), table_(table), groups_(groups), reader_(io) {
  read_op_.bind<&OffsetsReplay::on_read>(*this);
}

void OffsetsReplay::start(const catalog::Topic& topic, const catalog::Catalog& catalog,
                          io::Op& done) {
  done_ = &done;
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

void OffsetsReplay::step() {
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

void OffsetsReplay::on_read(io::Op&) {
  take();
  step();
}

void OffsetsReplay::take() {
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
  groups_.replay(partitions_[next_]->key().index, bytes_);
  for (std::span<const std::byte> left = bytes_; !left.empty();) {
    const log::BatchView batch(left);
    offset_ = batch.next_offset();
    left = left.subspan(batch.size());
  }
}

}  // namespace weir::broker
