#pragma once
// SegmentReader: one read of one partition: from an offset to pieces of whole batches. Recent bytes
// are handed out by reference to the append buffer; older ones are read from the file, whole groups
// at a time, and checked against the ledger before anyone sees them (P7). One core; reused by its
// owner.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/log/ledger_loader.h"
#include "engine/log/log.h"
#include "engine/model/error_code.h"
#include "io/core_io.h"
#include "io/whole_transfer.h"

namespace weir::log {

// What a reader holds until the bytes have been sent: slices, and the memory they lie in.
struct Lease {
  std::vector<io::Slice> pieces;
  std::vector<Chunk*> pinned;

  Lease() = default;
  Lease(const Lease&) = delete;
  ~Lease() { release(); }

  void release() {
    for (Chunk* chunk : pinned) return_chunk(*chunk);
    pinned.clear();
    pieces.clear();
  }
};

class SegmentReader {
 public:
  explicit SegmentReader(io::CoreIo& core);
  ~SegmentReader();
  SegmentReader(const SegmentReader&) = delete;

  struct Wish {
    model::Offset offset;        // log start <= offset < high watermark
    uint64_t size_max = 0;
    bool first_batch_whole = false;  // the first batch comes even if it is larger than size_max
    // Only batches that begin below it; where a batch begins, or beyond everything that is visible.
    model::Offset end{INT64_MAX};
  };
  // Appends what it finds to `lease`. Returns true when done at once (result in size() and
  // error()); else `done` completes later. The log must not go away meanwhile (the partition counts
  // readers); the segment that is read counts its own.
  bool start(Log& log, const Wish& wish, Lease& lease, io::Op& done);

  uint64_t size() const { return size_; }
  // Behind the last record of what was found; the wished offset when nothing was.
  model::Offset next_offset() const { return next_offset_; }
  model::ErrorCode error() const { return error_; }

 private:
  enum class Stage : uint8_t { idle, loading_ledger, opening, reading, closing };

  // Batches to hand out: positions [from, to) of the segment.
  struct Range {
    uint64_t from = 0;
    uint64_t to = 0;
    model::Offset next_offset{};  // behind the last record before `to`
  };
  template <class HeaderAt>
  Range choose(const ReadPlace& place, const HeaderAt& header_at) const;

  bool from_memory(const ReadPlace& place);
  void from_file();
  void on_ledger(io::Op& op);
  void on_step(io::Op& op);
  void on_read(io::WholeRead& read);
  void read_window();
  void take_window();
  bool window_sound(uint64_t& sound_end);
  void finish(model::ErrorCode error);

  io::CoreIo& core_;
  LedgerLoader loader_;
  io::Op ledger_op_;
  io::Op op_;
  io::WholeRead read_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  Log* log_ = nullptr;
  Lease* lease_ = nullptr;
  Wish wish_;
  ReadPlace place_;
  std::string path_;
  io::FileId file_ = io::kNoFile;
  bool file_is_mine_ = false;  // opened here, closed here
  Chunk* window_ = nullptr;    // file bytes [begin, begin + used)
  uint64_t window_end_ = 0;    // end of the last whole group wanted
  bool narrowed_ = false;      // to the first group, after a read of more had failed
  uint64_t size_ = 0;
  model::Offset next_offset_;
  model::ErrorCode error_ = model::ErrorCode::none;
};

}  // namespace weir::log
