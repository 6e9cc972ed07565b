#include "io/whole_transfer.h"

#include <algorithm>
#include <cerrno>

#include "io/base/planted.h"
#include "io/base/units.h"

namespace weir::io {
namespace {

// Interruptions are rare; a device that answers nothing else is treated as broken.
constexpr uint32_t kRetriesMax = 100;

bool transient(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

void WholeWrite::start(Disk& disk, FileId file, uint64_t position, Durability durability) {
  ASSERT(!armed() && function_ != nullptr && !pieces_.empty());
  disk_ = &disk;
  file_ = file;
  position_ = position;
  durability_ = durability;
  first_piece_ = 0;
  retries_ = 0;
  error_ = 0;
  size_ = 0;
  for (const Slice& piece : pieces_) size_ += piece.size;
  left_ = size_;
  submit();
}

void WholeWrite::submit() {
  const size_t count = std::min(pieces_.size() - first_piece_, kSlicesMax);
  disk_->write(op_, file_, std::span(pieces_).subspan(first_piece_, count), position_, durability_);
}

void WholeWrite::advance(uint64_t written) {
  position_ += written;
  left_ -= written;
  while (written > 0) {
    Slice& piece = pieces_[first_piece_];
    const size_t taken = std::min<uint64_t>(written, piece.size);
    piece.data += taken;
    piece.size -= taken;
    written -= taken;
    if (piece.size == 0) ++first_piece_;
  }
}

void WholeWrite::on_written(Op& op) {
  const int32_t result = op.result();
  if (result < 0) {
    if (transient(-result) && ++retries_ < kRetriesMax) return submit();
    error_ = -result;
  } else {
    // A direct transfer goes on at a block boundary; rewriting the same bytes is harmless.
    const auto whole = static_cast<uint64_t>(result) == left_ || base::planted_short_write
                           ? left_
                           : base::round_down(static_cast<uint64_t>(result), kBlockSize);
    advance(whole);
    if (whole > 0) retries_ = 0;
    if (left_ > 0) {
      if (++retries_ < kRetriesMax) return submit();
      error_ = EIO;
    }
  }
  function_(owner_, *this);
}

void WholeRead::start(Disk& disk, FileId file, std::span<std::byte> into, uint64_t position,
                      Access access) {
  ASSERT(!armed() && function_ != nullptr);
  disk_ = &disk;
  file_ = file;
  into_ = into;
  position_ = position;
  access_ = access;
  done_ = 0;
  retries_ = 0;
  error_ = 0;
  disk_->read(op_, file_, into_, position_);
}

void WholeRead::on_read(Op& op) {
  const int32_t result = op.result();
  if (result < 0) {
    if (transient(-result) && ++retries_ < kRetriesMax) {
      return disk_->read(op_, file_, into_.subspan(done_), position_ + done_);
    }
    error_ = -result;
  } else {
    const size_t got = static_cast<size_t>(result);
    const bool ended = got == 0 || (access_ == Access::direct && got % kBlockSize != 0);
    done_ += got;
    if (!ended && done_ < into_.size()) {
      return disk_->read(op_, file_, into_.subspan(done_), position_ + done_);
    }
  }
  function_(owner_, *this);
}

}  // namespace weir::io
