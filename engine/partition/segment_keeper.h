#pragma once
// SegmentKeeper: the files of one partition, off the acknowledgement path: makes the next segment,
// allocates ahead, moves committed bytes from journal to segment, seals full segments, keeps the
// ledger file and the producer snapshot near the end so that recovery has little to read. Owned by
// a Partition; one core.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/log/log.h"
#include "engine/log/segment_files.h"
#include "engine/partition/producer_state.h"
#include "engine/partition/services.h"
#include "io/whole_transfer.h"

namespace weir::partition {

// An errno that says "not now", not that the device cannot be trusted.
bool lacks_resource(int error);

class SegmentKeeper : public PrimerHook {
 public:
  // What the partition does when a piece of work is over.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_space(int error) = 0;  // a segment was made or grown, or could not be (errno)
    virtual void on_flushed() = 0;         // the active segment's `written` moved
    virtual void on_sealed() = 0;
    virtual void on_keeper_failed(
        int error) = 0;  // a write or sync failed: the device is not trusted
    virtual void on_keeper_idle() = 0;
    virtual model::Offset committed_offset() const = 0;  // next offset behind what is durable
  };

  SegmentKeeper(Services& services, log::Log& log, ProducerState& producers, Owner& owner);
  ~SegmentKeeper() { PrimerHook::unlink(); }

  // At open: the active segment's file, for a log that recovery found. on_space() follows.
  void open_active();
  // The directory does not exist yet.
  void set_new(bool is_new) { directory_is_new_ = is_new; }

  // On a full disk it may take what the core keeps in reserve.
  void set_uses_reserve(bool uses) { uses_reserve_ = uses; }
  // Makes room for `size` more bytes behind the end: on_space() follows.
  void make_space(size_t size, int64_t offsets, uint64_t segment_size_max);
  bool making_space() const { return space_stage_ != SpaceStage::idle; }
  // Allocates further ahead when the end comes near.
  void allocate_ahead(uint64_t segment_size_max);

  // A run of so many bytes went straight to the active segment: after a burst of them the primer is
  // asked for more blocks like these.
  void note_extent(uint64_t size, io::Instant now);
  // Writes some of `zeros` behind the end, where the next appends go, as making_space(): appends
  // that reach so far wait, and on_space() follows. False: there is nothing to prime. The primer is
  // told when it is over.
  bool prime(std::span<const std::byte> zeros);

  // Writes whole committed blocks of the active segment; on_flushed() follows. Nothing to do:
  // false.
  bool flush();
  bool flushing() const { return flush_write_.armed(); }
  // Nothing will be appended any more: everything committed goes to the segment, the last partial
  // block too, padded, so that the file can be read without the journal; then a checkpoint.
  void prepare_stop();
  // Seals the oldest segment that is full and wholly committed, if any and if idle.
  void seal_next();
  bool has_unsealed() const;  // besides the active segment
  // Ledger entries and producer snapshot to disk, when enough was written since the last time, or
  // `force`d.
  void checkpoint(bool force);
  // Whether a snapshot, durable once the directory is synced, has the producers of what lies below
  // `offset`, so that its files may go. False: on_keeper_idle() follows when it is worth another
  // look, or something but room is short and a later round asks again.
  bool snapshot_reaches(model::Offset offset);
  // The same, but only a snapshot that is there counts.
  bool snapshot_holds(model::Offset offset);
  // What the last snapshot says is not true any more: snapshot_holds() asks for a new one.
  void forget_snapshot();
  // Offsets became durable: a snapshot may have waited for them.
  void on_commit();

  bool idle() const;

 private:
  enum class SpaceStage : uint8_t {
    idle, opening, making, growing, refusing, asking, priming, trimming
  };
  enum class CheckpointStage : uint8_t {
    idle, opening_ledger, writing_ledger, closing_ledger, awaiting_commit, opening_snapshot,
    writing_snapshot, closing_snapshot, renaming_snapshot
  };

  void note_no_snapshot(int error);
  void make_segment(size_t size);
  void trim_for_stop();
  void on_space_step(io::Op& op);
  bool find_room_elsewhere(SpaceStage stage, int error);
  void on_primed(io::WholeWrite& write);
  void on_flush(io::WholeWrite& write);
  void on_seal(io::Op& op);
  void on_checkpoint_step(io::Op& op);
  void on_checkpoint_write(io::WholeWrite& write);
  void snapshot_when_committed();
  void checkpoint_over();
  void tell_idle();

  Services& services_;
  log::Log& log_;
  ProducerState& producers_;
  Owner& owner_;
  bool directory_is_new_ = false;

  io::Op space_op_;
  SpaceStage space_stage_ = SpaceStage::idle;
  uint64_t grow_to_ = 0;  // what `allocated` of the active segment will be
  size_t space_size_ = 0;            // what make_space() was asked for
  int64_t space_offsets_ = 0;
  uint64_t space_segment_max_ = 0;
  bool barely_ = false;              // grows by what is needed, not further ahead
  bool uses_reserve_ = false;
  log::SegmentMaker maker_;
  std::string path_;

  io::WholeWrite prime_write_;
  uint64_t burst_bytes_ = 0;    // written straight to segments without a quiet moment between
  io::Instant burst_seen_{};    // when the last of them was committed

  io::WholeWrite flush_write_;
  log::Segment* flush_segment_ = nullptr;
  uint64_t flush_end_ = 0;
  bool stopping_ = false;  // and the end is not in the file yet
  bool stopped_ = false;   // or soon will be

  io::Op seal_op_;
  log::SegmentSealer sealer_;
  log::Segment* sealing_ = nullptr;

  io::Op checkpoint_op_;
  io::WholeWrite checkpoint_write_;
  CheckpointStage checkpoint_stage_ = CheckpointStage::idle;
  uint64_t checkpointed_ = 0;  // `written` of the active segment at the last checkpoint
  std::vector<std::byte> checkpoint_bytes_;
  std::vector<std::byte> snapshot_bytes_;
  model::Offset snapshot_offset_;  // what the snapshot reflects; written once that is durable
  model::Offset snapshotted_ = model::kNoOffset;  // what the last one in place reflects
  bool snapshot_failed_ = false;                  // the last attempt, for want of room
  io::Instant no_snapshot_before_{};              // something else was short
  bool snapshot_outdated_ = false;                // the one under way
  size_t checkpoint_groups_ = 0;
  log::Segment* checkpoint_segment_ = nullptr;
  std::string checkpoint_path_;
  std::string checkpoint_final_path_;
  io::FileId checkpoint_file_ = io::kNoFile;
};

}  // namespace weir::partition
