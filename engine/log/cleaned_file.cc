#include "engine/log/cleaned_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/model/planted.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/units.h"

namespace weir::log {

CleanedFile::CleanedFile(io::CoreIo& core, BufferPool& pool) : core_(core), pool_(pool) {
  op_.bind<&CleanedFile::on_step>(*this);
  write_.bind<&CleanedFile::on_write>(*this);
}

CleanedFile::~CleanedFile() {
  if (buffer_.memory != nullptr) pool_.release(buffer_);
}

void CleanedFile::start(const std::string& directory, const SegmentName& name, io::Op& done) {
  ASSERT(stage_ == Stage::idle && !open_ && name.is_cleaned());
  directory_ = directory;
  name_ = name;
  path_ = segment_file(directory, name, kCleaningSuffix);
  final_path_ = segment_file(directory, name, kLogSuffix);
  ledger_path_ = segment_file(directory, name, kLedgerSuffix);
  ledger_ = Ledger(name.base_offset);
  written_ = size_ = 0;
  buffered_ = 0;
  open_ = true;
  in_doubt_ = false;
  if (buffer_.memory == nullptr) buffer_ = pool_.allocate_whole(kBufferSize);
  done_ = &done;
  advance(Stage::opening);
}

void CleanedFile::add(std::span<const std::byte> batch) {
  ASSERT(stage_ == Stage::idle && open_);
  if (buffered_ + batch.size() > buffer_.size) {
    const BufferPool::Buffer larger = pool_.allocate_whole(
        base::round_up(buffered_ + batch.size(), io::kBlockSize));
    std::memcpy(larger.memory, buffer_.memory, buffered_);
    pool_.release(std::exchange(buffer_, larger));
  }
  std::memcpy(buffer_.memory + buffered_, batch.data(), batch.size());
  buffered_ += batch.size();
  size_ += batch.size();
  ledger_.append(BatchView(batch), base::crc32c(batch));
}

void CleanedFile::start_write(Stage stage, size_t size) {
  stage_ = stage;
  in_flight_ = size;
  write_.pieces().assign(1, {buffer_.memory, size});
  write_.start(core_.disk, file_, written_, io::Durability::background);
}

void CleanedFile::write(io::Op& done) {
  ASSERT(stage_ == Stage::idle && file_ != io::kNoFile);
  done_ = &done;
  start_write(Stage::writing, base::round_down(buffered_, io::kBlockSize));
}

void CleanedFile::commit(io::Op& done) {
  ASSERT(stage_ == Stage::idle && file_ != io::kNoFile && size_ > 0);
  ASSERT(ledger_.next_offset() == name_.next_offset, "a cleaned segment ends at {}, not {}",
         ledger_.next_offset().value(), name_.next_offset.value());
  done_ = &done;
  if (buffered_ == 0) return advance(Stage::truncating);
  const size_t padded = base::round_up(buffered_, io::kBlockSize);
  std::memset(buffer_.memory + buffered_, 0, padded - buffered_);
  start_write(Stage::writing_rest, padded);
}

void CleanedFile::abandon(io::Op& done) {
  ASSERT(stage_ == Stage::idle && open_ && !in_doubt_);
  done_ = &done;
  if (file_ == io::kNoFile) return advance(Stage::removing);
  stage_ = Stage::abandoning;
  core_.disk.close(op_, std::exchange(file_, io::kNoFile));
}

void CleanedFile::on_write(io::WholeWrite& write) {
  if (write.error() != 0) return finish(-write.error());
  if (stage_ == Stage::writing_rest) return advance(Stage::truncating);
  if (stage_ == Stage::writing_ledger) return advance(Stage::closing_ledger);
  ASSERT(stage_ == Stage::writing);
  written_ += in_flight_;
  buffered_ -= in_flight_;
  std::memmove(buffer_.memory, buffer_.memory + in_flight_, buffered_);
  finish(0);
}

void CleanedFile::advance(Stage stage) {
  stage_ = stage;
  switch (stage) {
    case Stage::opening:
      return core_.disk.open(op_, path_.c_str(), {.create = true, .direct = true});
    case Stage::truncating: return core_.disk.truncate(op_, file_, size_);
    case Stage::syncing: return core_.disk.sync(op_, file_);
    case Stage::closing: return core_.disk.close(op_, std::exchange(file_, io::kNoFile));
    case Stage::opening_ledger:
      return core_.disk.open(op_, ledger_path_.c_str(), {.create = true});
    case Stage::writing_ledger: return write_ledger();
    case Stage::closing_ledger: return core_.disk.close(op_, std::exchange(file_, io::kNoFile));
    // Names that others stand for, above all that of a producer snapshot, are to last first.
    case Stage::syncing_directory:
    case Stage::syncing_rename: return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::renaming: return core_.disk.rename(op_, path_.c_str(), final_path_.c_str());
    case Stage::removing: return core_.disk.remove(op_, path_.c_str());
    case Stage::removing_ledger: return core_.disk.remove(op_, ledger_path_.c_str());
    case Stage::idle:
    case Stage::writing:
    case Stage::writing_rest:
    case Stage::abandoning: break;
  }
  UNREACHABLE("cleaned file stage {}", static_cast<int>(stage));
}

void CleanedFile::write_ledger() {
  ledger_bytes_ = ledger_.encode_unwritten(true, size_, ledger_groups_);
  write_.pieces().assign(1, {ledger_bytes_.data(), ledger_bytes_.size()});
  write_.start(core_.disk, file_, 0, io::Durability::on_completion);
}

void CleanedFile::on_step(io::Op& op) {
  const int32_t result = op.result();
  const bool goes_away = stage_ == Stage::abandoning || stage_ == Stage::removing ||
                         stage_ == Stage::removing_ledger;
  if (result < 0 && !goes_away) {
    in_doubt_ = stage_ == Stage::renaming || stage_ == Stage::syncing_rename;
    if (in_doubt_) open_ = false;
    return finish(result);
  }
  switch (stage_) {
    case Stage::opening: file_ = io::FileId(result); return finish(0);
    case Stage::truncating: return advance(Stage::syncing);
    case Stage::syncing: return advance(Stage::closing);
    case Stage::closing: return advance(Stage::opening_ledger);
    case Stage::opening_ledger: file_ = io::FileId(result); return advance(Stage::writing_ledger);
    case Stage::closing_ledger: return advance(Stage::syncing_directory);
    case Stage::syncing_directory: return advance(Stage::renaming);
    case Stage::renaming:
      if (model::planted(model::Bug::cleaned_segment_before_directory_sync)) return finish(0);
      return advance(Stage::syncing_rename);
    case Stage::syncing_rename: return finish(0);
    case Stage::abandoning: return advance(Stage::removing);
    case Stage::removing: return advance(Stage::removing_ledger);
    case Stage::removing_ledger: open_ = false; return finish(0);
    case Stage::idle:
    case Stage::writing:
    case Stage::writing_rest:
    case Stage::writing_ledger: break;
  }
  UNREACHABLE("cleaned file stage {}", static_cast<int>(stage_));
}

std::unique_ptr<Segment> CleanedFile::take_segment() {
  ASSERT(stage_ == Stage::idle && open_ && file_ == io::kNoFile);
  open_ = false;
  auto segment = std::make_unique<Segment>(name_, pool_);
  segment->end = segment->gathered = segment->committed = size_;
  segment->written = segment->submitted = segment->allocated = size_;
  segment->gathered_offset = name_.next_offset;
  segment->sealed = true;
  segment->max_timestamp = ledger_.max_timestamp();
  segment->ledger_loaded = false;
  return segment;
}

void CleanedFile::finish(int32_t result) {
  stage_ = Stage::idle;
  if (!open_ || file_ == io::kNoFile) {
    if (buffer_.memory != nullptr) pool_.release(std::exchange(buffer_, {}));
  }
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
