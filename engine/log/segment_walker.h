#pragma once
// SegmentWalker: the batches of a segment one after another, from its file and, behind that, from
// bytes that only the journal had. Straight-line, at start and in tools.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/log/record_batch.h"
#include "io/disk.h"
#include "io/loop.h"
#include "io/whole_transfer.h"

namespace weir::log {

class SegmentWalker {
 public:
  // The segment is: file bytes [0, tail_begin), then `tail`, which outlives the walker.
  SegmentWalker(io::Loop& loop, io::Disk& disk, io::FileId file, uint64_t tail_begin,
                std::span<const std::byte> tail);
  ~SegmentWalker();
  SegmentWalker(const SegmentWalker&) = delete;

  // Where next() looks.
  uint64_t position() const { return position_; }
  void seek(uint64_t position) { position_ = position; }
  uint64_t end() const { return tail_begin_ + tail_.size(); }

  // The batch at position(), whole and with a right CRC, and moves behind it. Nothing: at the end
  // (position() == end()), or the bytes are no sound batch. The bytes are valid until the next
  // call.
  std::optional<std::span<const std::byte>> next();
  // Copies [from, from + into.size()); false when the file cannot be read there.
  bool copy(uint64_t from, std::span<std::byte> into);
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  void on_read(io::WholeRead&) {}
  bool load(uint64_t from, size_t size);

  io::Loop& loop_;
  io::Disk& disk_;
  io::FileId file_;
  uint64_t tail_begin_;
  std::span<const std::byte> tail_;
  io::WholeRead read_;
  std::byte* window_ = nullptr;   // file bytes [window_begin_, window_begin_ + window_used_)
  size_t window_size_ = 0;
  uint64_t window_begin_ = 0;
  size_t window_used_ = 0;
  uint64_t position_ = 0;
  uint64_t bytes_read_ = 0;
  std::vector<std::byte> joined_;  // a batch that lies partly in the file and partly in the tail
};

}  // namespace weir::log
