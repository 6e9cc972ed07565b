#include "engine/log/segment_recycler.h"

#include <utility>

#include "io/base/assert.h"

namespace weir::log {

SegmentRecycler::SegmentRecycler(io::CoreIo& core, SegmentPool& pool) : core_(core), pool_(pool) {
  op_.bind<&SegmentRecycler::on_step>(*this);
}

void SegmentRecycler::start(const std::string& directory, const std::string& path, uint64_t size,
                            io::Op& done) {
  ASSERT(stage_ == Stage::idle);
  directory_ = directory;
  path_ = path;
  spare_ = {pool_.new_path(), size};
  done_ = &done;
  stage_ = Stage::renaming;
  core_.disk.rename(op_, path_.c_str(), spare_.path.c_str());
}

void SegmentRecycler::on_step(io::Op& op) {
  const int32_t result = op.result();
  if (result < 0) {
    if (stage_ == Stage::renaming) return finish(result);
    // Its directory may have been renamed meanwhile, with the name still in it after a power cut.
    pool_.discard(std::move(spare_));
    return finish(0);
  }
  switch (stage_) {
    case Stage::renaming:
      stage_ = Stage::syncing_source;
      return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::syncing_source:
      stage_ = Stage::syncing_pool;
      return core_.disk.sync_directory(op_, pool_.directory().c_str());
    case Stage::syncing_pool: break;
    case Stage::idle: UNREACHABLE("segment recycler without an operation");
  }
  pool_.add(std::move(spare_));
  finish(0);
}

void SegmentRecycler::finish(int32_t result) {
  stage_ = Stage::idle;
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
