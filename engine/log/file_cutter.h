#pragma once
// FileCutter: cuts a large file shorter in steps, before somebody removes it, so that neither a
// core nor the file system stands still for the blocks of a whole segment. One file at a time;
// owned by its user, one core.

#include <cstdint>
#include <string>

#include "io/core_io.h"

namespace weir::log {

class FileCutter {
 public:
  // A file loses at most so much at a time.
  static constexpr uint64_t kStep = uint64_t{16} << 20;

  explicit FileCutter(io::CoreIo& core);
  FileCutter(const FileCutter&) = delete;

  // `size` of the file, bytes. `done` completes with 0 when at most kStep of it is left, when it
  // cannot be cut, or after stop().
  void start(const std::string& path, uint64_t size, io::Op& done);
  // What is under way ends after the present step.
  void stop() { stopped_ = true; }

 private:
  enum class Stage : uint8_t { idle, opening, truncating, closing };

  void on_step(io::Op& op);
  void cut();
  void finish();

  io::CoreIo& core_;
  io::Op op_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  std::string path_;
  uint64_t size_ = 0;
  io::FileId file_ = io::kNoFile;
  bool stopped_ = false;
};

}  // namespace weir::log
