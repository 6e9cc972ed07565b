#include "engine/partition/directory_remover.h"

#include <cerrno>
#include <utility>

#include "io/base/logging.h"

namespace weir::partition {

DirectoryRemover::DirectoryRemover(io::CoreIo& core, std::string topics_directory)
    : core_(core), topics_directory_(std::move(topics_directory)) {
  op_.bind<&DirectoryRemover::on_step>(*this);
}

void DirectoryRemover::remove(std::string directory, std::string deleted,
                              std::vector<io::FileId> open_files) {
  queue_.push_back({std::move(directory), std::move(deleted), std::move(open_files)});
  if (stage_ == Stage::idle) begin();
}

void DirectoryRemover::begin() {
  if (queue_.empty()) {
    stage_ = Stage::idle;
    return;
  }
  auto& open_files = queue_.front().open_files;
  if (!open_files.empty()) {
    stage_ = Stage::closing_files;
    const io::FileId file = open_files.back();
    open_files.pop_back();
    return core_.disk.close(op_, file);
  }
  stage_ = Stage::renaming;
  core_.disk.rename(op_, queue_.front().directory.c_str(), queue_.front().deleted.c_str());
}

void DirectoryRemover::on_step(io::Op& op) {
  const int32_t result = op.result();
  if (stage_ == Stage::closing_files) return begin();
  if (result < 0 && stage_ != Stage::removing_files) {
    if (result != -ENOENT) {
      base::log_warning("partition", "cannot remove directory={} error={}",
                        queue_.front().directory, -result);
    }
    queue_.pop_front();
    return begin();
  }
  switch (stage_) {
    case Stage::renaming:
      stage_ = Stage::syncing;
      return core_.disk.sync_directory(op_, topics_directory_.c_str());
    case Stage::syncing: {
      files_.clear();
      const auto entries = core_.disk.list(queue_.front().deleted);
      if (entries) {
        for (const auto& entry : *entries) {
          files_.push_back(queue_.front().deleted + "/" + entry.name);
        }
      }
      return next_file();
    }
    case Stage::removing_files:
      files_.pop_back();
      return next_file();
    case Stage::removing_directory:
      queue_.pop_front();
      return begin();
    case Stage::closing_files:
    case Stage::idle: break;
  }
  UNREACHABLE("directory remover stage {}", static_cast<int>(stage_));
}

void DirectoryRemover::next_file() {
  if (!files_.empty()) {
    stage_ = Stage::removing_files;
    return core_.disk.remove(op_, files_.back().c_str());
  }
  stage_ = Stage::removing_directory;
  core_.disk.remove(op_, queue_.front().deleted.c_str());
}

}  // namespace weir::partition
