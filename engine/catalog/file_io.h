#pragma once
// Small whole files of the data directory, read and replaced in straight-line code: at start and in
// tools only, before the loop serves anything.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/base/result.h"
#include "io/disk.h"
#include "io/loop.h"

namespace weir::catalog {

// One data directory. Everything runs the loop until it is done.
class FileIo {
 public:
  FileIo(io::Loop& loop, io::Disk& disk, std::string directory);

  std::string path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  const std::string& directory() const { return directory_; }

  // The bytes on the device, past the page cache: what a failed write left in memory is not read.
  // The error code is ENOENT where there is no such file.
  base::Result<std::vector<std::byte>> read(std::string_view name, size_t size_max);

  // After success the name has the new bytes, through any crash; after an error or a crash, the old
  // ones or the new ones, never a mixture: name.new, sync, rename, sync of the directory.
  base::Status replace(std::string_view name, std::span<const std::byte> bytes);

  base::Result<io::FileId> open(std::string_view name, io::OpenOptions options);
  // Waits until no write of a dead process can land in the file any more (io/locked_open.h).
  base::Status settle(std::string_view name);
  base::Status truncate_and_sync(io::FileId file, uint64_t size);
  base::Status close(io::FileId file);
  // Nothing to remove is no error.
  base::Status remove(std::string_view name);

 private:
  void on_done(io::Op&) {}
  base::Status finish(io::Op& op, std::string_view action, const std::string& path);
  base::Status sync_directory();
  base::Status write_all(io::FileId file, std::span<const std::byte> bytes,
                         const std::string& path);
  base::Status write_new(const std::string& path, std::span<const std::byte> bytes);

  io::Loop& loop_;
  io::Disk& disk_;
  std::string directory_;
};

}  // namespace weir::catalog
