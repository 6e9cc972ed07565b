#pragma once
// ShadowDisk: a disk that takes every change and makes none: what is written, made, renamed and
// removed stays in memory, over files that are only read. `weir dump --verify` runs the recovery of
// the next start on it and sees what that would do. Blocking; completions run from the loop.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/disk.h"
#include "io/loop.h"

namespace weir::tools {

class ShadowDisk final : public io::Disk {
 public:
  // `loop` outlives it.
  explicit ShadowDisk(io::Loop& loop) : loop_(loop) {}
  ~ShadowDisk() override;

  void open(io::Op& op, const char* path, io::OpenOptions options) override;
  void close(io::Op& op, io::FileId file) override;
  void read(io::Op& op, io::FileId file, std::span<std::byte> into, uint64_t position) override;
  void write(io::Op& op, io::FileId file, std::span<const io::Slice> pieces, uint64_t position,
             io::Durability durability) override;
  void sync(io::Op& op, io::FileId file) override;
  void allocate(io::Op& op, io::FileId file, uint64_t position, uint64_t size) override;
  void truncate(io::Op& op, io::FileId file, uint64_t size) override;
  void rename(io::Op& op, const char* from, const char* to) override;
  void remove(io::Op& op, const char* path) override;
  void make_directory(io::Op& op, const char* path) override;
  void sync_directory(io::Op& op, const char* path) override;

  base::Result<std::vector<io::DirectoryEntry>> list(const std::string& path) override;
  base::Result<io::FileInfo> info(const std::string& path) override;
  base::Result<uint64_t> free_bytes(const std::string& path) override;
  base::Result<uint64_t> total_bytes(const std::string& path) override;
  std::string path_of(io::FileId) override { return {}; }

 private:
  using Block = std::vector<std::byte>;
  struct File {
    std::string source{};      // the file below; empty: made here
    uint64_t source_size = 0;  // how much of that is still in it
    uint64_t size = 0;
    int64_t modified_ms = 0;
    bool is_directory = false;
    std::map<uint64_t, Block> blocks{};  // by number, instead of those of the file below
  };
  struct OpenFile {
    std::shared_ptr<File> file;
    int descriptor = -1;  // of the file below
  };

  // Null: there is none of this name.
  std::shared_ptr<File> find(const std::string& path);
  int32_t open_below(const File& file, const io::OpenOptions& options, int& descriptor);
  // Bytes of the file below, zeros behind its end; 0 or -errno.
  static int32_t read_below(const OpenFile& open, std::span<std::byte> into, uint64_t position);
  int32_t write_block(const OpenFile& open, uint64_t number, size_t at,
                      std::span<const std::byte> bytes);

  io::Loop& loop_;
  std::map<std::string, std::shared_ptr<File>> names_;  // null: removed
  std::map<int32_t, OpenFile> open_;
  int32_t next_id_ = 0;
};

}  // namespace weir::tools
