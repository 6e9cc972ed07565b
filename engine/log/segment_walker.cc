#include "engine/log/segment_walker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "io/base/assert.h"
#include "io/base/heap.h"
#include "io/base/units.h"

namespace weir::log {
namespace {

constexpr size_t kWalkWindowSize = size_t{1} << 20;

}  // namespace

SegmentWalker::SegmentWalker(io::Loop& loop, io::Disk& disk, io::FileId file, uint64_t tail_begin,
                             std::span<const std::byte> tail)
    : loop_(loop), disk_(disk), file_(file), tail_begin_(tail_begin), tail_(tail) {
  read_.bind<&SegmentWalker::on_read>(*this);
}

SegmentWalker::~SegmentWalker() { std::free(window_); }

// Brings file bytes [from, from + size) into the window.
bool SegmentWalker::load(uint64_t from, size_t size) {
  if (from >= window_begin_ && from + size <= window_begin_ + window_used_) return true;
  const uint64_t begin = base::round_down(from, io::kBlockSize);
  const size_t wanted = base::round_up(from + size - begin, io::kBlockSize);
  if (wanted > window_size_) {
    std::free(window_);
    window_size_ = std::max(wanted, kWalkWindowSize);
    window_ = base::allocate_aligned(io::kBlockSize, window_size_);
  }
  const uint64_t file_end = base::round_up(tail_begin_, io::kBlockSize);
  const size_t want = std::max<size_t>(wanted, std::min<uint64_t>(window_size_, file_end - begin));
  window_used_ = 0;
  read_.start(disk_, file_, {window_, want}, begin);
  loop_.run_until(read_.op());
  if (read_.error() != 0) return false;
  window_begin_ = begin;
  window_used_ = read_.done();
  bytes_read_ += window_used_;
  return from + size <= window_begin_ + window_used_;
}

bool SegmentWalker::copy(uint64_t from, std::span<std::byte> into) {
  if (from < tail_begin_ && !into.empty()) {
    const size_t size = std::min<uint64_t>(into.size(), tail_begin_ - from);
    if (!load(from, size)) return false;
    std::memcpy(into.data(), window_ + (from - window_begin_), size);
    into = into.subspan(size);
    from += size;
  }
  if (into.empty()) return true;
  if (from + into.size() > end()) return false;
  std::memcpy(into.data(), tail_.data() + (from - tail_begin_), into.size());
  return true;
}

std::optional<std::span<const std::byte>> SegmentWalker::next() {
  const uint64_t left = end() - position_;
  std::byte header[kBatchHeaderSize];
  if (left < sizeof header || !copy(position_, header)) return std::nullopt;
  const BatchView front(header);
  if (front.magic() != kBatchMagic || front.length() < 0 || front.size() < kBatchHeaderSize ||
      front.size() > left) {
    return std::nullopt;
  }
  std::span<const std::byte> bytes;
  if (position_ + front.size() <= tail_begin_) {
    if (!load(position_, front.size())) return std::nullopt;
    bytes = {window_ + (position_ - window_begin_), front.size()};
  } else if (position_ >= tail_begin_) {
    bytes = tail_.subspan(position_ - tail_begin_, front.size());
  } else {
    joined_.resize(front.size());
    if (!copy(position_, joined_)) return std::nullopt;
    bytes = joined_;
  }
  const BatchView batch(bytes);
  if (batch.computed_crc() != batch.crc()) return std::nullopt;
  position_ += bytes.size();
  return bytes;
}

}  // namespace weir::log
