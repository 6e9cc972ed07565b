#pragma once
// Disk: files, at the level of the system call. Every result is the caller's to check: short reads
// and writes, -EIO, -ENOSPC arrive as they would from the kernel (RELIABILITY rule 6).
//
// Ownership: paths, buffers and piece arrays belong to the caller and must stay valid and unchanged
// until the completion. Completions run from the loop. Writes to one file may complete in any
// order.
//
// Durability: a write with Durability::on_completion is on stable storage, data and the metadata
// needed to read it, when it completes with >= 0 (RWF_DSYNC, or write + fdatasync where that is
// refused). Durability::awaited promises the same; others wait for this write, so processor time
// may be spent to have it soon. Durability::background promises nothing, and lets others go first
// where it can. A sync covers only writes whose completion was seen before it was submitted
// (RELIABILITY rule 7).
//
// Direct files (OpenOptions::direct) bypass the page cache where the file system allows it; memory,
// position and size of their transfers must be multiples of kBlockSize, reads at the end may be
// short.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/base/result.h"
#include "io/base/strong_int.h"
#include "io/op.h"

namespace weir::io {

inline constexpr size_t kBlockSize = 4096;

// A file opened by one core's Disk; used on that core only.
using FileId = base::StrongInt<struct FileIdTag, int32_t>;
inline constexpr FileId kNoFile{-1};

// One piece of a gathered transfer; same layout as struct iovec (asserted by the back ends).
struct Slice {
  const std::byte* data = nullptr;
  size_t size = 0;
};
inline constexpr size_t kSlicesMax = 512;  // pieces of one write or send

enum class Durability : uint8_t { none, background, on_completion, awaited };
constexpr bool is_durable(Durability durability) { return durability >= Durability::on_completion; }

struct OpenOptions {
  bool create = false;     // create when missing, mode 0644
  bool exclusive = false;  // with create: -EEXIST when present
  bool direct = false;
  bool writable = true;
  // Takes flock(LOCK_EX) on this open file or fails with -EWOULDBLOCK. The kernel frees it when the
  // last reference goes, and a write in flight holds one: whoever gets the lock knows that no write
  // of a dead process still lands in the file (RELIABILITY rule 8).
  bool locked = false;
};

struct FileInfo {
  uint64_t size = 0;
  bool is_directory = false;
  int64_t modified_ms = 0;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

class Disk {
 public:
  virtual ~Disk() = default;

  // Tells the kernel about memory that many writes will come from; false: it works, but without
  // gain.
  virtual bool register_memory(std::span<std::byte>) { return false; }

  virtual void open(Op& op, const char* path, OpenOptions options) = 0;  // result: FileId value
  virtual void close(Op& op, FileId file) = 0;
  virtual void read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) = 0;
  virtual void write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                     Durability durability) = 0;
  virtual void sync(Op& op, FileId file) = 0;  // fdatasync
  virtual void allocate(Op& op, FileId file, uint64_t position,
                        uint64_t size) = 0;  // grows the size
  virtual void truncate(Op& op, FileId file, uint64_t size) = 0;
  virtual void rename(Op& op, const char* from, const char* to) = 0;  // replaces `to`
  virtual void remove(Op& op, const char* path) = 0;                  // file or empty directory
  virtual void make_directory(Op& op, const char* path) = 0;
  virtual void sync_directory(Op& op, const char* path) = 0;

  // Blocking; at start, in tools, and off the hot path only.
  virtual base::Result<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
  virtual base::Result<FileInfo> info(const std::string& path) = 0;
  virtual base::Result<uint64_t> free_bytes(const std::string& path) = 0;
  virtual base::Result<uint64_t> total_bytes(const std::string& path) = 0;  // of its file system
  // Where an open file is found now, for the log; empty when it has no name that is known.
  virtual std::string path_of(FileId file) = 0;
};

}  // namespace weir::io
