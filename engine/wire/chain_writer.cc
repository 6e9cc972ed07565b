#include "engine/wire/chain_writer.h"

#include <algorithm>
#include <memory>

namespace weir::wire {

void ChainWriter::put_pieces(Pieces pieces) {
  for (const Bytes piece : pieces) {
    if (piece.empty()) continue;
    close_piece();
    append_piece(piece);
    closed_size_ += piece.size();
  }
}

Pieces ChainWriter::pieces() {
  close_piece();
  if (failed_) return {};
  return {pieces_, piece_count_};
}

void ChainWriter::open_chunk(size_t size_min) {
  close_piece();
  if (!failed_) {
    const size_t size = std::max(size_min, chunk_size_);
    if (auto* const chunk = static_cast<std::byte*>(arena_.allocate(size, 1))) {
      piece_start_ = position_ = chunk;
      end_ = chunk + size;
      chunk_size_ = std::min(chunk_size_ * 2, kChunkSizeMax);
      return;
    }
    fail();
  }
  piece_start_ = position_ = scratch_;
  end_ = scratch_ + kScratchSize;
}

void ChainWriter::put_large(Bytes bytes) {
  open_chunk(bytes.size());
  if (failed_) return;
  std::memcpy(position_, bytes.data(), bytes.size());
  position_ += bytes.size();
}

// Later writes go on in the same chunk, as a new piece.
void ChainWriter::close_piece() {
  if (position_ == piece_start_) return;
  const Bytes piece(piece_start_, position_);
  closed_size_ += piece.size();
  piece_start_ = position_;
  append_piece(piece);
}

void ChainWriter::append_piece(Bytes piece) {
  if (failed_) return;
  if (piece_count_ == piece_capacity_) {
    const size_t capacity = piece_capacity_ == 0 ? kPiecesFirst : piece_capacity_ * 2;
    Bytes* const grown = arena_.allocate_array<Bytes>(capacity);
    if (grown == nullptr) {
      fail();
      return;
    }
    std::uninitialized_copy_n(pieces_, piece_count_, grown);
    pieces_ = grown;
    piece_capacity_ = capacity;
  }
  std::construct_at(&pieces_[piece_count_++], piece);
}

void ChainWriter::fail() {
  failed_ = true;
  piece_start_ = position_ = scratch_;
  end_ = scratch_ + kScratchSize;
}

}  // namespace weir::wire
