#pragma once
// WatchedDisk: the Disk of one core with an alarm: a device that hangs looks like an idle one
// otherwise. Every call goes on to the disk behind it. From the first one that is not over after
// `stuck_ms` to the last such one's end is an episode: a line in the log when it begins, with call
// and file, one when it ends, and stuck_count() meanwhile.
//
//   watch ──▶ under way ─over─▶ completion of the caller
//                 │  kTicks + 1 ticks later
//                 └▶ stuck ─over─▶ the same
//
// No call waits for another, and none is made again: a write that is stuck may still land. Time is
// counted in ticks of a timer, an eighth of `stuck_ms` each, which is armed only while a call is
// under way: a call reads no clock, and an idle core sleeps. So a call is found stuck after at
// least `stuck_ms` and not much more than 9/8 of it; a core that stood still finds none for that.
//
// The blocking calls (list, info, free_bytes, total_bytes) are not watched: nobody could look.
//
// One core's; outlives the calls that were made through it. Memory: one Flight for each call that
// was ever under way at once.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "io/base/intrusive_list.h"
#include "io/disk.h"
#include "io/loop.h"

namespace weir::io {

class WatchedDisk final : public Disk {
 public:
  // `stuck_ms` 0: no alarm.
  WatchedDisk(Disk& disk, Loop& loop, int64_t stuck_ms);
  ~WatchedDisk() override;
  WatchedDisk(const WatchedDisk&) = delete;

  uint64_t stuck_count() const { return stuck_count_; }  // calls, now
  uint64_t episodes() const { return episodes_; }        // that began

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
  static constexpr uint32_t kTicks = 8;  // in stuck_ms

  struct Call {
    const char* name = nullptr;
    const char* path = nullptr;  // the caller's; null: the call is to `file`
    FileId file = kNoFile;
    uint64_t position = 0;       // in the file; the new size of a truncate
  };
  // A call under way. Takes its completion, and hands it on to `caller`.
  struct Flight : base::ListHook {
    WatchedDisk* disk = nullptr;
    Op::Target caller{};
    Call call{};
    uint32_t tick = 0;  // when it was made; wraps
    bool stuck = false;
  };

  void watch(Op& op, const Call& call);
  static void on_done(void* flight, Op& op);
  void end(Flight& flight);
  void on_tick();
  void find_stuck(Flight& flight);
  std::string name_of(const Call& call);

  Disk& disk_;
  Loop& loop_;
  const int64_t stuck_ns_;
  std::deque<Flight> flights_;                // all there are; stable addresses
  base::IntrusiveList<Flight> unused_;
  base::IntrusiveList<Flight> under_way_;     // oldest first
  Timer timer_;                               // armed while anything is under way, and a tick more
  uint32_t tick_ = 0;
  uint64_t stuck_count_ = 0;
  uint64_t episodes_ = 0;
  Instant episode_since_{};                   // when its first call became stuck
  uint64_t episode_calls_ = 0;
};

}  // namespace weir::io
