#pragma once
// The simulated disk. DiskMedia is the medium with all operations in flight on it; it belongs to
// the world and outlives crashes. SimDisk is one core's Disk over it: open handles, nothing else.
//
// Every operation takes a seeded latency, so completions are reordered. A write becomes visible at
// its submission or at its completion; a process kill lets it land later, a power cut decides
// sector by sector (sim_file.h). The lock of a locked file is free again when its handle is closed,
// or its process dead, and its last operation has landed. Buffers of reads in flight hold 0xDB; a
// write whose buffer is not the same at its completion as at its submission stops the run: "buffer
// changed while in flight".

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/disk.h"
#include "io/sim/faults.h"
#include "io/sim/scheduler.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_directory.h"

namespace weir::io::sim {

class SimDisk;
class SimLoop;

enum class CrashKind : uint8_t { process_kill, power_cut };

class DiskMedia : public EventTarget {
 public:
  DiskMedia(uint64_t seed, Scheduler& scheduler, SimClock& clock, Faults& faults,
            uint64_t size_bytes);

  // --- for tests and harnesses ---
  bool exists(const std::string& path) const { return tree_.find(path) != nullptr; }
  std::vector<std::byte> content(const std::string& path) const;  // of a file, as on the medium
  std::vector<std::string> files() const;                         // paths of all, sorted
  uint64_t content_hash() const;                                  // of all paths and bytes
  void corrupt(const std::string& path, uint64_t position, std::byte mask);
  // Reads that touch the block at `position` fail from now on.
  void make_unreadable(const std::string& path, uint64_t position);
  void set_size_bytes(uint64_t size) { size_bytes_ = size; }
  // Of the calls that need a descriptor of their own, the share that finds none (-EMFILE).
  void set_open_refusals(double share) { open_refusals_ = share; }
  uint64_t used_bytes() const;
  // Makes the directory, durable at once, as an installer would have.
  void install_directory(const std::string& path);

  // Operations of a killed process that have not landed: while there are any the lock is held.
  size_t landing_count() const { return landing_count_; }
  // `forget_locks`: what still lands holds no file lock.
  void crash(CrashKind kind, bool forget_locks = false);
  void restarted() {
    device_failed_ = false;
    waited_ns_max_ = 0;
  }

  // A power cut whose outcome is chosen, instead of drawn (loose_ends.h).
  LooseEnds loose_ends() const { return tree_.loose_ends(); }
  uint64_t hash_as(const LooseEnds& ends, LooseEnds::Picks picks) {
    return tree_.hash_as(ends, picks);
  }
  void power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks);
  // How long the oldest operation of the living process is under way, and the longest that any one
  // of it ever was.
  int64_t waiting_ns() const;
  int64_t waited_ns_max() const { return std::max(waited_ns_max_, waiting_ns()); }
  // Grows whenever an operation is submitted or performed: the moments when a crash can differ.
  uint64_t io_events() const { return next_id_ + performed_; }

  void on_event(uint32_t kind, uint64_t id) override;

 private:
  friend class SimDisk;
  enum class Call : uint8_t {
    open, close, read, write, sync, allocate, truncate, rename, remove, make_directory,
    sync_directory
  };
  struct Request {
    explicit Request(Call what) : call(what) {}
    Call call;
    Op* op = nullptr;          // null: of a killed process, lands without completing anything
    SimDisk* disk = nullptr;
    SimNodePtr node;
    std::shared_ptr<FileLock> lock;  // of the handle it came through
    bool direct = false;
    bool durable = false;
    bool begun = false;        // has a change in its file
    bool applied = false;
    std::span<std::byte> into;
    std::span<const Slice> pieces;
    uint64_t position = 0;
    uint64_t size = 0;
    uint64_t size_done = 0;    // what a short transfer gets through
    uint64_t submitted_at = 0; // number of completions before the submission
    int64_t since_ns = 0;
    int fault = 0;             // errno that it will end with
    std::string path;
    std::string path_to;
    OpenOptions options;
  };

  void submit(SimDisk& disk, Op& op, Request request);
  void abandon_in_flight(CrashKind kind, bool forget_locks);
  void draw_faults(Request& request);
  void begin(uint64_t id, Request& request);
  int32_t perform(uint64_t id, Request& request);
  int32_t perform_open(Request& request);
  int32_t perform_read(Request& request);
  int32_t perform_write(uint64_t id, Request& request);
  int32_t perform_sync(Request& request);
  int32_t perform_resize(uint64_t id, Request& request);
  int32_t perform_entry(Request& request);
  bool fits(const SimFile& file, uint64_t end) const;
  bool meets_bad_block(const Request& request) const;

  Scheduler& scheduler_;
  SimClock& clock_;
  Faults& faults_;
  base::RandomStream random_;
  base::RandomStream crash_random_;
  SimTree tree_;
  std::vector<std::pair<SimNodePtr, uint64_t>> bad_blocks_;  // of a file, by number
  std::map<uint64_t, Request> in_flight_;
  uint64_t size_bytes_;
  double open_refusals_ = 0;
  uint64_t next_id_ = 1;
  uint64_t completions_ = 0;
  uint64_t performed_ = 0;
  size_t landing_count_ = 0;
  int64_t waited_ns_max_ = 0;   // of those that are over
  bool device_failed_ = false;  // sticky EIO
};

class SimDisk : public Disk {
 public:
  SimDisk(DiskMedia& media, SimLoop& loop) : media_(media), loop_(loop) {}

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

  size_t open_count() const { return open_count_; }

 private:
  friend class DiskMedia;
  struct Handle {
    SimNodePtr node;  // null: closed
    std::shared_ptr<FileLock> lock;
    bool direct = false;
    bool writable = false;
  };
  Handle& handle(FileId file);
  FileId add_handle(SimNodePtr node, std::shared_ptr<FileLock> lock, const OpenOptions& options);

  DiskMedia& media_;
  SimLoop& loop_;
  std::vector<Handle> handles_;  // by FileId; numbers are not used twice, so a stale one is caught
  size_t open_count_ = 0;
};

}  // namespace weir::io::sim
