#pragma once
// DiskImage: the content of a disk. RecordingCutter: what reached a disk, cut anywhere into an
// image that a power cut at that moment may have left. Memory only; nothing here is a file.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace weir::crashtest {

inline constexpr uint64_t kPageSize = 4096;
inline constexpr uint64_t kSectorSize = 512;  // what a disk writes whole or not at all

// Sparse: what was never written reads as zeros. Copies share their pages until one of them writes.
class DiskImage {
 public:
  void write(uint64_t position, std::span<const std::byte> bytes);
  void read(uint64_t position, std::span<std::byte> bytes) const;

 private:
  using Page = std::array<std::byte, kPageSize>;
  std::map<uint64_t, std::shared_ptr<Page>> pages_;  // by number
};

// One thing that reached the disk: a write, or, when there are no bytes, a flush.
struct DiskOp {
  uint64_t position = 0;
  std::vector<std::byte> bytes;

  [[nodiscard]] bool is_flush() const { return bytes.empty(); }
};

// What a cut did, for the message of a failure.
struct Cut {
  DiskImage image;
  size_t loose_writes = 0;  // writes behind the last flush
  size_t pieces_kept = 0;  // of those
  size_t pieces_lost = 0;
};

// Goes through a recording from its start to ever later moments.
class RecordingCutter {
 public:
  // The last `ignored_flushes` before a cut are taken for nothing, as on a disk that lies.
  RecordingCutter(DiskImage start, const std::vector<DiskOp>& ops, size_t ignored_flushes = 0)
      : flushed_(std::move(start)), ops_(ops), ignored_flushes_(ignored_flushes) {}

  // The disk after the first `count` operations and a power cut: all that was flushed, and of each
  // piece of `piece_size` bytes written since by chance the old or the new content. `count` must
  // not be less than in the call before.
  Cut cut(size_t count, uint64_t piece_size, std::mt19937_64& random);

 private:
  DiskImage flushed_;  // after the first `done_` operations
  size_t done_ = 0;
  const std::vector<DiskOp>& ops_;
  size_t ignored_flushes_;
};

}  // namespace weir::crashtest
