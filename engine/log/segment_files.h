#pragma once
// Making and sealing segment files, off the acknowledgement path. Each is one small state machine
// on embedded operations, owned by the partition; one thing in flight each.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/segment.h"
#include "engine/log/segment_pool.h"
#include "io/core_io.h"
#include "io/whole_transfer.h"

namespace weir::log {

// How far a file is allocated ahead of its end: grows with it, so that small partitions stay small.
uint64_t allocation_step(uint64_t allocated);

// Makes a segment file: directory (when new), then a new file and its allocation, or one from the
// pool under a new name; all of it durable before the first byte in it may be acknowledged (L9).
class SegmentMaker {
 public:
  explicit SegmentMaker(io::CoreIo& core);

  // `parent` is the directory that holds `directory`; it is synced when `directory` had to be made.
  // done completes with 0, then file() is open, or with -errno, then there is no file. A `spare` of
  // at least `size_wanted` bytes becomes the file; one that cannot be opened is left where it is.
  void start(const std::string& parent, const std::string& directory, bool make_directory,
             model::Offset base_offset, uint64_t size_wanted, io::Op& done,
             std::optional<SegmentPool::Spare> spare = {});
  bool busy() const { return stage_ != Stage::idle; }
  io::FileId file() const { return file_; }
  uint64_t allocated() const { return allocated_; }
  // Whether it had a life before: all that is allocated has been written.
  bool reused() const { return spare_.has_value(); }

 private:
  enum class Stage : uint8_t {
    idle, making_directory, syncing_parent, opening, allocating, syncing_file, opening_spare,
    renaming, syncing_pool, syncing_directory, emptying, syncing_empty, closing, removing,
    removing_spare, syncing_removal
  };
  void on_step(io::Op& op);
  void advance(Stage stage);
  void clean_up();
  void begin_file();
  void finish(int32_t result);

  io::CoreIo& core_;
  io::Op op_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  std::optional<SegmentPool::Spare> spare_;
  std::string pool_directory_;
  std::string parent_;
  std::string directory_;
  std::string path_;
  io::FileId file_ = io::kNoFile;
  uint64_t allocated_ = 0;
  int32_t failure_ = 0;
};

// Finishes a full segment: last partial block, ledger, exact size, all durable; closes the file.
class SegmentSealer {
 public:
  explicit SegmentSealer(io::CoreIo& core);

  // Every byte of the segment is committed. done completes with 0 or -errno.
  void start(const std::string& directory, Segment& segment, io::Op& done);
  bool busy() const { return stage_ != Stage::idle; }
  // What it waits for while busy; for straight-line code.
  io::Op& pending() { return write_.armed() ? write_.op() : op_; }

 private:
  enum class Stage : uint8_t {
    idle, writing, truncating, syncing, closing, opening_ledger, writing_ledger, syncing_ledger,
    closing_ledger, syncing_directory
  };
  void on_step(io::Op& op);
  void on_write(io::WholeWrite& write);
  void advance(Stage stage);
  void write_tail();
  void write_ledger();
  void finish(int32_t result);

  io::CoreIo& core_;
  io::Op op_;
  io::WholeWrite write_;
  io::Op* done_ = nullptr;
  Segment* segment_ = nullptr;
  Stage stage_ = Stage::idle;
  std::string directory_;
  std::string path_;
  std::vector<std::byte> ledger_bytes_;
  size_t ledger_groups_ = 0;
  io::FileId ledger_file_ = io::kNoFile;
};

}  // namespace weir::log
