#pragma once
// UringDisk: Disk over ring operations.

#include <deque>

#include "io/disk.h"
#include "io/loop.h"
#include "io/posix/helper_threads.h"
#include "io/uring/ring.h"

namespace weir::io::uring {

// One core's. A FileId is the descriptor. An operation that is one kernel step has the Op's address
// as its user data; one that may take several (durable writes, open, remove, sync_directory) goes
// through a DiskStep, recycled, of which there are as many as such operations were ever in flight
// at once.
//
// What only a file system can refuse is found out when it refuses: RWF_DSYNC becomes write, then
// fdatasync; O_DIRECT becomes a buffered file. Either is said once per core and remembered.
//
// Where the device needs a flush to make a write durable, the kernel completes durable writes of a
// ring on a worker bound to the CPU that took the interrupt: a busy program there holds them up
// until the next timer tick (4 ms at 250 Hz). A helper thread that waits in pwritev2(2) sends the
// flush itself, on whichever CPU is free, for about twice the processor time. So there helpers take
// what is awaited (docs/decisions/0011).
class UringDisk final : public Disk {
 public:
  // `helpers`: for awaited writes; nullptr: the ring takes those too.
  UringDisk(Loop& loop, Ring& ring, posix::CoreJobs* helpers);

  bool register_memory(std::span<std::byte> memory) override;

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
  struct DiskStep : Step {
    enum class Stage : uint8_t {
      open_direct,      // -EINVAL: again, buffered
      write_durable,    // -EOPNOTSUPP: again, in two steps
      write_then_sync,  // the write; then the sync
      sync_written,     // `result` is the write's
      remove_file,      // -EISDIR: again, as a directory
      open_directory,
      sync_directory,
      close_directory,  // `result` is the sync's
    };
    Op* op = nullptr;
    Stage stage{};
    int file = -1;
    int32_t result = 0;
    const char* path = nullptr;     // the caller's
    OpenOptions options;            // of open
    std::span<const Slice> pieces;  // the caller's
    uint64_t position = 0;          // of the write
  };

  DiskStep& acquire(Op& op, DiskStep::Stage stage);
  void finish(DiskStep& step, int32_t result);
  io_uring_sqe& prepare_write(int file, std::span<const Slice> pieces, uint64_t position,
                              unsigned flags);
  void submit_open(DiskStep& step);
  void submit_write(DiskStep& step);

  static void on_step(void* owner, Step& step, int32_t result, uint32_t flags);
  void on_opened(DiskStep& step, int32_t result);
  void on_written(DiskStep& step, int32_t result);
  void on_removed(DiskStep& step, int32_t result);
  void on_directory(DiskStep& step, int32_t result);

  Loop& loop_;
  Ring& ring_;
  posix::CoreJobs* helpers_;
  bool dsync_;   // RWF_DSYNC works, as far as is known
  bool direct_;  // O_DIRECT is not denied
  bool told_buffered_ = false;
  std::deque<DiskStep> steps_;  // stable addresses
  std::vector<DiskStep*> unused_;
};

}  // namespace weir::io::uring
