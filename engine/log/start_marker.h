#pragma once
// StartMarker: makes the log start offset of a partition durable: an empty file
// "<offset, 20 digits>.start" in its directory; the greatest one counts. A name is whole or not
// there, so there is nothing to checksum, and it takes no block: the start moves although the disk
// is full, which is when it must (P10). One step at a time; owned by the partition, on its home
// core.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/model/ids.h"
#include "io/core_io.h"

namespace weir::log {

class StartMarker {
 public:
  explicit StartMarker(io::CoreIo& core);

  // done completes with 0: the marker of `offset` is durable, and those in `older` are on their way
  // out. Or with -errno: nothing is known of it, but nothing older was touched either.
  void start(const std::string& directory, model::Offset offset, std::vector<model::Offset> older,
             io::Op& done);
  bool busy() const { return stage_ != Stage::idle; }

 private:
  enum class Stage : uint8_t { idle, opening, syncing_file, closing, syncing_directory, removing };
  void on_step(io::Op& op);
  void close(int32_t failure);
  void remove_next();
  void finish(int32_t result);

  io::CoreIo& core_;
  io::Op op_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  std::string directory_;
  std::string path_;
  std::vector<model::Offset> older_;
  io::FileId file_ = io::kNoFile;
  int32_t failure_ = 0;
};

}  // namespace weir::log
