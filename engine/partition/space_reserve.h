#pragma once
// SpaceReserve: disk space of one core, kept for what goes on when the disk is full: commits of
// groups, ends of transactions, changes of the catalog, deletions (RELIABILITY P9, decision 0018).
// A file that holds nothing: it is cut shorter when such work finds no space, and grows back when
// there is some.
//
// From the first time that something finds no space until the reserve is whole and there is room
// besides, plenty() is false: partitions of users then refuse what needs new space without asking
// the disk, so that they neither take what was given to others nor try in vain with every request.
// One per core; the broker also removes the files of all cores when a start finds no room.

#include <cstdint>
#include <deque>
#include <string>

#include "engine/log/segment_pool.h"
#include "engine/partition/config.h"
#include "engine/partition/metrics.h"
#include "io/core_io.h"

namespace weir::partition {

class SpaceReserve {
 public:
  // What is given at a time, and what must be free beyond the reserve before users get space again.
  static constexpr uint64_t kStep = uint64_t{1} << 20;

  // `directory` is the data directory. Does nothing before start(): plenty(), and nothing to give.
  SpaceReserve(io::CoreIo& core, const Config& config, Metrics& metrics, log::SegmentPool& pool,
               const std::string& directory);
  ~SpaceReserve();
  SpaceReserve(const SpaceReserve&) = delete;

  // Makes or completes the file soon, in the background.
  void start();
  // Closes the file, which stays; closed() follows. Nothing is given any more.
  void stop();
  bool closed() const { return stage_ == Stage::closed; }

  bool plenty() const { return !short_; }
  uint64_t held() const { return held_; }
  // Somebody found no space on the disk.
  void on_no_room();
  // Gives kStep bytes back to the file system, or a file of the pool while that has any. `done`,
  // not armed meanwhile, is posted with 0, or with -ENOSPC when there are none left; it must live
  // until then.
  void give(io::Op& done);

 private:
  enum class Stage : uint8_t {
    closed, opening, sizing, idle, growing, probing, trimming, giving, syncing, closing
  };

  void on_timer();
  void on_step(io::Op& op);
  void advance(Stage stage);
  void next();
  void became_short();
  void look_again();
  uint64_t give_size() const;

  io::CoreIo& core_;
  const Config& config_;
  Metrics& metrics_;
  log::SegmentPool& pool_;
  const std::string path_;
  io::Op op_;
  io::Timer timer_;
  io::FileId file_ = io::kNoFile;
  Stage stage_ = Stage::closed;
  uint64_t held_ = 0;           // size of the file, all of it allocated
  std::deque<io::Op*> asked_;   // of give(), in order
  bool short_ = false;
  bool look_due_ = false;       // the timer fired while something was under way
  bool stopping_ = false;
};

}  // namespace weir::partition
