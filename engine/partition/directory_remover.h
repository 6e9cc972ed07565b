#pragma once
// DirectoryRemover: takes deleted partitions' directories away in the background: renamed first, so
// that a crash leaves nothing that looks alive, then file by file, whole segments into the pool
// where it wants them. One directory at a time; one core.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "engine/log/segment_pool.h"
#include "engine/log/segment_recycler.h"
#include "engine/model/ids.h"
#include "io/core_io.h"

namespace weir::partition {

class DirectoryRemover {
 public:
  DirectoryRemover(io::CoreIo& core, std::string topics_directory, log::SegmentPool& pool);
  DirectoryRemover(const DirectoryRemover&) = delete;

  // `directory` is renamed to `deleted`, then removed. A directory that does not exist is no error.
  // `open_files`: of the directory; closed first. `reusable`: sizes of files in it that may have
  // another life, by name.
  void remove(std::string directory, std::string deleted, std::vector<io::FileId> open_files = {},
              std::map<std::string, uint64_t> reusable = {});
  bool idle() const { return stage_ == Stage::idle; }

 private:
  enum class Stage : uint8_t {
    idle,
    closing_files,
    renaming,
    syncing,
    removing_files,
    recycling_file,
    removing_directory
  };
  struct Work {
    std::string directory;
    std::string deleted;
    std::vector<io::FileId> open_files;
    std::map<std::string, uint64_t> reusable;
  };
  void begin();
  void on_step(io::Op& op);
  void next_file();

  io::CoreIo& core_;
  std::string topics_directory_;
  log::SegmentPool& pool_;
  log::SegmentRecycler recycler_;
  io::Op op_;
  Stage stage_ = Stage::idle;
  std::deque<Work> queue_;
  std::vector<std::string> files_;  // names, the last one next
  std::string path_;
};

}  // namespace weir::partition
