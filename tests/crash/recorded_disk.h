#pragma once
// RecordedDisk: a disk in memory that remembers every write and flush in their order, and fails on
// request. FUSE serves it as one file, a loop device makes a block device of that, and a file
// system on it is mounted: what the program under test then sees is an ordinary disk of the kernel.
//
// Needs root, /dev/fuse and loop devices: see why_not().

#include <fuse3/fuse.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/crash/disk_image.h"

namespace weir::crashtest {

// Empty when this machine lets us make such disks; else what is missing. Also makes the mounts of
// this thread, and of what it starts from now on, invisible to everybody else: they end with us.
std::string why_not();

// What the disk does wrong. Times count from the moment it is set.
struct DiskFaults {
  bool fail_writes = false;
  bool fail_flushes = false;
  bool drop_writes = false;  // and says that it wrote
  int write_delay_ms = 0;
  int flush_delay_ms = 0;
  std::optional<std::pair<uint64_t, uint64_t>> unreadable{};  // position, size
};

class RecordedDisk {
 public:
  // An empty disk. It and its file system are mounted in folders of `directory`.
  RecordedDisk(std::string directory, uint64_t size);
  ~RecordedDisk();
  RecordedDisk(const RecordedDisk&) = delete;
  RecordedDisk& operator=(const RecordedDisk&) = delete;

  // An ext4 file system on the empty disk. False: mkfs failed.
  bool format();
  // Mounts the file system; false when the kernel finds none it can take.
  bool mount();
  void unmount();
  [[nodiscard]] std::string mount_point() const { return directory_ + "/mnt"; }

  // The content while it is not mounted; setting it starts a new recording.
  [[nodiscard]] DiskImage image() const;
  void set_image(DiskImage image);

  // What happened since the last set_image() or format().
  [[nodiscard]] size_t op_count() const { return op_count_; }
  [[nodiscard]] std::vector<DiskOp> take_recording();

  void set_faults(const DiskFaults& faults);
  // Where byte `offset` of a file of the mounted file system stands on the disk.
  [[nodiscard]] static std::optional<uint64_t> place_of(const std::string& path, uint64_t offset);

 private:
  static const fuse_operations& operations();
  int read(char* buffer, size_t size, uint64_t position);
  int write(const char* buffer, size_t size, uint64_t position);
  int flush();
  int discard(uint64_t position, uint64_t size);
  void serve();
  bool attach();  // a loop device over the served file
  void detach();

  const std::string directory_;
  const uint64_t size_;
  std::string loop_path_;
  int loop_ = -1;
  bool mounted_ = false;
  fuse* fuse_ = nullptr;
  std::thread server_;
  std::atomic<size_t> op_count_ = 0;
  mutable std::mutex mutex_;  // of what follows
  DiskImage image_;
  std::vector<DiskOp> ops_;
  DiskFaults faults_;
};

}  // namespace weir::crashtest
