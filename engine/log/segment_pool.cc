#include "engine/log/segment_pool.h"

#include <algorithm>
#include <utility>

#include "engine/log/file_names.h"
#include "io/base/assert.h"

namespace weir::log {

SegmentPool::SegmentPool(io::CoreIo& core, std::string directory, const Options& options)
    : core_(core), directory_(std::move(directory)), options_(options), cutter_(core) {
  op_.bind<&SegmentPool::on_step>(*this);
}

void SegmentPool::start() {
  ASSERT(!started_);
  run_ = core_.random.next();
  if (const auto total = core_.disk.total_bytes(directory_)) {
    options_.bytes_max = std::min(options_.bytes_max, *total / kShareOfDisk);
  }
  started_ = true;
}

void SegmentPool::stop() {
  stopped_ = true;
  cutter_.stop();
}

bool SegmentPool::wants(uint64_t size) const {
  return started_ && !stopped_ && size >= options_.file_bytes_min && size <= options_.bytes_max &&
         core_.clock.now() >= closed_until_;
}

std::string SegmentPool::new_path() {
  return pool_file(directory_, core_.index.value(), run_, next_number_++);
}

void SegmentPool::add(Spare spare) {
  spare.size -= spare.size % io::kBlockSize;
  if (!wants(spare.size)) return discard(std::move(spare));
  bytes_ += spare.size;
  spares_.push_back(std::move(spare));
  while (bytes_ > options_.bytes_max) condemn_oldest();
  next();
}

void SegmentPool::discard(Spare spare) {
  condemned_.push_back(std::move(spare));
  next();
}

void SegmentPool::condemn_oldest() {
  bytes_ -= spares_.front().size;
  condemned_.push_back(std::move(spares_.front()));
  spares_.pop_front();
}

std::optional<SegmentPool::Spare> SegmentPool::take(uint64_t size_min, uint64_t size_max) {
  auto best = spares_.end();
  for (auto it = spares_.begin(); it != spares_.end(); ++it) {
    if (it->size < size_min || it->size > size_max) continue;
    if (best == spares_.end() || it->size > best->size) best = it;
  }
  if (best == spares_.end()) return std::nullopt;
  Spare spare = std::move(*best);
  spares_.erase(best);
  bytes_ -= spare.size;
  return spare;
}

void SegmentPool::close_for_a_while() {
  closed_until_ = core_.clock.now() + kPauseWhenFull_ns;
}

void SegmentPool::give(io::Op& done) {
  close_for_a_while();
  asked_.push_back(&done);
  next();
}

void SegmentPool::on_no_room() {
  close_for_a_while();
  while (!spares_.empty()) condemn_oldest();
  next();
}

// Those who ask go first; they want the space now, not in steps.
void SegmentPool::next() {
  if (stage_ != Stage::idle) return;
  if (!asked_.empty()) {
    if (condemned_.empty() && !spares_.empty()) condemn_oldest();
    if (condemned_.empty()) {
      for (io::Op* done : std::exchange(asked_, {})) core_.loop.post(*done, 0);
      return;
    }
    work_ = std::move(condemned_.front());
    condemned_.pop_front();
    stage_ = Stage::giving;
    return core_.disk.remove(op_, work_.path.c_str());
  }
  if (condemned_.empty() || stopped_) return;
  work_ = std::move(condemned_.front());
  condemned_.pop_front();
  stage_ = Stage::cutting;
  cutter_.start(work_.path, work_.size, op_);
}

// Nothing here needs to succeed: what stays is removed by the next start.
void SegmentPool::on_step(io::Op&) {
  switch (std::exchange(stage_, Stage::idle)) {
    case Stage::cutting:
      stage_ = Stage::removing;
      return core_.disk.remove(op_, work_.path.c_str());
    case Stage::removing: return next();
    case Stage::giving:
      // Some file systems have the blocks again only when that is durable.
      stage_ = Stage::syncing;
      return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::syncing:
      for (io::Op* done : std::exchange(asked_, {})) core_.loop.post(*done, 0);
      return next();
    case Stage::idle: break;
  }
  UNREACHABLE("segment pool without an operation");
}

}  // namespace weir::log
