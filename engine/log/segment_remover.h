#pragma once
// SegmentRemover: takes the files of segments that are no part of a log any more: when their time
// has come, one file after another, into the pool where it wants them, else from the disk, large
// ones in steps. The log start that makes them dead is durable before they come here; what a crash
// or a stop leaves behind, recovery finds below the start. Before a file is touched its directory
// is synced: other names in it, above all that of a producer snapshot, stand for what is lost with
// the file. One per core; may outlive the partitions whose files it has.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/log/file_cutter.h"
#include "engine/log/file_names.h"
#include "engine/log/segment_pool.h"
#include "engine/log/segment_recycler.h"
#include "io/core_io.h"

namespace weir::log {

class SegmentRemover {
 public:
  SegmentRemover(io::CoreIo& core, SegmentPool& pool);
  SegmentRemover(const SegmentRemover&) = delete;

  // Nobody has the segment open. `size` of its file, bytes; `due`: not before. `reusable`: the file
  // is whole and nothing is wrong with it.
  void remove(std::string directory, const SegmentName& name, uint64_t size, io::Instant due,
              bool reusable = false);
  // Before the core stops: what is under way ends, the rest is left to the next start.
  void stop();
  // Nothing under way, though files may wait for their time.
  bool idle() const { return stage_ == Stage::idle; }
  size_t waiting() const { return queue_.size(); }

 private:
  enum class Stage : uint8_t {
    idle,
    syncing_directory,
    cutting,
    removing_ledger,
    removing_log,
    recycling
  };
  struct Work {
    io::Instant due;
    uint64_t number = 0;  // in the order they came, so that equal times keep it
    std::string directory;
    SegmentName name;
    uint64_t size = 0;
    bool reusable = false;
  };
  static bool later(const Work& a, const Work& b);

  void on_timer();
  void on_step(io::Op& op);
  void begin();
  void let_go();
  void remove_file(Stage stage);

  io::CoreIo& core_;
  SegmentPool& pool_;
  io::Op op_;
  FileCutter cutter_;
  SegmentRecycler recycler_;
  io::Timer timer_;
  Stage stage_ = Stage::idle;
  std::vector<Work> queue_;  // a heap, the earliest first
  Work work_;                // under way
  std::string path_;
  uint64_t next_number_ = 0;
  bool stopped_ = false;
};

}  // namespace weir::log
