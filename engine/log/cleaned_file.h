#pragma once
// CleanedFile: makes the files of a segment that compaction writes: batches are gathered, written
// under a name that no start believes, and made durable; the rename to the segment's own name is
// the moment from which it counts (file_names.h).
//
//   start ─▶ { add … write } ─▶ commit: rest, exact size, sync, ledger, directory, rename,
//                             │          directory
//                             └▶ abandon: the files go
//
// One file at a time; owned by its user, one core. At most kBufferSize and the largest batch are in
// memory.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/log/segment.h"
#include "io/core_io.h"
#include "io/whole_transfer.h"

namespace weir::log {

class CleanedFile {
 public:
  static constexpr size_t kBufferSize = size_t{1} << 20;

  CleanedFile(io::CoreIo& core, BufferPool& pool);
  ~CleanedFile();
  CleanedFile(const CleanedFile&) = delete;

  // `done` completes with 0 or -errno. Between start() and the end of commit() or abandon() it is
  // open, whatever went wrong.
  void start(const std::string& directory, const SegmentName& name, io::Op& done);
  bool is_open() const { return open_; }
  bool busy() const { return stage_ != Stage::idle; }
  // What it waits for while busy; for straight-line code.
  io::Op& pending() { return write_.op().armed() ? write_.op() : op_; }

  // Batches in order; they are copied.
  void add(std::span<const std::byte> batch);
  // There is enough for a write.
  bool wants_write() const { return buffered_ >= kBufferSize; }
  void write(io::Op& done);
  uint64_t size() const { return size_; }
  model::Offset next_offset() const { return ledger_.next_offset(); }

  // `done` completes with 0: the segment is there, durably, and segment() has it, sealed. With
  // -errno before the rename: nothing is there, abandon() it. With in_doubt() the
  // rename may last or not, and only a start will see.
  void commit(io::Op& done);
  bool in_doubt() const { return in_doubt_; }
  std::unique_ptr<Segment> take_segment();
  // Closes and removes what there is; errors are not told, for the next start removes it, too.
  void abandon(io::Op& done);

 private:
  enum class Stage : uint8_t {
    idle,
    opening,
    writing,
    writing_rest,
    truncating,
    syncing,
    closing,
    opening_ledger,
    writing_ledger,
    closing_ledger,
    syncing_directory,
    renaming,
    syncing_rename,
    abandoning,
    removing,
    removing_ledger
  };
  void on_step(io::Op& op);
  void on_write(io::WholeWrite& write);
  void start_write(Stage stage, size_t size);
  void advance(Stage stage);
  void write_ledger();
  void finish(int32_t result);

  io::CoreIo& core_;
  BufferPool& pool_;
  io::Op op_;
  io::WholeWrite write_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  std::string directory_;
  std::string path_;          // what is written
  std::string final_path_;
  std::string ledger_path_;
  SegmentName name_;
  Ledger ledger_{model::Offset(0)};
  io::FileId file_ = io::kNoFile;
  BufferPool::Buffer buffer_;  // block-aligned; file bytes from written_ on
  size_t buffered_ = 0;
  uint64_t written_ = 0;       // a block boundary until the end
  uint64_t size_ = 0;
  size_t in_flight_ = 0;
  size_t ledger_groups_ = 0;
  std::vector<std::byte> ledger_bytes_;
  bool open_ = false;
  bool in_doubt_ = false;
};

}  // namespace weir::log
