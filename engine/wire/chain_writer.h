#pragma once
// The output of encoding: a chain of pieces, some written here, some only pointed at.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/wire/types.h"
#include "io/base/arena.h"
#include "io/base/bytes.h"
#include "io/base/varint.h"

namespace weir::wire {

// Writes small fields into chunks of an arena and puts external buffers between them by reference.
// Lives on the stack of one encoding; its pieces live as long as the arena and the buffers do.
//
// When the arena is full the writer has failed for good: writes go to a scratch area, pieces() is
// empty. Callers ask failed() once, at the end.
class ChainWriter {
 public:
  explicit ChainWriter(base::Arena& arena) : arena_(arena) {}
  ChainWriter(const ChainWriter&) = delete;
  ChainWriter& operator=(const ChainWriter&) = delete;

  template <std::integral T>
  void put(T value) {
    base::store_be(reserve(sizeof(T)), value);
    position_ += sizeof(T);
  }
  void put_unsigned_varint(uint32_t value) {
    std::byte* const to = reserve(base::kVarint32SizeMax);
    position_ += base::store_unsigned_varint32(to, value);
  }
  // Copies.
  void put_bytes(Bytes bytes) {
    if (bytes.empty()) return;
    if (bytes.size() > left()) {
      put_large(bytes);
      return;
    }
    std::memcpy(position_, bytes.data(), bytes.size());
    position_ += bytes.size();
  }
  // Points at the caller's buffers; empty ones leave no piece.
  void put_pieces(Pieces pieces);

  // Four bytes to be filled in later, when what follows is known. The address is stable.
  [[nodiscard]] std::byte* put_placeholder32() {
    std::byte* const to = reserve(sizeof(uint32_t));
    position_ += sizeof(uint32_t);
    return to;
  }

  [[nodiscard]] bool failed() const { return failed_; }
  // Bytes written so far, external ones included.
  [[nodiscard]] size_t size() const {
    return closed_size_ + static_cast<size_t>(position_ - piece_start_);
  }
  // Ends the open piece; writing may go on after it. Empty when nothing was written or it failed.
  [[nodiscard]] Pieces pieces();

 private:
  static constexpr size_t kChunkSizeFirst = 512;
  static constexpr size_t kChunkSizeMax = 64 * 1024;
  static constexpr size_t kPiecesFirst = 8;
  static constexpr size_t kScratchSize = 16;  // the largest reserve()

  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - position_); }
  std::byte* reserve(size_t size) {
    if (size > left()) [[unlikely]] open_chunk(size);
    return position_;
  }
  void open_chunk(size_t size_min);
  void put_large(Bytes bytes);
  void close_piece();
  void append_piece(Bytes piece);
  void fail();

  base::Arena& arena_;
  std::byte* piece_start_ = nullptr;  // of the piece being written
  std::byte* position_ = nullptr;     // next byte to write
  std::byte* end_ = nullptr;          // of the chunk
  size_t chunk_size_ = kChunkSizeFirst;
  size_t closed_size_ = 0;            // bytes in pieces_
  Bytes* pieces_ = nullptr;           // in the arena
  size_t piece_count_ = 0;
  size_t piece_capacity_ = 0;
  bool failed_ = false;
  std::byte scratch_[kScratchSize];
};

// The same interface, only counting: sizes of tagged fields come before their bytes.
class SizeWriter {
 public:
  template <std::integral T>
  void put(T) {
    size_ += sizeof(T);
  }
  void put_unsigned_varint(uint32_t value) { size_ += base::unsigned_varint32_size(value); }
  void put_bytes(Bytes bytes) { size_ += bytes.size(); }
  void put_pieces(Pieces pieces) {
    for (const Bytes piece : pieces) size_ += piece.size();
  }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

}  // namespace weir::wire
