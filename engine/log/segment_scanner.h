#pragma once
// SegmentScanner: the batches of a sealed segment from the first to the last, some groups at a
// time, each checked against the ledger before anyone sees it. For compaction: nothing is kept in
// memory behind it, neither the ledger nor the bytes. One segment at a time; owned by its user, one
// core.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/log/ledger_loader.h"
#include "engine/log/segment.h"
#include "io/core_io.h"
#include "io/whole_transfer.h"

namespace weir::log {

class SegmentScanner {
 public:
  // Whole groups up to so much are read at once; one group always.
  static constexpr uint64_t kWindowMax = uint64_t{256} << 10;

  SegmentScanner(io::CoreIo& core, BufferPool& pool);
  ~SegmentScanner();
  SegmentScanner(const SegmentScanner&) = delete;

  // The segment is sealed; it counts a user until close(). `done` completes with 0, then ledger()
  // is there, or -errno; close() either way.
  void open(const std::string& directory, Segment& segment, io::Op& done);
  const Ledger& ledger() const { return scratch_->ledger; }
  bool is_open() const { return segment_ != nullptr; }

  // `done` completes with 0 and bytes() has the next whole batches, none at the end; -EBADMSG: a
  // group does not check out, or was found damaged before; or another -errno.
  void read(io::Op& done);
  std::span<const std::byte> bytes() const { return bytes_; }
  void close(io::Op& done);

 private:
  enum class Stage : uint8_t { idle, loading, opening, reading, closing };
  void on_step(io::Op& op);
  void on_read(io::WholeRead& read);
  void take_window();
  void release_window();
  void finish(int32_t result);

  io::CoreIo& core_;
  BufferPool& pool_;
  LedgerLoader loader_;
  io::Op op_;
  io::WholeRead read_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  Segment* segment_ = nullptr;
  std::unique_ptr<Segment> scratch_;  // its ledger, for as long as it is open
  std::string path_;
  io::FileId file_ = io::kNoFile;
  size_t group_ = 0;      // of the next window
  size_t group_end_ = 0;  // behind the last one of the window under way
  uint64_t window_begin_ = 0;
  BufferPool::Buffer window_;
  std::span<const std::byte> bytes_;
};

}  // namespace weir::log
