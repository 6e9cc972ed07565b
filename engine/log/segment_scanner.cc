#include "engine/log/segment_scanner.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::log {

SegmentScanner::SegmentScanner(io::CoreIo& core, BufferPool& pool)
    : core_(core), pool_(pool), loader_(core.disk, core.loop) {
  op_.bind<&SegmentScanner::on_step>(*this);
  read_.bind<&SegmentScanner::on_read>(*this);
}

SegmentScanner::~SegmentScanner() { release_window(); }

void SegmentScanner::open(const std::string& directory, Segment& segment, io::Op& done) {
  ASSERT(stage_ == Stage::idle && !is_open() && segment.sealed);
  segment_ = &segment;
  ++segment.users;
  done_ = &done;
  group_ = 0;
  path_ = segment_file(directory, segment.name, kLogSuffix);
  scratch_ = std::make_unique<Segment>(segment.name, pool_);
  scratch_->end = segment.end;
  scratch_->gathered_offset = segment.gathered_offset;
  scratch_->ledger_loaded = false;
  stage_ = Stage::loading;
  loader_.start(directory, *scratch_, segment.end, true, op_);
}

void SegmentScanner::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::loading:
      if (result < 0) return finish(result);
      stage_ = Stage::opening;
      return core_.disk.open(op_, path_.c_str(), {.direct = true, .writable = false});
    case Stage::opening:
      if (result >= 0) file_ = io::FileId(result);
      return finish(std::min(result, 0));
    case Stage::closing:
      --std::exchange(segment_, nullptr)->users;
      scratch_.reset();
      return finish(0);
    case Stage::reading:
    case Stage::idle: break;
  }
  UNREACHABLE("segment scanner stage {}", static_cast<int>(stage_));
}

void SegmentScanner::read(io::Op& done) {
  ASSERT(stage_ == Stage::idle && file_ != io::kNoFile);
  done_ = &done;
  bytes_ = {};
  release_window();
  const auto& groups = ledger().groups();
  if (group_ == groups.size()) return finish(0);
  const uint64_t first = groups[group_].position;
  for (group_end_ = group_; group_end_ < groups.size(); ++group_end_) {
    const Group& group = groups[group_end_];
    if (group.flags & Group::kQuarantined) return finish(-EBADMSG);
    if (group_end_ > group_ && group.end() - first > kWindowMax) break;
  }
  window_begin_ = base::round_down(first, io::kBlockSize);
  const uint64_t size =
      base::round_up(groups[group_end_ - 1].end(), io::kBlockSize) - window_begin_;
  window_ = pool_.allocate_whole(size);
  stage_ = Stage::reading;
  read_.start(core_.disk, file_, {window_.memory, size}, window_begin_);
}

void SegmentScanner::on_read(io::WholeRead& read) {
  ASSERT(stage_ == Stage::reading);
  if (read.error() != 0) return finish(-read.error());
  if (window_begin_ + read.done() < ledger().groups()[group_end_ - 1].end()) {
    return finish(-EBADMSG);  // the file is shorter than it was
  }
  take_window();
}

void SegmentScanner::take_window() {
  const auto& groups = ledger().groups();
  for (size_t i = group_; i < group_end_; ++i) {
    const std::span<const std::byte> bytes(
        window_.memory + (groups[i].position - window_begin_), groups[i].size);
    if (base::crc32c(bytes) == groups[i].checksum) continue;
    base::log_error("log", "damaged group file={} position={} size={} offsets={}..{}", path_,
                    groups[i].position, groups[i].size, groups[i].base_offset.value(),
                    groups[i].next_offset.value() - 1);
    return finish(-EBADMSG);
  }
  bytes_ = {window_.memory + (groups[group_].position - window_begin_),
            groups[group_end_ - 1].end() - groups[group_].position};
  group_ = group_end_;
  finish(0);
}

void SegmentScanner::close(io::Op& done) {
  ASSERT(stage_ == Stage::idle && is_open());
  done_ = &done;
  bytes_ = {};
  release_window();
  stage_ = Stage::closing;
  if (file_ == io::kNoFile) return core_.loop.post(op_);
  core_.disk.close(op_, std::exchange(file_, io::kNoFile));
}

void SegmentScanner::release_window() {
  if (window_.memory != nullptr) pool_.release(std::exchange(window_, {}));
}

void SegmentScanner::finish(int32_t result) {
  stage_ = Stage::idle;
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
