#pragma once
// Commit: one group commit of a core while it is built and in flight: a journal record, the segment
// writes beside it, and whom to tell. Owned and reused by the Journal; one core.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/journal/record.h"
#include "io/disk.h"
#include "io/whole_transfer.h"

namespace weir::journal {

class Journal;
class Source;

// Parts of one commit, so that the tables of two fit in front of the payloads.
inline constexpr size_t kCommitEntriesMax = 100;

// What one source has in one commit; given back to it once durable, in the order of commits.
struct Part {
  Source* source = nullptr;
  uint64_t sequence = 0;       // of the record
  EntryKind kind = EntryKind::inline_data;
  model::Offset segment_base_offset;
  model::Offset next_offset;
  uint64_t end = 0;
  uint64_t inline_begin = 0;
};

class Commit {
 public:
  Commit(Journal& journal, size_t record_size_max);
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;
  ~Commit();

  // For Source::contribute().
  // Whether an entry with so many bytes of payload, or an extent of so many bytes, still fits.
  bool room_inline(size_t payload_size) const;
  bool room_extent(uint64_t size) const;
  // What an empty record can take.
  size_t inline_capacity() const;
  // Copies the payload into the record, sums it, and remembers whom to tell. Fills the payload
  // fields of `entry`. The pieces are read during the call only.
  void add(Source& source, Entry entry, std::span<const io::Slice> payload);
  // A segment write of this commit, durable with it. `pieces` must stay valid until committed().
  void add_extent(io::FileId file, uint64_t position, std::span<const io::Slice> pieces);

  bool empty() const { return entries_.empty(); }
  // Others are in flight: the device is busy, so bytes should be written once if possible.
  bool beside_others() const { return beside_others_; }
  // The journal is short of space: sources may carry old bytes forward but bring no new ones.
  bool carry_only() const { return carry_only_; }

 private:
  friend class Journal;

  void reset();
  void set_carry_only(bool only) { carry_only_ = only; }
  void set_beside_others(bool beside) { beside_others_ = beside; }
  // The entry table of the record before; it stays as it is until seal().
  void set_echo(std::span<const Entry> echo) { echo_ = echo; }
  // The record must not become larger; at most record_size_max.
  void set_size_limit(uint64_t size) { size_limit_ = size; }
  size_t pack();  // fixes the record's place and size; nothing is added after
  void seal(const RecordHeader& header);   // writes header and tables in front of the payloads
  void submit(io::Disk& disk, io::FileId journal_file);
  void on_write(io::WholeWrite& write);

  Journal& journal_;
  size_t record_size_max_;
  size_t size_limit_ = 0;
  std::byte* staging_;           // record_size_max_ bytes, block aligned
  size_t payload_end_ = 0;  // of what was added; room for the tables is in front
  uint64_t extent_bytes_ = 0;
  std::span<std::byte> record_;  // set by pack()
  RecordHeader header_;
  std::vector<Entry> entries_;
  std::span<const Entry> echo_;
  std::vector<Part> parts_;
  io::WholeWrite record_write_;
  std::vector<std::unique_ptr<io::WholeWrite>> extents_;  // kept for reuse
  struct ExtentTarget {
    io::FileId file;
    uint64_t position;
  };
  std::vector<ExtentTarget> targets_;
  uint32_t writes_in_flight_ = 0;
  int error_ = 0;
  bool carry_only_ = false;
  bool beside_others_ = false;
  bool finished_ = false;  // all its writes are; earlier commits may not be
  int64_t submitted_ns_ = 0;
};

}  // namespace weir::journal
