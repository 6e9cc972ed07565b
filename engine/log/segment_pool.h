#pragma once
// SegmentPool: files of dead segments that wait to become segments again (DESIGN 4.4, decision
// 0024). Their blocks have been written: what is written into them next needs no metadata made
// durable with it. What stands in them is nobody's; a segment says by journal and ledger what of
// its file counts.
//
// A file comes in by SegmentRecycler and goes out by SegmentMaker: it is listed here only while its
// name is durable in the pool's directory and durably gone from everywhere else, so that no two
// names of one file are ever in use, whatever crash comes. Hence, too, a start believes nothing
// that it finds there: all of it is removed.
//
// The space is as good as free: give() returns it to the file system, and after that nothing is
// taken in for a while. One per core; the directory is shared by all cores.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/file_cutter.h"
#include "io/core_io.h"

namespace weir::log {

class SegmentPool {
 public:
  struct Options {
    uint64_t bytes_max = 0;               // of all files; 0: there is no pool
    uint64_t file_bytes_min = 256 << 10;  // with a smaller one nothing is gained
  };
  struct Spare {
    std::string path;
    uint64_t size = 0;  // whole blocks, all of them written once
  };
  // Takes nothing in for so long after the disk was found full.
  static constexpr int64_t kPauseWhenFull_ns = 10'000'000'000;
  // At most this part of the file system.
  static constexpr uint64_t kShareOfDisk = 16;

  // `directory` must exist before start().
  SegmentPool(io::CoreIo& core, std::string directory, const Options& options);
  SegmentPool(const SegmentPool&) = delete;

  const std::string& directory() const { return directory_; }

  void start();
  // No file comes in any more, and none is removed but for give().
  void stop();
  bool idle() const { return stage_ == Stage::idle && asked_.empty(); }

  // Whether a file of `size` bytes is welcome now.
  bool wants(uint64_t size) const;
  // A name in the directory that no file had before.
  std::string new_path();
  // The file is at `path`, a new_path(), and durably nowhere else. The oldest go where there are
  // too many then.
  void add(Spare spare);
  // The same, but it is to be removed.
  void discard(Spare spare);
  // The largest file of at least `size_min` and at most `size_max` bytes. It is the caller's.
  std::optional<Spare> take(uint64_t size_min, uint64_t size_max);

  // Whether there is nothing that give() could give.
  bool empty() const { return spares_.empty() && condemned_.empty(); }
  // Removes one file, durably. `done`, not armed meanwhile, is posted with 0 and must live until
  // then.
  void give(io::Op& done);
  // Somebody found no space on the disk: everything goes, in the background.
  void on_no_room();

  uint64_t bytes() const { return bytes_; }
  size_t size() const { return spares_.size(); }

 private:
  enum class Stage : uint8_t { idle, cutting, removing, giving, syncing };

  void on_step(io::Op& op);
  void next();
  void condemn_oldest();
  void close_for_a_while();

  io::CoreIo& core_;
  const std::string directory_;
  Options options_;
  io::Op op_;
  FileCutter cutter_;
  Stage stage_ = Stage::idle;
  std::deque<Spare> spares_;     // oldest first
  std::deque<Spare> condemned_;  // to be removed, oldest first
  Spare work_;                   // being removed
  std::deque<io::Op*> asked_;    // of give()
  uint64_t bytes_ = 0;           // of spares_
  uint64_t run_ = 0;             // random, part of the names
  uint64_t next_number_ = 0;
  io::Instant closed_until_{};
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace weir::log
