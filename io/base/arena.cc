#include "io/base/arena.h"

#include <algorithm>
#include <new>

namespace weir::base {

struct alignas(std::max_align_t) Arena::Block {
  Block* older;
  size_t size;  // bytes after this header

  std::byte* begin() { return reinterpret_cast<std::byte*>(this + 1); }
};

Arena::Arena(size_t size_max, size_t block_size)
    : size_max_(size_max),
      block_size_(std::clamp(block_size, kBlockSizeMin, kBlockSizeMax)),
      block_size_first_(block_size_) {
  static_assert(kBlockSizeMin > sizeof(Block) && kBlockSizeMin <= kBlockSizeMax);
}

Arena::~Arena() {
  free_blocks_after_first();
  ::operator delete(first_);
}

void Arena::reset() {
  free_blocks_after_first();
  last_ = first_;
  position_ = first_ == nullptr ? nullptr : first_->begin();
  end_ = first_ == nullptr ? nullptr : position_ + first_->size;
  size_reserved_ = first_ == nullptr ? 0 : sizeof(Block) + first_->size;
  size_used_ = 0;
  block_size_ = block_size_first_;
}

void* Arena::allocate_from_new_block(size_t size) {
  const size_t left = size_max_ - size_reserved_;
  if (left < sizeof(Block) || size > left - sizeof(Block)) return nullptr;
  const size_t wanted = std::max(sizeof(Block) + size, block_size_);
  const size_t taken = std::min(wanted, left);
  auto* const block = static_cast<Block*>(::operator new(taken, std::nothrow));
  if (block == nullptr) return nullptr;
  block->older = last_;
  block->size = taken - sizeof(Block);
  if (first_ == nullptr) first_ = block;
  last_ = block;
  size_reserved_ += taken;
  size_used_ += size;
  block_size_ = std::min(block_size_ * 2, kBlockSizeMax);
  position_ = block->begin() + size;
  end_ = block->begin() + block->size;
  return block->begin();
}

void Arena::free_blocks_after_first() {
  while (last_ != first_) {
    Block* const older = last_->older;
    ::operator delete(last_);
    last_ = older;
  }
}

}  // namespace weir::base
