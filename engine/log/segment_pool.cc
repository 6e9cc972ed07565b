#include "engine/log/segment_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/base/assert.h"

namespace weir::log {

SegmentPool::SegmentPool(io::CoreIo& core, std::string directory, const Options& options)
    : core_(core), directory_(std::move(directory)), options_(options), cutter_(core) {
  op_.bind<&SegmentPool::on_step>(*this);
}

std::string SegmentPool::directory_in(std::string_view data) {
  return fmt::format("{}/pool", data);
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
  return fmt::format("{}/core-{}.{:016x}.{}", directory_, core_.index.value(), run_,
                     next_number_++);
}

bool SegmentPool::is_file_name(std::string_view name) {
  constexpr std::string_view kBegin = "core-";
  constexpr std::string_view kDecimal = "0123456789";
  constexpr size_t kRunDigits = 16;
  const size_t run = name.find('.') + 1;
  if (!name.starts_with(kBegin) || run == 0) return false;
  const size_t number = name.find('.', run) + 1;
  if (number != run + kRunDigits + 1) return false;
  const auto consists_of = [](std::string_view text, std::string_view digits) {
    return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
  };
  return consists_of(name.substr(kBegin.size(), run - 1 - kBegin.size()), kDecimal) &&
         consists_of(name.substr(run, kRunDigits), "0123456789abcdef") &&
         consists_of(name.substr(number), kDecimal);
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
