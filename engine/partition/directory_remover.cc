#include "engine/partition/directory_remover.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "io/base/logging.h"

namespace weir::partition {

DirectoryRemover::DirectoryRemover(io::CoreIo& core, std::string topics_directory,
                                   log::SegmentPool& pool)
    : core_(core),
      topics_directory_(std::move(topics_directory)),
      pool_(pool),
      recycler_(core, pool) {
  op_.bind<&DirectoryRemover::on_step>(*this);
}

void DirectoryRemover::remove(std::string directory, std::string deleted,
                              std::vector<io::FileId> open_files,
                              std::map<std::string, uint64_t> reusable) {
  queue_.push_back({std::move(directory), std::move(deleted), std::move(open_files),
                    std::move(reusable)});
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
  if (stage_ == Stage::recycling_file) {
    if (result >= 0) files_.pop_back();
    else queue_.front().reusable.clear();
    return next_file();
  }
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
          files_.push_back(entry.name);
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
    case Stage::recycling_file:
    case Stage::idle: break;
  }
  UNREACHABLE("directory remover stage {}", static_cast<int>(stage_));
}

void DirectoryRemover::next_file() {
  const Work& work = queue_.front();
  if (!files_.empty()) {
    path_ = fmt::format("{}/{}", work.deleted, files_.back());
    const auto reusable = work.reusable.find(files_.back());
    if (reusable != work.reusable.end() && pool_.wants(reusable->second)) {
      stage_ = Stage::recycling_file;
      return recycler_.start(work.deleted, path_, reusable->second, op_);
    }
    stage_ = Stage::removing_files;
    return core_.disk.remove(op_, path_.c_str());
  }
  stage_ = Stage::removing_directory;
  core_.disk.remove(op_, queue_.front().deleted.c_str());
}

}  // namespace weir::partition
