#pragma once
// Segment: one file of whole record batches from position 0 on. Appends go to the last segment of a
// log; the ones before are sealed (complete, exact size, read-only) or about to be. Offsets have no
// gaps but in cleaned segments, whose last batch still ends where the next segment begins.
//
// Cursors, all byte positions of this file; ascending from left to right:
//   written <= submitted, written <= committed <= gathered <= end
//     written    below it everything is durable in the file; a block boundary until sealed
//     submitted  below it blocks are in the file or on their way there
//     committed  below it everything is durable, in the file or in the journal
//     gathered   below it everything is durable or part of a commit in flight
//     end        below it there are batches, in the file or in the buffer
// Owned by a Log on the partition's home core.

#include <cstdint>
#include <limits>
#include <optional>

#include "engine/log/append_buffer.h"
#include "engine/log/file_names.h"
#include "engine/log/ledger.h"
#include "engine/model/ids.h"
#include "io/clock.h"
#include "io/disk.h"

namespace weir::log {

// Kafka's tools and indexes say offsets relative to their segment's in 32 bits (LogSegment).
inline constexpr int64_t kSegmentSpanMax = std::numeric_limits<int32_t>::max();

struct Segment {
  Segment(model::Offset base, BufferPool& pool) : Segment(SegmentName(base), pool) {}
  Segment(const SegmentName& named, BufferPool& pool)
      : base_offset(named.base_offset), name(named), ledger(base_offset), buffer(pool) {}

  model::Offset base_offset;
  SegmentName name;  // of its files
  io::FileId file = io::kNoFile;  // open while this segment may be written
  uint64_t end = 0;
  uint64_t gathered = 0;
  uint64_t committed = 0;
  uint64_t written = 0;
  uint64_t submitted = 0;
  uint64_t allocated = 0;  // size of the file; appends stay below
  uint64_t primed = 0;     // below it blocks have been written, if only with zeros
  model::Offset gathered_offset;  // next offset behind `gathered`
  uint32_t gather_checksum = 0;   // over [gathered, end)
  uint32_t file_readers = 0;      // reads in flight on `file`
  uint32_t users = 0;             // of whoever reads or seals it; it must not go away
  bool sealed = false;
  bool full = false;              // takes no more batches, whatever room there is: its time is over
  bool reused = false;            // behind `end` its file may have bytes of an earlier life
  bool damaged = false;           // some of it did not check out: compaction leaves it as it is
  bool ledger_loaded = true;      // sealed segments read theirs when first asked
  // By the monotonic clock, so that a jump of the other one ages nothing. Of a recovered segment:
  // when it was recovered; as long before that as its file was not written.
  io::Instant created{};
  io::Instant appended{};         // not before its last append
  // Largest of its first batch, but not ahead of the broker's clock then; kNoTimestamp: none.
  int64_t first_timestamp = model::kNoTimestamp;
  std::optional<int64_t> max_timestamp;  // where it is known although the ledger is not loaded
  Ledger ledger;
  AppendBuffer buffer;            // empty once sealed

  bool holds(uint64_t position) const {
    return position >= buffer.begin() && position < buffer.end();
  }
};

// Whether the batch may stand behind what a ledger of a segment so named has: compaction leaves
// gaps.
inline bool follows(const SegmentName& name, const Ledger& ledger, const BatchView& batch) {
  if (!name.is_cleaned()) return batch.base_offset() == ledger.next_offset();
  return batch.base_offset() >= ledger.next_offset() && batch.next_offset() <= name.next_offset;
}

}  // namespace weir::log
