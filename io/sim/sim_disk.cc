#include "io/sim/sim_disk.h"

#include <algorithm>
#include <cerrno>

#include "io/base/crc32c.h"
#include "io/sim/sim_loop.h"

namespace weir::io::sim {
DiskMedia::DiskMedia(uint64_t seed, Scheduler& scheduler, SimClock& clock, Faults& faults,
                     uint64_t size_bytes)
    : scheduler_(scheduler), clock_(clock), faults_(faults), random_(seed, "disk"),
      crash_random_(seed, "crash"), size_bytes_(size_bytes) {}

std::vector<std::byte> DiskMedia::content(const std::string& path) const {
  const SimNodePtr node = tree_.find(path);
  ASSERT(node && !node->is_directory, "no file {}", path);
  std::vector<std::byte> bytes(static_cast<size_t>(node->file.size()));
  node->file.read(0, bytes, true);
  return bytes;
}

std::vector<std::string> DiskMedia::files() const {
  std::vector<std::string> paths;
  tree_.for_each_file([&](const std::string& path, const SimNode&) { paths.push_back(path); });
  return paths;
}

uint64_t DiskMedia::content_hash() const {
  uint64_t hash = 0;
  for (const std::string& path : files()) {
    const auto bytes = content(path);
    const uint32_t sum = base::crc32c(bytes, base::crc32c(std::as_bytes(std::span(path))));
    hash = (hash ^ sum ^ bytes.size()) * 0x9E3779B97F4A7C15ull;
  }
  return hash;
}

void DiskMedia::corrupt(const std::string& path, uint64_t position, std::byte mask) {
  const SimNodePtr node = tree_.find(path);
  ASSERT(node && !node->is_directory, "no file {}", path);
  node->file.corrupt(position, mask);
}

void DiskMedia::make_unreadable(const std::string& path, uint64_t position) {
  const SimNodePtr node = tree_.find(path);
  ASSERT(node && !node->is_directory, "no file {}", path);
  bad_blocks_.emplace_back(node, position / kBlockSize);
}

bool DiskMedia::meets_bad_block(const Request& request) const {
  return std::ranges::any_of(bad_blocks_, [&](const auto& bad) {
    const uint64_t begin = bad.second * kBlockSize;
    return bad.first == request.node && request.position < begin + kBlockSize &&
           begin < request.position + request.into.size();
  });
}

uint64_t DiskMedia::used_bytes() const {
  return tree_.occupied();
}

void DiskMedia::install_directory(const std::string& path) {
  if (tree_.create(path, true, clock_.wall_ms()) != 0) return;
  tree_.complete(tree_.last_change(), ++completions_);
  tree_.sync_all(completions_);
}

bool DiskMedia::fits(const SimFile& file, uint64_t end) const {
  const uint64_t occupied = file.occupied();
  return end <= occupied || used_bytes() + (end - occupied) <= size_bytes_;
}

int64_t DiskMedia::waiting_ns() const {
  for (const auto& [id, request] : in_flight_) {
    if (request.op != nullptr) return scheduler_.now_ns() - request.since_ns;
  }
  return 0;
}

void DiskMedia::draw_faults(Request& request) {
  const bool writes = request.call == Call::write || request.call == Call::allocate ||
                      request.call == Call::truncate;
  const bool syncs = request.call == Call::sync || request.call == Call::sync_directory;
  const bool transfers = request.call == Call::write || request.call == Call::read;
  const bool opens = request.call == Call::open || request.call == Call::sync_directory;
  if (opens && open_refusals_ > 0 && random_.chance(open_refusals_)) {
    request.fault = EMFILE;
    return;
  }
  if (transfers && random_.chance(faults_.interrupted)) {
    request.fault = random_.chance(0.5) ? EINTR : EAGAIN;
    return;
  }
  const double error = writes                        ? faults_.write_error
                       : syncs                       ? faults_.sync_error
                       : request.call == Call::read  ? faults_.read_error
                                                     : 0;
  if (random_.chance(error) || ((writes || syncs) && device_failed_)) {
    request.fault = EIO;
    if (writes || syncs) device_failed_ = device_failed_ || random_.chance(faults_.sticky_error);
    return;
  }
  const double cut = request.call == Call::write ? faults_.short_write : faults_.short_read;
  const uint64_t unit = request.direct ? kBlockSize : 1;
  if (transfers && request.size > unit && random_.chance(cut)) {
    request.size_done = unit * random_.between(1, (request.size - 1) / unit);
  }
}

// What happens in the moment of submission.
void DiskMedia::begin(uint64_t id, Request& request) {
  SimFile* file = request.node ? &request.node->file : nullptr;
  if (request.call == Call::read) {
    std::ranges::fill(request.into, std::byte{0xDB});
  } else if (request.call == Call::write) {
    uint32_t sum = 0;
    for (const Slice& piece : request.pieces) {
      request.size += piece.size;
      sum = base::crc32c({piece.data, piece.size}, sum);
    }
    request.size_done = request.size;
    draw_faults(request);
    if (request.fault == EINTR || request.fault == EAGAIN) return;
    file->begin_write(id, request.position, request.pieces);
    request.begun = true;
    scheduler_.trace("data", request.size, sum);
    const bool now = request.fault == 0 && random_.chance(0.3) &&
                     fits(*file, request.position + request.size_done);
    if (now) file->apply(id, request.size_done);
    request.applied = now;
    return;
  } else if (request.call == Call::allocate || request.call == Call::truncate) {
    file->begin_resize(id, request.position + request.size, request.call == Call::allocate);
    request.begun = true;
  }
  request.size_done = request.size;
  draw_faults(request);
}

void DiskMedia::submit(SimDisk& disk, Op& op, Request request) {
  op.arm();
  if (scheduler_.dead()) return disk.loop_.complete(op, -EIO);
  const uint64_t id = next_id_++;
  request.op = &op;
  request.disk = &disk;
  request.submitted_at = completions_;
  request.since_ns = scheduler_.now_ns();
  begin(id, request);
  int64_t latency = draw_latency(random_, faults_.disk_latency_ns);
  if (request.call == Call::close) latency /= 8;
  if (random_.chance(faults_.stuck_io)) latency = draw_latency(random_, faults_.stuck_io_ns);
  scheduler_.trace("disk", static_cast<uint64_t>(request.call), request.position, request.size);
  const bool flush = request.call == Call::sync || request.durable;
  in_flight_.emplace(id, std::move(request));
  scheduler_.after(latency, *this, 0, id);
  if (flush) scheduler_.crash_point(CrashPoint::flush);
}

void DiskMedia::on_event(uint32_t, uint64_t id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return;  // of a killed process, without effect
  Request request = std::move(found->second);
  in_flight_.erase(found);
  const int32_t result = perform(id, request);
  ++performed_;
  scheduler_.trace("disk done", id, static_cast<uint64_t>(result));
  if (request.op == nullptr) {
    --landing_count_;
    return;
  }
  waited_ns_max_ = std::max(waited_ns_max_, scheduler_.now_ns() - request.since_ns);
  request.disk->loop_.complete(*request.op, result);
  if (request.call == Call::sync || request.durable) scheduler_.crash_point(CrashPoint::flush);
  if (!request.path.empty()) scheduler_.crash_point(CrashPoint::directory);
}

int32_t DiskMedia::perform(uint64_t id, Request& request) {
  switch (request.call) {
    case Call::open: return perform_open(request);
    case Call::read: return perform_read(request);
    case Call::write: return perform_write(id, request);
    case Call::sync: return perform_sync(request);
    case Call::allocate:
    case Call::truncate: return perform_resize(id, request);
    case Call::rename:
    case Call::remove:
    case Call::make_directory: return perform_entry(request);
    case Call::sync_directory:
      if (request.fault != 0) return -request.fault;
      return tree_.sync(request.path, request.submitted_at);
    case Call::close: return 0;
  }
  UNREACHABLE();
}

int32_t DiskMedia::perform_open(Request& request) {
  if (request.fault != 0) return -request.fault;
  SimNodePtr node = tree_.find(request.path);
  if (node && request.options.exclusive) return -EEXIST;
  if (node && node->is_directory) return -EISDIR;
  if (!node) {
    if (!request.options.create) return -ENOENT;
    const int created = tree_.create(request.path, false, clock_.wall_ms());
    if (created != 0) return created;
    tree_.complete(tree_.last_change(), ++completions_);
    node = tree_.find(request.path);
  }
  std::shared_ptr<FileLock> lock;
  if (request.options.locked) {
    if (!node->lock.expired()) return -EWOULDBLOCK;
    lock = std::make_shared<FileLock>();
    node->lock = lock;
  }
  return request.disk->add_handle(std::move(node), std::move(lock), request.options).value();
}

int32_t DiskMedia::perform_read(Request& request) {
  if (request.fault != 0) return -request.fault;
  if (meets_bad_block(request)) return -EIO;
  const auto into = request.into.first(static_cast<size_t>(request.size_done));
  const size_t size = request.node->file.read(request.position, into, request.direct);
  scheduler_.trace("read", request.position, size, base::crc32c(into.first(size)));
  return static_cast<int32_t>(size);
}

int32_t DiskMedia::perform_write(uint64_t id, Request& request) {
  SimFile& file = request.node->file;
  if (!request.begun) return -request.fault;
  if (request.op != nullptr) {
    ASSERT(file.same_data(id, request.pieces), "buffer changed while in flight");
  }
  if (request.fault != 0) {
    file.apply_some_sectors(id, random_);
    file.complete(id, ++completions_);
    return -request.fault;
  }
  if (!request.applied) {
    if (!fits(file, request.position + request.size_done)) {
      file.drop(id);
      return -ENOSPC;
    }
    file.apply(id, request.size_done);
  }
  file.complete(id, ++completions_);
  request.node->modified_ms = clock_.wall_ms();
  if (request.durable) file.make_durable(id, request.submitted_at);
  return static_cast<int32_t>(request.size_done);
}

int32_t DiskMedia::perform_sync(Request& request) {
  if (request.fault != 0) {
    request.node->file.fail_sync(request.submitted_at, random_);
    return -request.fault;
  }
  request.node->file.sync(request.submitted_at);
  if (faults_.persistence == Persistence::ext4_ordered) tree_.sync_all(request.submitted_at);
  return 0;
}

int32_t DiskMedia::perform_resize(uint64_t id, Request& request) {
  SimFile& file = request.node->file;
  const uint64_t size = request.position + request.size;
  if (request.fault != 0 || (request.call == Call::allocate && !fits(file, size))) {
    file.drop(id);
    return request.fault != 0 ? -request.fault : -ENOSPC;
  }
  file.apply(id, 0);
  file.complete(id, ++completions_);
  return 0;
}

int32_t DiskMedia::perform_entry(Request& request) {
  const uint64_t before = tree_.last_change();
  const int result = request.call == Call::rename   ? tree_.rename(request.path, request.path_to)
                     : request.call == Call::remove ? tree_.remove(request.path)
                         : tree_.create(request.path, true, clock_.wall_ms());
  if (tree_.last_change() != before) tree_.complete(tree_.last_change(), ++completions_);
  return result;
}

void DiskMedia::abandon_in_flight(CrashKind kind, bool forget_locks) {
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    Request& request = it->second;
    if (request.op != nullptr) {
      scheduler_.abandon(*request.op);
      request.op = nullptr;
      request.disk = nullptr;
      if (forget_locks) request.lock.reset();
      ++landing_count_;
    }
    bool lands = kind == CrashKind::process_kill && (request.begun || !request.path.empty());
    if (request.call == Call::open || request.call == Call::sync_directory) lands = false;
    if (!request.begun && lands) lands = crash_random_.chance(0.5);
    if (lands) {
      ++it;
      continue;
    }
    --landing_count_;
    it = in_flight_.erase(it);
  }
  scheduler_.trace("crash", static_cast<uint64_t>(kind), in_flight_.size());
}

void DiskMedia::power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks) {
  abandon_in_flight(CrashKind::power_cut, false);
  for (const uint32_t pick : picks) scheduler_.trace("cut", pick);
  tree_.power_cut_as(ends, picks);
}

void DiskMedia::crash(CrashKind kind, bool forget_locks) {
  abandon_in_flight(kind, forget_locks);
  if (kind != CrashKind::power_cut) return;
  PowerCut cut;
  const uint64_t shape = crash_random_.below(6);
  cut.keep = shape == 0 ? 0.0 : shape == 1 ? 1.0 : shape == 2 ? 0.1 : shape == 3 ? 0.9 : 0.5;
  cut.whole_writes = crash_random_.chance(0.4);
  cut.torn = faults_.torn_sector;
  tree_.power_cut(cut, faults_.persistence, crash_random_);
}

}  // namespace weir::io::sim
