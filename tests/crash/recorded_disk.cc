#include "io/base/heap.h"
#include "tests/crash/recorded_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace weir::crashtest {
namespace {

constexpr char kFile[] = "/disk";
constexpr uint64_t kDiscardStep = 1 << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

RecordedDisk& self() { return *static_cast<RecordedDisk*>(fuse_get_context()->private_data); }

int list(const char*, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
         fuse_readdir_flags) {
  fill(buffer, ".", nullptr, 0, fuse_fill_dir_flags{});
  fill(buffer, "..", nullptr, 0, fuse_fill_dir_flags{});
  fill(buffer, kFile + 1, nullptr, 0, fuse_fill_dir_flags{});
  return 0;
}

// Reads and writes reach us one by one, as the loop device sends them.
int open_file(const char* path, fuse_file_info* info) {
  info->direct_io = 1;
  return std::strcmp(path, kFile) == 0 ? 0 : -ENOENT;
}

void pause(int ms) {
  if (ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

}  // namespace

std::string why_not() {
  if (::geteuid() != 0) return "root is needed";
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return "there is no /dev/fuse";
  const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0) return "there is no /dev/loop-control";
  const int free_loop = ::ioctl(control, LOOP_CTL_GET_FREE);
  ::close(control);
  if (free_loop < 0) return "there is no free loop device";
  if (::unshare(CLONE_NEWNS) != 0) return "no mount namespace of our own";
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "mounts are shared";
  return {};
}

RecordedDisk::RecordedDisk(std::string directory, uint64_t size)
    : directory_(std::move(directory)), size_(size) {
  std::filesystem::create_directories(directory_ + "/fuse");
  std::filesystem::create_directories(mount_point());
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  if (fuse_opt_add_arg(&arguments, "recorded-disk") != 0) fail("fuse");
  fuse_ = fuse_new(&arguments, &operations(), sizeof(fuse_operations), this);
  fuse_opt_free_args(&arguments);
  if (fuse_ == nullptr) fail("fuse_new");
  if (fuse_mount(fuse_, (directory_ + "/fuse").c_str()) != 0) {
    fuse_destroy(fuse_);
    fail("fuse_mount");
  }
  server_ = std::thread([this] { fuse_loop(fuse_); });
}

RecordedDisk::~RecordedDisk() {
  set_faults({});
  unmount();
  fuse_exit(fuse_);
  fuse_unmount(fuse_);  // ends the server's wait
  server_.join();
  fuse_destroy(fuse_);
}

const fuse_operations& RecordedDisk::operations() {
  static const fuse_operations kOperations = [] {
    fuse_operations table{};
    table.getattr = [](const char* path, struct stat* info, fuse_file_info*) {
      *info = {};
      info->st_nlink = 1;
      if (std::strcmp(path, "/") == 0) {
        info->st_mode = S_IFDIR | 0700;
      } else if (std::strcmp(path, kFile) == 0) {
        info->st_mode = S_IFREG | 0600;
        info->st_size = static_cast<off_t>(self().size_);
      } else {
        return -ENOENT;
      }
      return 0;
    };
    table.readdir = list;
    table.open = open_file;
    table.read = [](const char*, char* buffer, size_t size, off_t position, fuse_file_info*) {
      return self().read(buffer, size, static_cast<uint64_t>(position));
    };
    table.write = [](const char*, const char* buffer, size_t size, off_t position,
                     fuse_file_info*) {
      return self().write(buffer, size, static_cast<uint64_t>(position));
    };
    table.fsync = [](const char*, int, fuse_file_info*) { return self().flush(); };
    table.fallocate = [](const char*, int, off_t position, off_t size, fuse_file_info*) {
      return self().discard(static_cast<uint64_t>(position), static_cast<uint64_t>(size));
    };
    table.truncate = [](const char*, off_t, fuse_file_info*) { return 0; };
    return table;
  }();
  return kOperations;
}

int RecordedDisk::read(char* buffer, size_t size, uint64_t position) {
  const std::scoped_lock lock(mutex_);
  if (faults_.unreadable) {
    const auto [bad, bad_size] = *faults_.unreadable;
    if (position < bad + bad_size && bad < position + size) return -EIO;
  }
  image_.read(position, std::as_writable_bytes(std::span(buffer, size)));
  return static_cast<int>(size);
}

int RecordedDisk::write(const char* buffer, size_t size, uint64_t position) {
  std::unique_lock lock(mutex_);
  const DiskFaults faults = faults_;
  lock.unlock();
  pause(faults.write_delay_ms);
  if (faults.fail_writes) return -EIO;
  if (faults.drop_writes) return static_cast<int>(size);
  lock.lock();
  const auto bytes = std::as_bytes(std::span(buffer, size));
  image_.write(position, bytes);
  ops_.push_back({.position = position, .bytes = {bytes.begin(), bytes.end()}});
  ++op_count_;
  return static_cast<int>(size);
}

int RecordedDisk::flush() {
  std::unique_lock lock(mutex_);
  const DiskFaults faults = faults_;
  lock.unlock();
  pause(faults.flush_delay_ms);
  if (faults.fail_flushes) return -EIO;
  lock.lock();
  ops_.emplace_back();
  ++op_count_;
  return 0;
}

// The file system gave blocks back: to a reader they are zeros, as on a disk that erases.
int RecordedDisk::discard(uint64_t position, uint64_t size) {
  static const std::vector<char> kZeros(kDiscardStep);
  while (size > 0) {
    const size_t step = std::min<uint64_t>(size, kZeros.size());
    const int written = write(kZeros.data(), step, position);
    if (written < 0) return written;
    position += step;
    size -= step;
  }
  return 0;
}

bool RecordedDisk::attach() {
  const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  const int file = ::open((directory_ + "/fuse" + kFile).c_str(), O_RDWR | O_CLOEXEC);
  loop_config config{};
  config.fd = static_cast<uint32_t>(file);
  config.block_size = kSectorSize;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
  // Another process may take the free device between the question and our claim.
  for (int attempt = 0; control >= 0 && file >= 0 && loop_ < 0 && attempt < 20; ++attempt) {
    const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) break;
    loop_path_ = fmt::format("/dev/loop{}", number);
    loop_ = ::open(loop_path_.c_str(), O_RDWR | O_CLOEXEC);
    if (loop_ >= 0 && ::ioctl(loop_, LOOP_CONFIGURE, &config) != 0) {
      ::close(loop_);
      loop_ = -1;
      pause(20);
    }
  }
  ::close(file);
  ::close(control);
  return loop_ >= 0;
}

void RecordedDisk::detach() {
  if (loop_ < 0) return;
  ::ioctl(loop_, LOOP_CLR_FD);
  ::close(loop_);
  loop_ = -1;
}

bool RecordedDisk::format() {
  if (!attach()) return false;
  const std::string command = fmt::format(
      "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {} >/dev/null 2>&1", loop_path_);
  const bool done = std::system(command.c_str()) == 0;
  detach();
  set_image(image());
  return done;
}

bool RecordedDisk::mount() {
  if (!attach()) return false;
  mounted_ = ::mount(loop_path_.c_str(), mount_point().c_str(), "ext4", 0, nullptr) == 0;
  if (!mounted_) detach();
  return mounted_;
}

void RecordedDisk::unmount() {
  if (!mounted_) return;
  // What a killed program had under way may hold it for a moment.
  for (int attempt = 0; ::umount(mount_point().c_str()) != 0; ++attempt) {
    if (errno != EBUSY || attempt == 500) fail("umount " + mount_point());
    pause(10);
  }
  mounted_ = false;
  detach();
}

DiskImage RecordedDisk::image() const {
  const std::scoped_lock lock(mutex_);
  return image_;
}

void RecordedDisk::set_image(DiskImage image) {
  const std::scoped_lock lock(mutex_);
  image_ = std::move(image);
  ops_.clear();
  op_count_ = 0;
}

std::vector<DiskOp> RecordedDisk::take_recording() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(ops_, {});
}

void RecordedDisk::set_faults(const DiskFaults& faults) {
  const std::scoped_lock lock(mutex_);
  faults_ = faults;
}

std::optional<uint64_t> RecordedDisk::place_of(const std::string& path, uint64_t offset) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + sizeof(fiemap_extent)> memory{};
  auto& map = *reinterpret_cast<fiemap*>(memory.data());
  map.fm_start = offset;
  map.fm_length = 1;
  map.fm_flags = FIEMAP_FLAG_SYNC;
  map.fm_extent_count = 1;
  const bool known = ::ioctl(file, FS_IOC_FIEMAP, &map) == 0 && map.fm_mapped_extents == 1;
  ::close(file);
  if (!known) return std::nullopt;
  return map.fm_extents[0].fe_physical + (offset - map.fm_extents[0].fe_logical);
}

}  // namespace weir::crashtest
