#pragma once
// Log: the segments of one partition, oldest first; where batches are placed and found. Everything
// here is memory; files are made, sealed and read by segment_files.h and segment_reader.h. Owned by
// the partition on its home core.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/segment.h"
#include "io/base/fifo.h"

namespace weir::log {

struct Placed {
  model::Offset base_offset;
  model::Offset next_offset;
};

// Where a read of one partition starts and what it may take.
struct ReadPlace {
  Segment* segment = nullptr;
  size_t group = 0;         // index in the segment's ledger
  uint64_t limit = 0;       // first byte that must not be read (end of what is visible)
  bool in_memory = false;   // from the start of the group on
};

// Leader epochs of a log: each with the first offset written under it (KIP-101).
struct EpochStart {
  int32_t epoch;
  model::Offset start_offset;
};

class Log {
 public:
  Log(BufferPool& pool, std::string directory) : pool_(pool), directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  BufferPool& pool() { return pool_; }
  bool empty() const { return segments_.empty(); }
  Segment& active() { return *segments_.back(); }
  const base::Fifo<std::unique_ptr<Segment>>& segments() const { return segments_; }
  model::Offset start_offset() const { return start_offset_; }
  model::Offset end_offset() const { return end_offset_; }
  uint64_t size_bytes() const;

  // At open: what recovery found, oldest first.
  void add_segment(std::unique_ptr<Segment> segment);
  void set_offsets(model::Offset start, model::Offset end);
  // Everything below `start` stops being part of the log; start_offset() <= start <= end_offset().
  void advance_start(model::Offset start);
  // The end of the oldest segment when it is sealed and wholly below the start; the active one is
  // never dead.
  std::optional<model::Offset> dead_end() const;
  // Takes that segment out.
  std::unique_ptr<Segment> take_dead();
  // A cleaned segment, sealed, takes the place of those in its range, which come back; none when
  // the log starts behind them all by now, and then it is not taken either.
  std::vector<std::unique_ptr<Segment>> replace(std::unique_ptr<Segment>& cleaned);
  // How often that happened: who looked at several segments one after another may have to again.
  uint64_t replacements() const { return replacements_; }
  // Below it everything was compacted; the log start when nothing was.
  model::Offset clean_end() const;
  // A new last segment; its file exists and is open.
  Segment& roll(io::FileId file, uint64_t allocated);

  // Whether the active segment has room for `size` more bytes in its file as allocated.
  bool fits_allocated(size_t size) const;
  // Whether it takes a batch of this many bytes and offsets at all. No offset lies further than
  // kSegmentSpanMax behind the base offset of its segment.
  bool fits_segment(size_t size, int64_t offsets, uint64_t segment_size_max) const;

  // Places one batch at the end: copies it, gives it base offset and leader epoch. There must be
  // room.
  Placed append(std::span<const std::byte> batch, int32_t leader_epoch);

  // The segment that holds `offset`; null when it lies before the first or at/after the end.
  Segment* find_segment(model::Offset offset);
  // Where to start reading for `offset`, start_offset() <= offset < high watermark; only bytes that
  // are committed are visible.
  std::optional<ReadPlace> find(model::Offset offset);
  // About how many bytes lie between two offsets of the active segment; exact at the tail, at least
  // 1 when there are any.
  uint64_t bytes_between(model::Offset from, model::Offset to);
  // Where to read on when nothing can be read at `offset`: behind its group.
  model::Offset offset_after_damage(model::Offset offset);
  static uint64_t visible_end(const Segment& segment);

  // Leader epoch history, ascending; kept in memory, found again from ledgers and batches at open.
  void note_epoch(int32_t epoch, model::Offset start);
  const std::vector<EpochStart>& epochs() const { return epochs_; }
  // The epoch under which `offset` was or would be written; -1 when nothing is known.
  int32_t epoch_at(model::Offset offset) const;
  // KIP-101: the largest known epoch <= `epoch` and where it ends; -1, kNoOffset when unknown.
  std::pair<int32_t, model::Offset> epoch_end(int32_t epoch) const;

 private:
  BufferPool& pool_;
  std::string directory_;
  base::Fifo<std::unique_ptr<Segment>> segments_;
  model::Offset start_offset_{0};
  model::Offset end_offset_{0};
  uint64_t replacements_ = 0;
  std::vector<EpochStart> epochs_;
};

}  // namespace weir::log
