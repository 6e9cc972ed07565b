#include "tools/weir/shadow_disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

namespace weir::tools {
namespace {

constexpr uint64_t kBlock = io::kBlockSize;

std::unexpected<base::Error> failed(const std::string& path, int code) {
  return base::error(code, path + ": " + std::strerror(code));
}

base::Result<struct statvfs> space_of(const std::string& path) {
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) return failed(path, errno);
  return space;
}

}  // namespace

ShadowDisk::~ShadowDisk() {
  for (const auto& [id, file] : open_) {
    if (file.descriptor >= 0) ::close(file.descriptor);
  }
}

std::shared_ptr<ShadowDisk::File> ShadowDisk::find(const std::string& path) {
  if (const auto known = names_.find(path); known != names_.end()) return known->second;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return nullptr;
  const auto size = static_cast<uint64_t>(status.st_size);
  const auto file = std::make_shared<File>(
      File{.source = path,
           .source_size = size,
           .size = size,
           .modified_ms = int64_t{status.st_mtim.tv_sec} * 1000 +
                          status.st_mtim.tv_nsec / 1'000'000,
           .is_directory = S_ISDIR(status.st_mode)});
  names_.emplace(path, file);
  return file;
}

int32_t ShadowDisk::open_below(const File& file, const io::OpenOptions& options,
                               int& descriptor) {
  const int flags = O_RDONLY | O_CLOEXEC;
  descriptor = ::open(file.source.c_str(), flags | (options.direct ? O_DIRECT : 0));
  if (descriptor < 0 && errno == EINVAL) descriptor = ::open(file.source.c_str(), flags);
  if (descriptor < 0) return -errno;
  if (!options.locked || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
  const int code = errno;
  ::close(descriptor);
  return -code;
}

void ShadowDisk::open(io::Op& op, const char* path, io::OpenOptions options) {
  auto file = find(path);
  if (file && options.create && options.exclusive) return loop_.post(op, -EEXIST);
  if (!file && !options.create) return loop_.post(op, -ENOENT);
  if (!file) {
    file = std::make_shared<File>();
    names_[path] = file;
  }
  int descriptor = -1;
  if (!file->source.empty()) {
    if (const int32_t result = open_below(*file, options, descriptor); result < 0) {
      return loop_.post(op, result);
    }
  }
  open_.emplace(next_id_, OpenFile{file, descriptor});
  loop_.post(op, next_id_++);
}

void ShadowDisk::close(io::Op& op, io::FileId file) {
  const auto at = open_.find(file.value());
  ASSERT(at != open_.end());
  if (at->second.descriptor >= 0) ::close(at->second.descriptor);
  open_.erase(at);
  loop_.post(op);
}

int32_t ShadowDisk::read_below(const OpenFile& open, std::span<std::byte> into,
                               uint64_t position) {
  size_t done = 0;
  while (done < into.size() && position + done < open.file->source_size) {
    const ssize_t got = ::pread(open.descriptor, into.data() + done, into.size() - done,
                                static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) break;
    done += static_cast<size_t>(got);
    if (done % kBlock != 0) break;  // the end of a direct file
  }
  if (position + done > open.file->source_size) {
    done = open.file->source_size > position ? open.file->source_size - position : 0;
  }
  std::ranges::fill(into.subspan(done), std::byte{0});
  return 0;
}

void ShadowDisk::read(io::Op& op, io::FileId id, std::span<std::byte> into, uint64_t position) {
  const OpenFile& open = open_.at(id.value());
  const File& file = *open.file;
  const size_t size =
      position >= file.size
          ? 0
          : static_cast<size_t>(std::min<uint64_t>(into.size(), file.size - position));
  // The whole of `into`: its size suits a direct file, that of what is left may not.
  if (size > 0) {
    if (const int32_t result = read_below(open, into, position); result < 0) {
      return loop_.post(op, result);
    }
  }
  for (auto at = file.blocks.lower_bound(position / kBlock); at != file.blocks.end(); ++at) {
    const uint64_t begin = at->first * kBlock;
    if (begin >= position + size) break;
    const uint64_t from = std::max(begin, position);
    const uint64_t to = std::min(begin + kBlock, position + size);
    std::memcpy(into.data() + (from - position), at->second.data() + (from - begin), to - from);
  }
  loop_.post(op, static_cast<int32_t>(size));
}

int32_t ShadowDisk::write_block(const OpenFile& open, uint64_t number, size_t at,
                                std::span<const std::byte> bytes) {
  auto [block, is_new] = open.file->blocks.try_emplace(number);
  if (is_new) {
    alignas(kBlock) static std::array<std::byte, kBlock> below;
    const int32_t result = read_below(open, below, number * kBlock);
    if (result < 0) {
      open.file->blocks.erase(block);
      return result;
    }
    block->second.assign(below.begin(), below.end());
  }
  std::memcpy(block->second.data() + at, bytes.data(), bytes.size());
  return 0;
}

void ShadowDisk::write(io::Op& op, io::FileId id, std::span<const io::Slice> pieces,
                       uint64_t position, io::Durability) {
  const OpenFile& open = open_.at(id.value());
  int32_t written = 0;
  for (const io::Slice& piece : pieces) {
    std::span<const std::byte> left(piece.data, piece.size);
    while (!left.empty()) {
      const size_t at = position % kBlock;
      const size_t size = std::min<size_t>(left.size(), kBlock - at);
      const int32_t result = write_block(open, position / kBlock, at, left.first(size));
      if (result < 0) return loop_.post(op, result);
      position += size;
      written += static_cast<int32_t>(size);
      left = left.subspan(size);
    }
  }
  open.file->size = std::max(open.file->size, position);
  loop_.post(op, written);
}

void ShadowDisk::sync(io::Op& op, io::FileId) { loop_.post(op); }

void ShadowDisk::allocate(io::Op& op, io::FileId id, uint64_t position, uint64_t size) {
  File& file = *open_.at(id.value()).file;
  file.size = std::max(file.size, position + size);
  loop_.post(op);
}

void ShadowDisk::truncate(io::Op& op, io::FileId id, uint64_t size) {
  File& file = *open_.at(id.value()).file;
  file.blocks.erase(file.blocks.lower_bound((size + kBlock - 1) / kBlock), file.blocks.end());
  if (const auto last = file.blocks.find(size / kBlock); last != file.blocks.end()) {
    std::fill(last->second.begin() + static_cast<ptrdiff_t>(size % kBlock), last->second.end(),
              std::byte{0});
  }
  file.source_size = std::min(file.source_size, size);
  file.size = size;
  loop_.post(op);
}

void ShadowDisk::rename(io::Op& op, const char* from, const char* to) {
  const auto file = find(from);
  if (!file) return loop_.post(op, -ENOENT);
  names_[to] = file;
  names_[from] = nullptr;
  loop_.post(op);
}

void ShadowDisk::remove(io::Op& op, const char* path) {
  const bool there = find(path) != nullptr;
  names_[path] = nullptr;
  loop_.post(op, there ? 0 : -ENOENT);
}

void ShadowDisk::make_directory(io::Op& op, const char* path) {
  if (find(path)) return loop_.post(op, -EEXIST);
  names_[path] = std::make_shared<File>(File{.is_directory = true});
  loop_.post(op);
}

void ShadowDisk::sync_directory(io::Op& op, const char*) { loop_.post(op); }

base::Result<std::vector<io::DirectoryEntry>> ShadowDisk::list(const std::string& path) {
  const auto directory = find(path);
  if (!directory) return failed(path, ENOENT);
  std::set<std::string> names;
  if (!directory->source.empty()) {
    std::error_code code;
    std::filesystem::directory_iterator entries(directory->source, code);
    for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code)) {
      names.insert(entries->path().filename().string());
    }
    if (code) return failed(path, code.value());
  }
  const std::string front = path + "/";
  for (auto at = names_.lower_bound(front); at != names_.end() && at->first.starts_with(front);
       ++at) {
    const std::string name = at->first.substr(front.size());
    if (name.find('/') == std::string::npos) names.insert(name);
  }
  std::vector<io::DirectoryEntry> found;
  for (const std::string& name : names) {
    const auto file = find(front + name);
    if (file) found.push_back({.name = name, .is_directory = file->is_directory});
  }
  return found;
}

base::Result<io::FileInfo> ShadowDisk::info(const std::string& path) {
  const auto file = find(path);
  if (!file) return failed(path, ENOENT);
  return io::FileInfo{.size = file->size,
                      .is_directory = file->is_directory,
                      .modified_ms = file->modified_ms};
}

base::Result<uint64_t> ShadowDisk::free_bytes(const std::string& path) {
  TRY(const struct statvfs space, space_of(path));
  return uint64_t{space.f_bavail} * space.f_frsize;
}

base::Result<uint64_t> ShadowDisk::total_bytes(const std::string& path) {
  TRY(const struct statvfs space, space_of(path));
  return uint64_t{space.f_blocks} * space.f_frsize;
}

}  // namespace weir::tools
