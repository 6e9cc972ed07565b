#pragma once
// SegmentRecycler: moves the file of a dead segment into the pool. Nobody has it open, and what
// makes it dead is durable. It is the pool's only when its new name is durable and its old one is
// durably gone: with both names left by a power cut, a segment that is made of it would be removed,
// or recycled, under its old name. One file at a time; owned by its user, one core.

#include <cstdint>
#include <string>

#include "engine/log/segment_pool.h"
#include "io/core_io.h"

namespace weir::log {

class SegmentRecycler {
 public:
  SegmentRecycler(io::CoreIo& core, SegmentPool& pool);
  SegmentRecycler(const SegmentRecycler&) = delete;

  // `path` lies in `directory`; `size` bytes. `done` completes with 0: the name is gone; or with
  // -errno: the file is where it was, for the caller to remove.
  void start(const std::string& directory, const std::string& path, uint64_t size, io::Op& done);

 private:
  enum class Stage : uint8_t { idle, renaming, syncing_source, syncing_pool };

  void on_step(io::Op& op);
  void finish(int32_t result);

  io::CoreIo& core_;
  SegmentPool& pool_;
  io::Op op_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  std::string directory_;
  std::string path_;
  SegmentPool::Spare spare_;
};

}  // namespace weir::log
