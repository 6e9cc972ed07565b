#include "engine/log/file_cutter.h"

#include <utility>

#include "io/base/assert.h"

namespace weir::log {

FileCutter::FileCutter(io::CoreIo& core) : core_(core) { op_.bind<&FileCutter::on_step>(*this); }

void FileCutter::start(const std::string& path, uint64_t size, io::Op& done) {
  ASSERT(stage_ == Stage::idle);
  path_ = path;
  size_ = size;
  done_ = &done;
  if (size_ <= kStep || stopped_) return finish();
  stage_ = Stage::opening;
  core_.disk.open(op_, path_.c_str(), {});
}

void FileCutter::cut() {
  size_ -= kStep;
  stage_ = Stage::truncating;
  core_.disk.truncate(op_, file_, size_);
}

void FileCutter::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::opening:
      if (result < 0) return finish();
      file_ = io::FileId(result);
      return cut();
    case Stage::truncating:
      if (result >= 0 && size_ > kStep && !stopped_) return cut();
      stage_ = Stage::closing;
      return core_.disk.close(op_, std::exchange(file_, io::kNoFile));
    case Stage::closing: return finish();
    case Stage::idle: break;
  }
  UNREACHABLE("file cutter stage {}", static_cast<int>(stage_));
}

void FileCutter::finish() {
  stage_ = Stage::idle;
  core_.loop.post(*std::exchange(done_, nullptr));
}

}  // namespace weir::log
