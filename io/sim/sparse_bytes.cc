#include "io/sim/sparse_bytes.h"

#include <algorithm>
#include <cstring>

namespace weir::io::sim {

bool all_zero(std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  return bytes[0] == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

SparseBytes& SparseBytes::operator=(const SparseBytes& other) {
  if (this == &other) return *this;
  pages_.clear();
  pages_.resize(other.pages_.size());
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (other.pages_[i]) pages_[i] = std::make_unique<Page>(*other.pages_[i]);
  }
  return *this;
}

void SparseBytes::read(uint64_t position, std::span<std::byte> into) const {
  while (!into.empty()) {
    const uint64_t page = position / kPageSize;
    const uint64_t within = position % kPageSize;
    const size_t size = static_cast<size_t>(std::min<uint64_t>(kPageSize - within, into.size()));
    if (page < pages_.size() && pages_[page]) {
      std::memcpy(into.data(), pages_[page]->data() + within, size);
    } else {
      std::memset(into.data(), 0, size);
    }
    into = into.subspan(size);
    position += size;
  }
}

void SparseBytes::write(uint64_t position, std::span<const std::byte> from) {
  while (!from.empty()) {
    const uint64_t page = position / kPageSize;
    const uint64_t within = position % kPageSize;
    const size_t size = static_cast<size_t>(std::min<uint64_t>(kPageSize - within, from.size()));
    const auto piece = from.first(size);
    const bool exists = page < pages_.size() && pages_[page];
    if (exists || !all_zero(piece)) {
      if (page >= pages_.size()) pages_.resize(page + 1);
      if (!pages_[page]) pages_[page] = std::make_unique<Page>();
      std::memcpy(pages_[page]->data() + within, piece.data(), size);
    }
    from = from.subspan(size);
    position += size;
  }
}

void SparseBytes::zero(uint64_t position, uint64_t size) {
  while (size > 0 && position / kPageSize < pages_.size()) {
    auto& page = pages_[position / kPageSize];
    const uint64_t within = position % kPageSize;
    const uint64_t piece = std::min(kPageSize - within, size);
    if (page && piece == kPageSize) page.reset();
    if (page) std::memset(page->data() + within, 0, piece);
    position += piece;
    size -= piece;
  }
}

void SparseBytes::cut(uint64_t size) {
  const uint64_t end = pages_.size() * kPageSize;
  if (size >= end) return;
  zero(size, end - size);
  pages_.resize((size + kPageSize - 1) / kPageSize);
}

bool SparseBytes::untouched(uint64_t position, uint64_t size) const {
  if (size == 0) return true;
  const uint64_t last = std::min<uint64_t>((position + size - 1) / kPageSize + 1, pages_.size());
  for (uint64_t page = position / kPageSize; page < last; ++page) {
    if (pages_[page]) return false;
  }
  return true;
}

}  // namespace weir::io::sim
