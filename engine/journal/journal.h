#pragma once
// Journal: the ring of blocks of one core and its commit cycle (DESIGN 4.2, 4.3).
//
// Sources that have something to commit mark themselves dirty. At the end of the turn one commit
// takes what all of them have; the next starts when it completes, or beside it when much waits. A
// commit is over when its record and its segment writes are durable and all earlier commits are;
// then its parts are told.
//
// The ring: records lie one after another from kRecordsBegin; one that does not fit before the end
// starts at kRecordsBegin again. Space is reused only when a durable record says (tail_sequence)
// that what lies there is not needed: recovery can then follow the chain from the tail.
//
// After the first failed write nothing is acknowledged any more, ever (rule 4).

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/journal/commit.h"
#include "engine/journal/config.h"
#include "engine/journal/metrics.h"
#include "engine/journal/source.h"
#include "io/core_io.h"

namespace weir::journal {

class Journal {
 public:
  Journal(io::CoreIo& core, const Config& config);
  Journal(const Journal&) = delete;
  ~Journal();

  // Opens a file made by create_journals(); `done` completes with 0 or -errno.
  void open(const std::string& path, const LogId& log_id, uint64_t generation, io::Op& done);

  // `bytes` more wait at the source; 0 for a carry.
  void mark_dirty(Source& source, uint64_t bytes);
  // Called by a source in committed(): bytes found nowhere else start at record `sequence`; 0: none
  // do.
  void set_needed(Source& source, uint64_t sequence);
  // Everything the source had is in its segments, and nothing of it waits or is in flight but
  // carries.
  void release(Source& source);
  // The source goes away: nothing of it waits or is needed. No part of it may be in flight.
  void forget(Source& source);

  bool failed() const { return failed_; }
  // A write or sync beside the journal failed on the same device (errno): the same consequence.
  void fail(int error);
  // Runs once, from the loop, after the first failed write; the broker then ends the process.
  void on_failure(io::Op& op) { failure_op_ = &op; }

  // `done` runs when nothing waits, nothing is in flight, and the file says so.
  void drain(io::Op& done);
  void close(io::Op& done);

  // Nothing waits to be committed or is on its way.
  bool quiet() const { return dirty_.empty() && in_flight_.empty(); }

  const Config& config() const { return config_; }
  Metrics& metrics() { return metrics_; }
  const Metrics& metrics() const { return metrics_; }
  uint64_t durable_sequence() const { return durable_sequence_; }

 private:
  friend class Commit;
  struct LiveRecord {
    uint64_t sequence;
    uint64_t position;
    uint32_t size;
  };

  void on_turn_end(io::Op& op);
  void on_open(io::Op& op);
  void on_frontier_timer();
  void schedule();
  bool may_start() const;
  void forget_waiting(Source& source);
  void note_carry(Source& source, uint64_t bytes);
  bool start_commit(bool frontier);
  void oldest_first();
  void gather(Commit& commit);
  // What the commit may take: new bytes within `room`, or carries only, within `free`.
  void go_on(Commit& commit, uint64_t room);
  void stall(Commit& commit, uint64_t free);
  bool place(uint32_t size, uint64_t& position);
  uint64_t free_space() const;
  uint64_t reserve() const;
  void commit_finished(Commit& commit);
  void complete(Commit& commit);
  void advance_tail();
  void publish_tail_if_stalled();
  void ask_for_room();
  void grow_if_needed();
  void on_growth(io::WholeWrite& write);
  void finish_drain();

  io::CoreIo& core_;
  Config config_;
  Metrics metrics_;
  io::FileId file_ = io::kNoFile;
  LogId log_id_;
  uint64_t generation_ = 0;
  std::string path_;

  // Ring. size_ is the end of the usable area; grown_to_ what is written with zeros behind it.
  uint64_t size_;
  uint64_t grown_to_;
  io::Instant no_growth_before_{};  // after the disk had no room for more
  uint64_t head_ = kRecordsBegin;      // where the next record goes
  std::deque<LiveRecord> live_;        // oldest first: written and not yet reusable
  uint64_t live_bytes_ = 0;
  uint64_t next_sequence_ = 1;
  uint64_t durable_sequence_ = 0;
  uint64_t tail_sequence_ = 1;         // oldest record still needed
  // The newest record, for the one behind it.
  uint32_t previous_checksum_ = 0;
  uint64_t previous_position_ = 0;
  uint32_t previous_size_ = 0;
  std::vector<Entry> previous_entries_;

  base::IntrusiveList<Source, Source::DirtyHook> dirty_;
  base::IntrusiveList<Source, Source::NeedHook> needed_;  // ascending oldest_needed
  uint64_t waiting_bytes_ = 0;
  uint64_t waiting_sources_ = 0;  // those that have some of them
  // What all sources together would carry, at most: a stalled ring needs room for it.
  uint64_t carry_bytes_ = 0;
  uint64_t carry_sources_ = 0;
  std::vector<std::unique_ptr<Commit>> free_;
  std::deque<std::unique_ptr<Commit>> in_flight_;  // oldest first

  io::Op turn_end_op_;
  io::Op open_op_;
  io::Op* open_done_ = nullptr;
  io::Op* drain_done_ = nullptr;
  io::Op* failure_op_ = nullptr;
  io::Timer frontier_timer_;
  io::WholeWrite growth_write_;
  std::byte* zeros_ = nullptr;  // source of growth, allocated while growing
  bool telling_ = false;  // the parts of a commit that is over, one after another
  bool stalled_ = false;
  bool frontier_wanted_ = false;
  bool failed_ = false;
  bool last_had_entries_ = false;  // an empty record needs no frontier behind it
};

}  // namespace weir::journal
