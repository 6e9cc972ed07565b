// SimDisk: the calls of one core's Disk turned into requests to the medium.
#include <cerrno>
#include <utility>

#include "io/sim/sim_disk.h"
#include "io/sim/sim_loop.h"

namespace weir::io::sim {
namespace {

void check_direct(const void* data, uint64_t size, uint64_t position) {
  ASSERT(reinterpret_cast<uintptr_t>(data) % kBlockSize == 0, "direct transfer: memory");
  ASSERT(size % kBlockSize == 0 && size > 0, "direct transfer: size {}", size);
  ASSERT(position % kBlockSize == 0, "direct transfer: position {}", position);
}

}  // namespace

SimDisk::Handle& SimDisk::handle(FileId file) {
  ASSERT(file.value() >= 0 && static_cast<size_t>(file.value()) < handles_.size(), "file {}",
         file.value());
  Handle& handle = handles_[static_cast<size_t>(file.value())];
  ASSERT(handle.node != nullptr, "file {} was closed", file.value());
  return handle;
}

FileId SimDisk::add_handle(SimNodePtr node, std::shared_ptr<FileLock> lock,
                           const OpenOptions& options) {
  handles_.push_back({std::move(node), std::move(lock), options.direct, options.writable});
  ++open_count_;
  return FileId(static_cast<int32_t>(handles_.size() - 1));
}

void SimDisk::open(Op& op, const char* path, OpenOptions options) {
  DiskMedia::Request request(DiskMedia::Call::open);
  request.path = path;
  request.options = options;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::close(Op& op, FileId file) {
  DiskMedia::Request request(DiskMedia::Call::close);
  request.lock = std::exchange(handle(file), {}).lock;
  --open_count_;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) {
  const Handle& handle = this->handle(file);
  if (handle.direct) check_direct(into.data(), into.size(), position);
  DiskMedia::Request request(DiskMedia::Call::read);
  request.node = handle.node;
  request.lock = handle.lock;
  request.direct = handle.direct;
  request.into = into;
  request.position = position;
  request.size = into.size();
  media_.submit(*this, op, std::move(request));
}

void SimDisk::write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                    Durability durability) {
  const Handle& handle = this->handle(file);
  ASSERT(handle.writable && !pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces",
         pieces.size());
  for (const Slice& piece : pieces) {
    if (handle.direct) check_direct(piece.data, piece.size, position);
  }
  DiskMedia::Request request(DiskMedia::Call::write);
  request.node = handle.node;
  request.lock = handle.lock;
  request.direct = handle.direct;
  request.durable = is_durable(durability);
  request.pieces = pieces;
  request.position = position;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::sync(Op& op, FileId file) {
  DiskMedia::Request request(DiskMedia::Call::sync);
  request.node = handle(file).node;
  request.lock = handle(file).lock;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::allocate(Op& op, FileId file, uint64_t position, uint64_t size) {
  ASSERT(handle(file).writable);
  DiskMedia::Request request(DiskMedia::Call::allocate);
  request.node = handle(file).node;
  request.lock = handle(file).lock;
  request.position = position;
  request.size = size;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::truncate(Op& op, FileId file, uint64_t size) {
  ASSERT(handle(file).writable);
  DiskMedia::Request request(DiskMedia::Call::truncate);
  request.node = handle(file).node;
  request.lock = handle(file).lock;
  request.size = size;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::rename(Op& op, const char* from, const char* to) {
  DiskMedia::Request request(DiskMedia::Call::rename);
  request.path = from;
  request.path_to = to;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::remove(Op& op, const char* path) {
  DiskMedia::Request request(DiskMedia::Call::remove);
  request.path = path;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::make_directory(Op& op, const char* path) {
  DiskMedia::Request request(DiskMedia::Call::make_directory);
  request.path = path;
  media_.submit(*this, op, std::move(request));
}

void SimDisk::sync_directory(Op& op, const char* path) {
  DiskMedia::Request request(DiskMedia::Call::sync_directory);
  request.path = path;
  media_.submit(*this, op, std::move(request));
}

base::Result<std::vector<DirectoryEntry>> SimDisk::list(const std::string& path) {
  if (media_.scheduler_.dead()) return base::error(EIO, "list " + path);
  const SimNodePtr node = media_.tree_.find(path);
  if (!node) return base::error(ENOENT, "list " + path);
  if (!node->is_directory) return base::error(ENOTDIR, "list " + path);
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, child] : node->visible) entries.push_back({name, child->is_directory});
  for (size_t i = entries.size(); i > 1; --i) {  // a real directory has no order to rely on
    std::swap(entries[i - 1], entries[media_.random_.below(i)]);
  }
  return entries;
}

base::Result<FileInfo> SimDisk::info(const std::string& path) {
  if (media_.scheduler_.dead()) return base::error(EIO, "info " + path);
  const SimNodePtr node = media_.tree_.find(path);
  if (!node) return base::error(ENOENT, "info " + path);
  return FileInfo{node->file.size(), node->is_directory, node->modified_ms};
}

base::Result<uint64_t> SimDisk::free_bytes(const std::string& path) {
  if (media_.scheduler_.dead()) return base::error(EIO, "free space of " + path);
  const uint64_t used = media_.used_bytes();
  return used < media_.size_bytes_ ? media_.size_bytes_ - used : 0;
}

base::Result<uint64_t> SimDisk::total_bytes(const std::string& path) {
  if (media_.scheduler_.dead()) return base::error(EIO, "size of the file system of " + path);
  return media_.size_bytes_;
}

std::string SimDisk::path_of(FileId file) {
  const SimNode* const node = handle(file).node.get();
  std::string found;
  media_.tree_.for_each_file([&](const std::string& path, const SimNode& other) {
    if (&other == node) found = path;
  });
  return found;
}

}  // namespace weir::io::sim
