#pragma once
// LedgerLoader: brings the ledger of a segment into memory: from its file as far as that is sound,
// the rest by walking over the batches of the segment (L8: derived data is disposable). One segment
// at a time; owned by whoever needs it, on the partition's home core.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/log/segment.h"
#include "io/core_io.h"
#include "io/whole_transfer.h"

namespace weir::log {

class LedgerLoader {
 public:
  LedgerLoader(io::Disk& disk, io::Loop& loop);
  ~LedgerLoader();
  LedgerLoader(const LedgerLoader&) = delete;

  // Fills segment.ledger up to `valid_end` bytes and notes that it is loaded. `use_file`: false
  // rebuilds it whole. done completes with 0 or -errno; where batches before valid_end do not check
  // out, that range is entered as quarantined, and so are offsets that the file ends before
  // (segment.gathered_offset says where they should end). Several loaders may work on one segment:
  // the first to end wins.
  void start(const std::string& directory, Segment& segment, uint64_t valid_end, bool use_file,
             io::Op& done);
  bool busy() const { return stage_ != Stage::idle; }
  // What it waits for while busy; for straight-line code.
  io::Op& pending() { return read_.op().armed() ? read_.op() : op_; }
  uint64_t scanned_bytes() const { return scanned_bytes_; }

 private:
  enum class Stage : uint8_t {
    idle, opening_ledger, reading_ledger, closing_ledger, opening_log, reading_log, closing_log
  };
  void on_step(io::Op& op);
  void on_read(io::WholeRead& read);
  void take_ledger(std::span<const std::byte> bytes);
  void after_ledger();
  void read_more();
  void walk();
  bool quarantine(uint64_t from);
  void mark_missing();
  void finish(int32_t result);

  io::Disk& disk_;
  io::Loop& loop_;
  io::Op op_;
  io::WholeRead read_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  Segment* segment_ = nullptr;
  Ledger ledger_{model::Offset(0)};
  std::string directory_;
  std::string path_;
  uint64_t valid_end_ = 0;
  uint64_t scanned_bytes_ = 0;
  io::FileId file_ = io::kNoFile;
  std::vector<std::byte> ledger_bytes_;
  // The window over the segment: file bytes [window_begin_, window_begin_ + window_used_).
  std::byte* window_ = nullptr;
  size_t window_size_ = 0;
  uint64_t window_begin_ = 0;
  size_t window_used_ = 0;
  int32_t failure_ = 0;
};

}  // namespace weir::log
