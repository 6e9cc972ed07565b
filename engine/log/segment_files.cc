#include "engine/log/segment_files.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/log/file_names.h"
#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::log {

using base::operator""_KiB;
using base::operator""_MiB;

namespace {

// A ledger that is not whole is rebuilt when it is asked for: no reason to stop.
bool lacks_descriptors(int error) { return error == EMFILE || error == ENFILE; }
bool lacks_space(int error) {
  return error == ENOSPC || error == EDQUOT || lacks_descriptors(error);
}

}  // namespace

uint64_t allocation_step(uint64_t allocated) {
  return std::clamp<uint64_t>(base::round_up(allocated, io::kBlockSize), 256_KiB, 64_MiB);
}

SegmentMaker::SegmentMaker(io::CoreIo& core) : core_(core) {
  op_.bind<&SegmentMaker::on_step>(*this);
}

void SegmentMaker::start(const std::string& parent, const std::string& directory,
                         bool make_directory, model::Offset base_offset, uint64_t size_wanted,
                         io::Op& done, std::optional<SegmentPool::Spare> spare) {
  ASSERT(stage_ == Stage::idle && (!spare || spare->size >= size_wanted));
  parent_ = parent;
  directory_ = directory;
  path_ = segment_file(directory, base_offset, kLogSuffix);
  allocated_ = base::round_up(std::max(size_wanted, allocation_step(0)), io::kBlockSize);
  spare_ = std::move(spare);
  file_ = io::kNoFile;
  failure_ = 0;
  done_ = &done;
  make_directory ? advance(Stage::making_directory) : begin_file();
}

void SegmentMaker::begin_file() {
  if (!spare_) return advance(Stage::opening);
  pool_directory_ = spare_->path.substr(0, spare_->path.rfind('/'));
  advance(Stage::opening_spare);
}

void SegmentMaker::advance(Stage stage) {
  stage_ = stage;
  constexpr io::OpenOptions kExisting{.direct = true, .locked = true};
  switch (stage) {
    case Stage::making_directory: return core_.disk.make_directory(op_, directory_.c_str());
    case Stage::syncing_parent: return core_.disk.sync_directory(op_, parent_.c_str());
    case Stage::opening:
      return core_.disk.open(op_, path_.c_str(), {.create = true, .direct = true, .locked = true});
    case Stage::allocating: return core_.disk.allocate(op_, file_, 0, allocated_);
    case Stage::syncing_empty:
    case Stage::syncing_file: return core_.disk.sync(op_, file_);
    case Stage::opening_spare: return core_.disk.open(op_, spare_->path.c_str(), kExisting);
    case Stage::renaming: return core_.disk.rename(op_, spare_->path.c_str(), path_.c_str());
    case Stage::syncing_pool: return core_.disk.sync_directory(op_, pool_directory_.c_str());
    case Stage::emptying: return core_.disk.truncate(op_, file_, 0);
    case Stage::closing: return core_.disk.close(op_, std::exchange(file_, io::kNoFile));
    case Stage::removing: return core_.disk.remove(op_, path_.c_str());
    case Stage::removing_spare: return core_.disk.remove(op_, spare_->path.c_str());
    case Stage::syncing_directory:
    case Stage::syncing_removal: return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::idle: break;
  }
  UNREACHABLE("segment maker stage {}", static_cast<int>(stage));
}

// The segment before may yet take smaller batches: a file that stayed would stand for a hole.
// Recovery knows an empty one for what it is, should a power cut bring the name back; one from the
// pool is not empty.
void SegmentMaker::clean_up() {
  if (stage_ == Stage::emptying) return advance(Stage::syncing_empty);
  if (stage_ == Stage::syncing_empty) return advance(Stage::closing);
  if (stage_ == Stage::closing) return advance(Stage::removing);
  if (stage_ == Stage::removing && spare_) return advance(Stage::removing_spare);
  if (stage_ != Stage::syncing_removal) return advance(Stage::syncing_removal);
  finish(failure_);
}

void SegmentMaker::on_step(io::Op& op) {
  const int32_t result = op.result();
  if (failure_ != 0) return clean_up();
  if (result < 0 && stage_ == Stage::opening_spare) {
    base::log_warning("log", "cannot reuse file={} error={}", spare_->path, -result);
    spare_.reset();
    return advance(Stage::opening);
  }
  const bool exists = stage_ == Stage::making_directory && result == -EEXIST;
  if (result < 0 && !exists) {
    if (file_ == io::kNoFile) return finish(result);
    failure_ = result;
    if (model::planted(model::Bug::no_room_leaves_half_file)) return finish(result);
    return advance(spare_ ? Stage::emptying : Stage::closing);
  }
  const bool careless = model::planted(model::Bug::missing_directory_flush);
  switch (stage_) {
    case Stage::making_directory:
      return careless ? begin_file() : advance(Stage::syncing_parent);
    case Stage::syncing_parent: return begin_file();
    case Stage::opening: file_ = io::FileId(result); return advance(Stage::allocating);
    case Stage::allocating: return advance(Stage::syncing_file);
    case Stage::syncing_file: return careless ? finish(0) : advance(Stage::syncing_directory);
    case Stage::opening_spare:
      file_ = io::FileId(result);
      allocated_ = spare_->size;
      return advance(Stage::renaming);
    // Size and blocks have been durable since its last life.
    case Stage::renaming: return careless ? finish(0) : advance(Stage::syncing_pool);
    case Stage::syncing_pool: return advance(Stage::syncing_directory);
    case Stage::syncing_directory: return finish(0);
    case Stage::emptying:
    case Stage::syncing_empty:
    case Stage::closing:
    case Stage::removing:
    case Stage::removing_spare:
    case Stage::syncing_removal:
    case Stage::idle: break;
  }
  UNREACHABLE("segment maker stage {}", static_cast<int>(stage_));
}

void SegmentMaker::finish(int32_t result) {
  stage_ = Stage::idle;
  // Thousands of partitions have a maker that made its file long ago.
  for (std::string* name : {&parent_, &directory_, &path_, &pool_directory_}) {
    std::string().swap(*name);
  }
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

SegmentSealer::SegmentSealer(io::CoreIo& core) : core_(core) {
  op_.bind<&SegmentSealer::on_step>(*this);
  write_.bind<&SegmentSealer::on_write>(*this);
}

void SegmentSealer::start(const std::string& directory, Segment& segment, io::Op& done) {
  ASSERT(stage_ == Stage::idle && segment.committed == segment.end && !segment.sealed);
  directory_ = directory;
  segment_ = &segment;
  done_ = &done;
  segment.written < segment.end ? advance(Stage::writing) : advance(Stage::truncating);
}

void SegmentSealer::advance(Stage stage) {
  stage_ = stage;
  switch (stage) {
    case Stage::writing: return write_tail();
    case Stage::truncating:
      return core_.disk.truncate(op_, segment_->file, segment_->end);
    case Stage::syncing: return core_.disk.sync(op_, segment_->file);
    case Stage::closing:
      return core_.disk.close(op_, std::exchange(segment_->file, io::kNoFile));
    case Stage::opening_ledger:
      path_ = segment_file(directory_, segment_->base_offset, kLedgerSuffix);
      return core_.disk.open(op_, path_.c_str(), {.create = true});
    case Stage::writing_ledger: return write_ledger();
    case Stage::syncing_ledger: return core_.disk.sync(op_, ledger_file_);
    case Stage::closing_ledger:
      return core_.disk.close(op_, std::exchange(ledger_file_, io::kNoFile));
    case Stage::syncing_directory:
      return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::idle: break;
  }
  UNREACHABLE("segment sealer stage {}", static_cast<int>(stage));
}

void SegmentSealer::write_tail() {
  // The last block is padded; it was never written before, so nothing acknowledged is rewritten.
  const uint64_t padded = segment_->buffer.pad_to_block();
  write_.pieces().clear();
  segment_->buffer.slices(segment_->written, padded, write_.pieces());
  write_.start(core_.disk, segment_->file, segment_->written, io::Durability::on_completion);
}

void SegmentSealer::write_ledger() {
  const uint64_t position = segment_->ledger.written() == 0 ? 0 : segment_->ledger.file_end();
  ledger_bytes_ = segment_->ledger.encode_unwritten(true, segment_->end, ledger_groups_);
  if (ledger_bytes_.empty()) return advance(Stage::syncing_ledger);
  write_.pieces().assign(1, {ledger_bytes_.data(), ledger_bytes_.size()});
  write_.start(core_.disk, ledger_file_, position, io::Durability::none);
}

void SegmentSealer::on_write(io::WholeWrite& write) {
  const bool ledger_left_out = stage_ == Stage::writing_ledger && lacks_space(write.error());
  if (ledger_left_out) return advance(Stage::closing_ledger);
  if (write.error() != 0) return finish(-write.error());
  if (stage_ == Stage::writing) return advance(Stage::truncating);
  ASSERT(stage_ == Stage::writing_ledger);
  segment_->ledger.mark_written(ledger_groups_);
  advance(Stage::syncing_ledger);
}

void SegmentSealer::on_step(io::Op& op) {
  const int32_t result = op.result();
  if (stage_ == Stage::opening_ledger && lacks_space(-result)) return finish(0);
  // Only the ledger's name is new, and a ledger that is missing is rebuilt.
  if (stage_ == Stage::syncing_directory && lacks_descriptors(-result)) return finish(0);
  if (result < 0) return finish(result);
  switch (stage_) {
    case Stage::truncating: return advance(Stage::syncing);
    case Stage::syncing: return advance(Stage::closing);
    case Stage::closing: return advance(Stage::opening_ledger);
    case Stage::opening_ledger:
      ledger_file_ = io::FileId(result);
      return advance(Stage::writing_ledger);
    case Stage::syncing_ledger: return advance(Stage::closing_ledger);
    case Stage::closing_ledger: return advance(Stage::syncing_directory);
    case Stage::syncing_directory: return finish(0);
    case Stage::writing:
    case Stage::writing_ledger:
    case Stage::idle: break;
  }
  UNREACHABLE("segment sealer stage {}", static_cast<int>(stage_));
}

void SegmentSealer::finish(int32_t result) {
  stage_ = Stage::idle;
  if (result == 0) {
    segment_->written = segment_->end;
    segment_->allocated = segment_->end;
    segment_->sealed = true;
  }
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
