#include "io/watched_disk.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::io {
namespace {

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

WatchedDisk::WatchedDisk(Disk& disk, Loop& loop, int64_t stuck_ms)
    : disk_(disk), loop_(loop), stuck_ns_(base::ms_to_ns(stuck_ms)) {
  timer_.bind<&WatchedDisk::on_tick>(*this);
}

WatchedDisk::~WatchedDisk() { ASSERT(under_way_.empty(), "destroyed with calls under way"); }

void WatchedDisk::watch(Op& op, const Call& call) {
  if (stuck_ns_ == 0) return;
  if (unused_.empty()) unused_.push_back(flights_.emplace_back());
  Flight& flight = *unused_.pop_front();
  flight.disk = this;
  flight.caller = op.redirect({&flight, &WatchedDisk::on_done});
  flight.call = call;
  flight.tick = tick_;
  flight.stuck = false;
  under_way_.push_back(flight);
  if (!timer_.armed()) loop_.timers().arm_after(timer_, stuck_ns_ / kTicks);
}

void WatchedDisk::on_done(void* owner, Op& op) {
  Flight& flight = *static_cast<Flight*>(owner);
  const Op::Target caller = flight.caller;
  op.redirect(caller);
  flight.disk->end(flight);  // first: the caller may use it for its next call
  caller.function(caller.owner, op);
}

void WatchedDisk::end(Flight& flight) {
  flight.unlink();
  unused_.push_back(flight);
  if (!flight.stuck || --stuck_count_ > 0) return;
  const int64_t stuck_ns = loop_.timers().clock().now() - episode_since_ + stuck_ns_;
  base::log_warning("io", "disk answers again call={} file={} stuck_calls={} seconds={:.1f}",
                    flight.call.name, name_of(flight.call), episode_calls_, seconds(stuck_ns));
}

void WatchedDisk::on_tick() {
  ++tick_;
  for (Flight* flight = under_way_.empty() ? nullptr : &under_way_.front();
       flight != nullptr && tick_ - flight->tick > kTicks; flight = under_way_.next(*flight)) {
    if (!flight->stuck) find_stuck(*flight);
  }
  if (!under_way_.empty()) loop_.timers().arm_after(timer_, stuck_ns_ / kTicks);
}

void WatchedDisk::find_stuck(Flight& flight) {
  flight.stuck = true;
  ++episode_calls_;
  if (++stuck_count_ > 1) return;
  ++episodes_;
  episode_since_ = loop_.timers().clock().now();
  episode_calls_ = 1;
  base::log_error("io", "disk is stuck call={} file={} position={} seconds={:.1f}: what waits for "
                  "it goes on waiting", flight.call.name, name_of(flight.call),
                  flight.call.position, seconds(stuck_ns_));
}

std::string WatchedDisk::name_of(const Call& call) {
  if (call.path != nullptr) return call.path;
  std::string path = disk_.path_of(call.file);
  return path.empty() ? fmt::format("#{}", call.file.value()) : path;
}

bool WatchedDisk::register_memory(std::span<std::byte> memory) {
  return disk_.register_memory(memory);
}

void WatchedDisk::open(Op& op, const char* path, OpenOptions options) {
  watch(op, {.name = "open", .path = path});
  disk_.open(op, path, options);
}

void WatchedDisk::close(Op& op, FileId file) {
  watch(op, {.name = "close", .path = "(closing)"});  // its number may be another's soon
  disk_.close(op, file);
}

void WatchedDisk::read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) {
  watch(op, {.name = "read", .file = file, .position = position});
  disk_.read(op, file, into, position);
}

void WatchedDisk::write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                        Durability durability) {
  watch(op, {.name = "write", .file = file, .position = position});
  disk_.write(op, file, pieces, position, durability);
}

void WatchedDisk::sync(Op& op, FileId file) {
  watch(op, {.name = "sync", .file = file});
  disk_.sync(op, file);
}

void WatchedDisk::allocate(Op& op, FileId file, uint64_t position, uint64_t size) {
  watch(op, {.name = "allocate", .file = file, .position = position});
  disk_.allocate(op, file, position, size);
}

void WatchedDisk::truncate(Op& op, FileId file, uint64_t size) {
  watch(op, {.name = "truncate", .file = file, .position = size});
  disk_.truncate(op, file, size);
}

void WatchedDisk::rename(Op& op, const char* from, const char* to) {
  watch(op, {.name = "rename", .path = from});
  disk_.rename(op, from, to);
}

void WatchedDisk::remove(Op& op, const char* path) {
  watch(op, {.name = "remove", .path = path});
  disk_.remove(op, path);
}

void WatchedDisk::make_directory(Op& op, const char* path) {
  watch(op, {.name = "make_directory", .path = path});
  disk_.make_directory(op, path);
}

void WatchedDisk::sync_directory(Op& op, const char* path) {
  watch(op, {.name = "sync_directory", .path = path});
  disk_.sync_directory(op, path);
}

base::Result<std::vector<DirectoryEntry>> WatchedDisk::list(const std::string& path) {
  return disk_.list(path);
}

base::Result<FileInfo> WatchedDisk::info(const std::string& path) { return disk_.info(path); }

base::Result<uint64_t> WatchedDisk::free_bytes(const std::string& path) {
  return disk_.free_bytes(path);
}

base::Result<uint64_t> WatchedDisk::total_bytes(const std::string& path) {
  return disk_.total_bytes(path);
}

std::string WatchedDisk::path_of(FileId file) { return disk_.path_of(file); }

}  // namespace weir::io
