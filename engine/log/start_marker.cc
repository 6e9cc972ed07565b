#include "engine/log/start_marker.h"

#include <utility>

#include "engine/log/file_names.h"
#include "engine/model/planted.h"
#include "io/base/assert.h"

namespace weir::log {

StartMarker::StartMarker(io::CoreIo& core) : core_(core) { op_.bind<&StartMarker::on_step>(*this); }

void StartMarker::start(const std::string& directory, model::Offset offset,
                        std::vector<model::Offset> older, io::Op& done) {
  ASSERT(stage_ == Stage::idle);
  directory_ = directory;
  path_ = segment_file(directory, offset, kStartSuffix);
  older_ = std::move(older);
  failure_ = 0;
  done_ = &done;
  stage_ = Stage::opening;
  core_.disk.open(op_, path_.c_str(), {.create = true});
}

void StartMarker::close(int32_t failure) {
  failure_ = failure;
  stage_ = Stage::closing;
  core_.disk.close(op_, std::exchange(file_, io::kNoFile));
}

void StartMarker::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (stage_) {
    case Stage::opening:
      if (result < 0) return finish(result);
      file_ = io::FileId(result);
      stage_ = Stage::syncing_file;
      return core_.disk.sync(op_, file_);
    case Stage::syncing_file: return close(result);
    case Stage::closing:
      if (failure_ < 0) return finish(failure_);
      if (model::planted(model::Bug::start_moved_before_durable)) return finish(0);
      stage_ = Stage::syncing_directory;
      return core_.disk.sync_directory(op_, directory_.c_str());
    case Stage::syncing_directory:
      if (result < 0) return finish(result);
      return remove_next();
    case Stage::removing: return remove_next();  // one that stays says nothing new
    case Stage::idle: break;
  }
  UNREACHABLE("start marker stage {}", static_cast<int>(stage_));
}

void StartMarker::remove_next() {
  if (older_.empty()) return finish(0);
  stage_ = Stage::removing;
  path_ = segment_file(directory_, older_.back(), kStartSuffix);
  older_.pop_back();
  core_.disk.remove(op_, path_.c_str());
}

void StartMarker::finish(int32_t result) {
  stage_ = Stage::idle;
  core_.loop.post(*std::exchange(done_, nullptr), result);
}

}  // namespace weir::log
