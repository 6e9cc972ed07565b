#pragma once
// PosixDisk: Disk over helper threads.

#include "io/posix/helper_threads.h"

namespace weir::io::posix {

// One core's. A FileId is the descriptor. Each call becomes a Job.
class PosixDisk final : public Disk {
 public:
  explicit PosixDisk(CoreJobs& jobs) : jobs_(jobs) {}

  void open(Op& op, const char* path, OpenOptions options) override;
  void close(Op& op, FileId file) override;
  void read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) override;
  void write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
             Durability durability) override;
  void sync(Op& op, FileId file) override;
  void allocate(Op& op, FileId file, uint64_t position, uint64_t size) override;
  void truncate(Op& op, FileId file, uint64_t size) override;
  void rename(Op& op, const char* from, const char* to) override;
  void remove(Op& op, const char* path) override;
  void make_directory(Op& op, const char* path) override;
  void sync_directory(Op& op, const char* path) override;

  base::Result<std::vector<DirectoryEntry>> list(const std::string& path) override;
  base::Result<FileInfo> info(const std::string& path) override;
  base::Result<uint64_t> free_bytes(const std::string& path) override;
  base::Result<uint64_t> total_bytes(const std::string& path) override;
  std::string path_of(FileId file) override;

 private:
  CoreJobs& jobs_;
};

}  // namespace weir::io::posix
