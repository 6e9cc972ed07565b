#pragma once
// What the segment tests share: a log with real files over the simulated disk, filled without
// journal or partition.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/log/file_names.h"
#include "engine/log/log.h"
#include "engine/log/segment_files.h"
#include "engine/log/segment_reader.h"
#include "io/base/logging.h"
#include "io/sim/sim_world.h"
#include "tests/engine/log/batch_support.h"

namespace weir::log {

class LogWorld {
 public:
  explicit LogWorld(uint64_t seed = 1, io::sim::SimOptions options = {})
      : world_(seed, options), pool_(1 << 20), log_(pool_, kDirectory) {
    base::set_log_level(base::LogLevel::off);
    world_.disk().install_directory("/data/topics");
    op_.bind<&LogWorld::on_done>(*this);
  }
  ~LogWorld() {
    if (!world_.crashed()) world_.crash(io::sim::CrashKind::process_kill);
  }

  static constexpr const char* kDirectory = "/data/topics/t-0.1";

  io::sim::SimWorld& sim() { return world_; }
  io::CoreIo& core() { return world_.core(0); }
  Log& log() { return log_; }
  BufferPool& pool() { return pool_; }
  io::Op& op() { return op_; }
  // For operations that are armed only when they are over.
  int32_t wait() {
    EXPECT_TRUE(world_.run_until([&] { return done_; }, 60'000'000'000));
    done_ = false;
    return op_.result();
  }

  // A new active segment with a file of at least `size` bytes.
  Segment& roll(uint64_t size) {
    SegmentMaker maker(core());
    maker.start("/data/topics", kDirectory, log_.empty(), log_.end_offset(), size, op_);
    EXPECT_EQ(wait(), 0);
    return log_.roll(maker.file(), maker.allocated());
  }
  // Placed and, as a journal would say, durable.
  Placed append(std::span<const std::byte> batch, int32_t leader_epoch = 1) {
    const Placed placed = log_.append(batch, leader_epoch);
    Segment& active = log_.active();
    active.gathered = active.committed = active.end;
    active.gathered_offset = log_.end_offset();
    bytes_.insert(bytes_.end(), batch.begin(), batch.end());
    const auto front = std::span(bytes_).last(batch.size());
    set_base_offset(front, placed.base_offset);
    set_leader_epoch(front, leader_epoch);
    return placed;
  }
  // Everything that was appended, as a reader gets it.
  const std::vector<std::byte>& bytes() const { return bytes_; }

  // Whole blocks to the file, as a flush does.
  void flush() {
    Segment& active = log_.active();
    const uint64_t stop = active.committed / io::kBlockSize * io::kBlockSize;
    if (stop <= active.written) return;
    io::WholeWrite write;
    write.bind<&LogWorld::on_write>(*this);
    active.buffer.slices(active.written, stop, write.pieces());
    write.start(core().disk, active.file, active.written, io::Durability::on_completion);
    while (write.armed()) core().loop.run_until(write.op());
    EXPECT_EQ(write.error(), 0);
    active.written = active.submitted = stop;
  }
  void drop_memory() {
    Segment& active = log_.active();
    active.buffer.drop_before(active.ledger.boundary_at_or_before(active.written));
  }
  int32_t seal(Segment& segment) {
    SegmentSealer sealer(core());
    sealer.start(kDirectory, segment, op_);
    const int32_t result = wait();
    if (result == 0) segment.buffer.clear();
    return result;
  }
  std::string path(int64_t base_offset, std::string_view suffix) const {
    return segment_file(kDirectory, model::Offset(base_offset), suffix);
  }

  struct Got {
    model::ErrorCode error{};
    std::vector<std::byte> bytes;
    bool at_once = false;
  };
  Got read(int64_t offset, uint64_t size_max, bool first_whole = false) {
    SegmentReader reader(core());
    Lease lease;
    Got got;
    got.at_once = reader.start(
        log_,
        {.offset = model::Offset(offset), .size_max = size_max, .first_batch_whole = first_whole},
        lease, op_);
    if (!got.at_once) wait();
    got.error = reader.error();
    for (const io::Slice& piece : lease.pieces) {
      got.bytes.insert(got.bytes.end(), piece.data, piece.data + piece.size);
    }
    EXPECT_EQ(got.bytes.size(), reader.size());
    return got;
  }

 private:
  void on_done(io::Op&) { done_ = true; }
  void on_write(io::WholeWrite&) {}

  io::sim::SimWorld world_;
  BufferPool pool_;
  Log log_;
  std::vector<std::byte> bytes_;
  io::Op op_;
  bool done_ = false;
};

}  // namespace weir::log
