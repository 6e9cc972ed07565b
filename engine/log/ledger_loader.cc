#include "engine/log/ledger_loader.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "engine/log/file_names.h"
#include "io/base/assert.h"
#include "io/base/crc32c.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::log {
namespace {

using base::operator""_MiB;

constexpr size_t kWindowSize = 1_MiB;
constexpr size_t kLedgerReadMax = 64_MiB;

}  // namespace

LedgerLoader::LedgerLoader(io::Disk& disk, io::Loop& loop) : disk_(disk), loop_(loop) {
  op_.bind<&LedgerLoader::on_step>(*this);
  read_.bind<&LedgerLoader::on_read>(*this);
}

LedgerLoader::~LedgerLoader() { std::free(window_); }

void LedgerLoader::start(const std::string& directory, Segment& segment, uint64_t valid_end,
                         bool use_file, io::Op& done) {
  ASSERT(stage_ == Stage::idle && !segment.ledger_loaded);
  directory_ = directory;
  segment_ = &segment;
  ++segment.users;
  ledger_ = Ledger(segment.base_offset);
  valid_end_ = valid_end;
  done_ = &done;
  failure_ = 0;
  scanned_bytes_ = 0;
  if (!use_file) return after_ledger();
  stage_ = Stage::opening_ledger;
  path_ = segment_file(directory_, segment.name, kLedgerSuffix);
  disk_.open(op_, path_.c_str(), {.writable = false});
}

void LedgerLoader::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::opening_ledger:
      // What cannot be opened for now may say what is damaged, and where it ends.
      if (result == -EMFILE || result == -ENFILE) return finish(result);
      if (result < 0) return after_ledger();  // missing: rebuilt
      file_ = io::FileId(result);
      stage_ = Stage::reading_ledger;
      // A file larger than any ledger of this segment could be is not believed; extra bytes stay
      // unread.
      ledger_bytes_.resize(std::min<size_t>(
          kLedgerReadMax, (valid_end_ / kBatchHeaderSize + 2) * kLedgerEntrySize));
      return read_.start(disk_, file_, ledger_bytes_, 0, io::WholeRead::Access::buffered);
    case Stage::closing_ledger: return after_ledger();
    case Stage::opening_log:
      if (result < 0) return finish(result);
      file_ = io::FileId(result);
      return read_more();
    case Stage::closing_log: return finish(failure_);
    case Stage::reading_ledger:
    case Stage::reading_log:
    case Stage::idle: break;
  }
  UNREACHABLE("ledger loader stage {}", static_cast<int>(stage_));
}

void LedgerLoader::on_read(io::WholeRead& read) {
  if (stage_ == Stage::reading_ledger) {
    if (read.error() == 0) take_ledger(std::span(ledger_bytes_).first(read.done()));
    ledger_bytes_.clear();
    ledger_bytes_.shrink_to_fit();
    stage_ = Stage::closing_ledger;
    return disk_.close(op_, std::exchange(file_, io::kNoFile));
  }
  ASSERT(stage_ == Stage::reading_log);
  if (read.error() != 0) {
    failure_ = -read.error();
    stage_ = Stage::closing_log;
    return disk_.close(op_, std::exchange(file_, io::kNoFile));
  }
  window_used_ += read.done();
  scanned_bytes_ += read.done();
  walk();
}

void LedgerLoader::take_ledger(std::span<const std::byte> bytes) {
  if (!Ledger::header_sound(bytes, segment_->base_offset)) return;
  for (size_t at = kLedgerEntrySize; at + kLedgerEntrySize <= bytes.size();
       at += kLedgerEntrySize) {
    const auto group = Ledger::decode_entry(bytes.subspan(at, kLedgerEntrySize));
    // An entry ahead of the log speaks of bytes that were never acknowledged.
    if (!group || group->end() > valid_end_ || !ledger_.restore(*group)) break;
  }
}

void LedgerLoader::after_ledger() {
  if (ledger_.end() >= valid_end_) return finish(0);
  if (!window_) {
    window_ = base::allocate_aligned(io::kBlockSize, kWindowSize);
    window_size_ = kWindowSize;
  }
  window_begin_ = base::round_down(ledger_.end(), io::kBlockSize);
  window_used_ = 0;
  stage_ = Stage::opening_log;
  path_ = segment_file(directory_, segment_->name, kLogSuffix);
  disk_.open(op_, path_.c_str(), {.direct = true, .writable = false});
}

void LedgerLoader::read_more() {
  stage_ = Stage::reading_log;
  read_.start(disk_, file_, {window_ + window_used_, window_size_ - window_used_},
              window_begin_ + window_used_);
}

// Takes all whole batches in the window into the ledger, then moves the window on.
void LedgerLoader::walk() {
  Ledger& ledger = ledger_;
  bool stuck = false;
  while (ledger.end() < valid_end_ && !stuck) {
    const size_t place = ledger.end() - window_begin_;
    const auto left = std::span<const std::byte>(window_, window_used_).subspan(place);
    const bool more_in_file = window_begin_ + window_used_ < valid_end_;
    if (left.size() < kBatchHeaderSize && more_in_file) break;
    if (left.size() >= kBatchHeaderSize) {
      const BatchView batch(left);
      const bool sane =
          batch.length() >= static_cast<int32_t>(kBatchHeaderSize - kBatchLengthEnd) &&
          batch.size() <= valid_end_ - ledger.end() && batch.magic() == kBatchMagic;
      if (sane && batch.size() > left.size() && more_in_file) {
        // The next window must hold this batch whole.
        if (batch.size() + io::kBlockSize > window_size_) {
          window_size_ = base::round_up(batch.size() + 2 * io::kBlockSize, io::kBlockSize);
          std::byte* const larger = base::allocate_aligned(io::kBlockSize, window_size_);
          std::free(std::exchange(window_, larger));
          window_begin_ = base::round_down(ledger.end(), io::kBlockSize);
          window_used_ = 0;
        }
        break;
      }
      if (sane && batch.size() <= left.size() && follows(segment_->name, ledger, batch) &&
          batch.computed_crc() == batch.crc()) {
        ledger.append(batch, base::crc32c(batch.bytes()));
        continue;
      }
    }
    stuck = true;
  }
  if (stuck && !quarantine(ledger.end())) failure_ = -EIO;
  if (ledger.end() >= valid_end_ || failure_ != 0) {
    stage_ = Stage::closing_log;
    return disk_.close(op_, std::exchange(file_, io::kNoFile));
  }
  if (ledger.end() >= window_begin_ + window_used_ || window_used_ == window_size_) {
    window_begin_ = base::round_down(ledger.end(), io::kBlockSize);
    window_used_ = 0;
  }
  read_more();
}

// Nothing says where the next sound batch begins, so the rest of the segment is given up; the
// offsets behind it are known from the next segment or from the journal.
bool LedgerLoader::quarantine(uint64_t from) {
  base::log_error("log", "damaged batch file={} position={}: quarantined to {}", path_, from,
                  valid_end_);
  if (segment_->gathered_offset <= ledger_.next_offset()) return false;
  ledger_.append_quarantined(segment_->gathered_offset, valid_end_ - from, 0);
  return true;
}

// What lies between the last batch here and the next segment was acknowledged, and is in no file: a
// segment is missing, or this one was cut short.
void LedgerLoader::mark_missing() {
  if (segment_->gathered_offset <= ledger_.next_offset()) return;
  base::log_error("log", "missing records directory={} segment={} offsets={}..{}", directory_,
                  segment_->base_offset.value(), ledger_.next_offset().value(),
                  segment_->gathered_offset.value() - 1);
  ledger_.append_quarantined(segment_->gathered_offset, 0, 0);
}

void LedgerLoader::finish(int32_t result) {
  stage_ = Stage::idle;
  if (result == 0 && ledger_.next_offset() < segment_->gathered_offset) {
    base::log_error("log", "a segment ends too early directory={} segment={} offsets={}..{}",
                    directory_, segment_->base_offset.value(), ledger_.next_offset().value(),
                    segment_->gathered_offset.value() - 1);
    ledger_.append_quarantined(segment_->gathered_offset, 0, 0);
  }
  if (result == 0 && !segment_->ledger_loaded) {
    mark_missing();
    segment_->ledger = std::move(ledger_);
    segment_->ledger_loaded = true;
  }
  --segment_->users;
  std::free(std::exchange(window_, nullptr));
  loop_.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
