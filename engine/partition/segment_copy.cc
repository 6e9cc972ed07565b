#include "engine/partition/segment_copy.h"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/log/record_batch.h"
#include "io/waiter.h"

namespace weir::partition {

SegmentCopy::SegmentCopy(io::CoreIo& core, std::string directory, const log::SegmentName& name,
                         int32_t epoch)
    : core_(core),
      directory_(std::move(directory)),
      name_(name),
      pool_(0),
      file_(core, pool_),
      epoch_(epoch) {}

SegmentCopy::~SegmentCopy() {
  if (file_.is_open() && !file_.busy()) step([&](io::Op& op) { file_.abandon(op); });
}

base::Status SegmentCopy::start() {
  return step([&](io::Op& op) { file_.start(directory_, name_, op); });
}

base::Status SegmentCopy::add(std::span<const std::byte> batch) {
  epoch_ = log::BatchView(batch).leader_epoch();
  file_.add(batch);
  if (!file_.wants_write()) return {};
  return step([&](io::Op& op) { file_.write(op); });
}

base::Status SegmentCopy::commit() {
  if (file_.next_offset() < name_.next_offset) add_end();
  CHECK_OK(step([&](io::Op& op) { file_.commit(op); }));
  file_.take_segment();
  return {};
}

void SegmentCopy::add_end() {
  std::vector<std::byte> bytes(log::kBatchHeaderSize);
  const auto put = [&](size_t at, auto value) { base::store_be(bytes.data() + at, value); };
  log::set_base_offset(bytes, name_.next_offset - 1);
  log::set_leader_epoch(bytes, epoch_);
  put(log::batch_position::kMagic, log::kBatchMagic);
  put(log::batch_position::kBaseTimestamp, model::kNoTimestamp);
  put(log::batch_position::kMaxTimestamp, model::kNoTimestamp);
  put(log::batch_position::kProducerId, model::kNoProducerId.value());
  put(log::batch_position::kProducerEpoch, int16_t{-1});
  put(log::batch_position::kBaseSequence, int32_t{-1});
  log::seal_batch(bytes);
  file_.add(bytes);
}

template <class Begin>
base::Status SegmentCopy::step(const Begin& begin) {
  io::Waiter waiter;
  begin(waiter.op);
  while (file_.busy() && file_.pending().armed()) core_.loop.run_until(file_.pending());
  // Only in a simulated world that died is it busy with nothing to wait for.
  if (file_.busy()) return base::error(EIO, "the machine stopped while a segment was written");
  core_.loop.run_until(waiter.op);
  if (waiter.op.armed()) waiter.op.abandon();
  if (waiter.op.result() >= 0) return {};
  return base::error(-waiter.op.result(),
                     fmt::format("cannot write {}{}: {}",
                                 log::segment_file(directory_, name_, log::kLogSuffix),
                                 file_.in_doubt() ? ", whether it counts the next start will say"
                                                  : "",
                                 std::strerror(-waiter.op.result())));
}

}  // namespace weir::partition
