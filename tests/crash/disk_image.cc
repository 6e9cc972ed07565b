#include "tests/crash/disk_image.h"

#include <algorithm>
#include <cassert>

namespace weir::crashtest {

void DiskImage::write(uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const uint64_t at = position % kPageSize;
    const size_t size = std::min<uint64_t>(kPageSize - at, bytes.size());
    std::shared_ptr<Page>& page = pages_[position / kPageSize];
    if (page == nullptr) {
      page = std::make_shared<Page>();
    } else if (page.use_count() > 1) {
      page = std::make_shared<Page>(*page);
    }
    std::copy_n(bytes.begin(), size, page->begin() + static_cast<std::ptrdiff_t>(at));
    bytes = bytes.subspan(size);
    position += size;
  }
}

void DiskImage::read(uint64_t position, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const uint64_t at = position % kPageSize;
    const size_t size = std::min<uint64_t>(kPageSize - at, bytes.size());
    const auto page = pages_.find(position / kPageSize);
    if (page == pages_.end()) {
      std::fill_n(bytes.begin(), size, std::byte{0});
    } else {
      std::copy_n(page->second->begin() + static_cast<std::ptrdiff_t>(at), size, bytes.begin());
    }
    bytes = bytes.subspan(size);
    position += size;
  }
}

Cut RecordingCutter::cut(size_t count, uint64_t piece_size, std::mt19937_64& random) {
  assert(count >= done_ && count <= ops_.size());
  size_t last_flush = count;
  size_t still_ignored = ignored_flushes_;
  for (; last_flush > done_; --last_flush) {
    if (!ops_[last_flush - 1].is_flush()) continue;
    if (still_ignored == 0) break;
    --still_ignored;
  }
  for (; done_ < last_flush; ++done_) flushed_.write(ops_[done_].position, ops_[done_].bytes);
  Cut result{.image = flushed_};
  // Which share of the loose pieces landed is drawn once: none and all are cases of their own.
  const uint64_t landed_of_4 = random() % 5;
  for (size_t i = done_; i < count; ++i) {
    const DiskOp& op = ops_[i];
    if (!op.is_flush()) ++result.loose_writes;
    for (size_t at = 0; at < op.bytes.size(); at += piece_size) {
      const size_t size = std::min<size_t>(piece_size, op.bytes.size() - at);
      const bool landed = random() % 4 < landed_of_4;
      ++(landed ? result.pieces_kept : result.pieces_lost);
      if (landed) result.image.write(op.position + at, std::span(op.bytes).subspan(at, size));
    }
  }
  return result;
}

}  // namespace weir::crashtest
