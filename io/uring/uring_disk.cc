#include "io/uring/uring_disk.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/base/logging.h"
#include "io/posix/blocking_files.h"
#include "io/uring/compat.h"

namespace weir::io::uring {

static_assert(sizeof(Slice) == sizeof(iovec) &&
              offsetof(Slice, data) == offsetof(iovec, iov_base) &&
              offsetof(Slice, size) == offsetof(iovec, iov_len));

namespace {

constexpr uint16_t kIdlePriority = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0);

unsigned transfer_size(size_t size) { return static_cast<unsigned>(std::min(size, kTransferMax)); }

int32_t result_of(int status) { return status == 0 ? 0 : -errno; }

}  // namespace

UringDisk::UringDisk(Loop& loop, Ring& ring, posix::CoreJobs* helpers)
    : loop_(loop),
      ring_(ring),
      helpers_(helpers),
      dsync_(ring.features().dsync),
      direct_(ring.features().direct) {}

bool UringDisk::register_memory(std::span<std::byte> memory) {
  return ring_.register_memory(memory);
}

void UringDisk::open(Op& op, const char* path, OpenOptions options) {
  op.arm();
  DiskStep& step = acquire(op, DiskStep::Stage::open_direct);
  step.path = path;
  step.options = options;
  step.options.direct = options.direct && direct_;
  submit_open(step);
}

void UringDisk::close(Op& op, FileId file) {
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_close(&entry, file.value());
  Ring::expect(entry, op);
}

void UringDisk::read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) {
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  const unsigned size = transfer_size(into.size());
  if (const auto index = ring_.memory_index(into.data(), into.size())) {
    io_uring_prep_read_fixed(&entry, file.value(), into.data(), size, position, *index);
  } else {
    io_uring_prep_read(&entry, file.value(), into.data(), size, position);
  }
  Ring::expect(entry, op);
}

void UringDisk::write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                      Durability durability) {
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  if (durability == Durability::awaited && helpers_ != nullptr) {
    return helpers_->write(op, file.value(), pieces, position, true);
  }
  op.arm();
  if (!is_durable(durability)) {
    io_uring_sqe& entry = prepare_write(file.value(), pieces, position, 0);
    if (durability == Durability::background) entry.ioprio = kIdlePriority;
    Ring::expect(entry, op);
    return;
  }
  DiskStep& step =
      acquire(op, dsync_ ? DiskStep::Stage::write_durable : DiskStep::Stage::write_then_sync);
  step.file = file.value();
  step.pieces = pieces;
  step.position = position;
  submit_write(step);
}

void UringDisk::sync(Op& op, FileId file) {
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_fsync(&entry, file.value(), IORING_FSYNC_DATASYNC);
  Ring::expect(entry, op);
}

void UringDisk::allocate(Op& op, FileId file, uint64_t position, uint64_t size) {
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_fallocate(&entry, file.value(), 0, static_cast<off_t>(position),
                          static_cast<off_t>(size));
  Ring::expect(entry, op);
}

void UringDisk::truncate(Op& op, FileId file, uint64_t size) {
  if (!ring_.features().ftruncate) {
    loop_.post(op, result_of(ftruncate(file.value(), static_cast<off_t>(size))));
    return;
  }
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_rw(kOpFtruncate, &entry, file.value(), nullptr, 0, size);
  Ring::expect(entry, op);
}

void UringDisk::rename(Op& op, const char* from, const char* to) {
  if (!ring_.features().renameat) {
    loop_.post(op, result_of(::rename(from, to)));
    return;
  }
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_renameat(&entry, AT_FDCWD, from, AT_FDCWD, to, 0);
  Ring::expect(entry, op);
}

void UringDisk::remove(Op& op, const char* path) {
  if (!ring_.features().unlinkat) {
    loop_.post(op, result_of(::remove(path)));
    return;
  }
  op.arm();
  DiskStep& step = acquire(op, DiskStep::Stage::remove_file);
  step.path = path;
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_unlinkat(&entry, AT_FDCWD, path, 0);
  Ring::expect(entry, step);
}

void UringDisk::make_directory(Op& op, const char* path) {
  if (!ring_.features().mkdirat) {
    loop_.post(op, result_of(mkdir(path, posix::kDirectoryMode)));
    return;
  }
  op.arm();
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_mkdirat(&entry, AT_FDCWD, path, posix::kDirectoryMode);
  Ring::expect(entry, op);
}

void UringDisk::sync_directory(Op& op, const char* path) {
  op.arm();
  DiskStep& step = acquire(op, DiskStep::Stage::open_directory);
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_openat(&entry, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  Ring::expect(entry, step);
}

base::Result<std::vector<DirectoryEntry>> UringDisk::list(const std::string& path) {
  return posix::list_directory(path);
}

base::Result<FileInfo> UringDisk::info(const std::string& path) { return posix::file_info(path); }

base::Result<uint64_t> UringDisk::free_bytes(const std::string& path) {
  return posix::free_bytes(path);
}

base::Result<uint64_t> UringDisk::total_bytes(const std::string& path) {
  return posix::total_bytes(path);
}

std::string UringDisk::path_of(FileId file) { return posix::path_of(file.value()); }

UringDisk::DiskStep& UringDisk::acquire(Op& op, DiskStep::Stage stage) {
  if (unused_.empty()) unused_.push_back(&steps_.emplace_back());
  DiskStep& step = *unused_.back();
  unused_.pop_back();
  step = {};
  step.owner = this;
  step.function = &UringDisk::on_step;
  step.op = &op;
  step.stage = stage;
  return step;
}

void UringDisk::finish(DiskStep& step, int32_t result) {
  Op& op = *std::exchange(step.op, nullptr);
  unused_.push_back(&step);
  op.set_result(result);
  op.run();
}

io_uring_sqe& UringDisk::prepare_write(int file, std::span<const Slice> pieces, uint64_t position,
                                       unsigned flags) {
  io_uring_sqe& entry = ring_.next_entry();
  if (pieces.size() > 1) {
    io_uring_prep_writev(&entry, file, reinterpret_cast<const iovec*>(pieces.data()),
                         static_cast<unsigned>(pieces.size()), position);
  } else if (const auto index = ring_.memory_index(pieces[0].data, pieces[0].size)) {
    io_uring_prep_write_fixed(&entry, file, pieces[0].data, transfer_size(pieces[0].size), position,
                              *index);
  } else {
    io_uring_prep_write(&entry, file, pieces[0].data, transfer_size(pieces[0].size), position);
  }
  entry.rw_flags = static_cast<__kernel_rwf_t>(flags);
  return entry;
}

void UringDisk::submit_open(DiskStep& step) {
  io_uring_sqe& entry = ring_.next_entry();
  const int flags = posix::open_flags(step.options) | (step.options.direct ? O_DIRECT : 0);
  io_uring_prep_openat(&entry, AT_FDCWD, step.path, flags, posix::kFileMode);
  Ring::expect(entry, step);
}

void UringDisk::submit_write(DiskStep& step) {
  const unsigned flags = step.stage == DiskStep::Stage::write_durable ? RWF_DSYNC : 0;
  Ring::expect(prepare_write(step.file, step.pieces, step.position, flags), step);
}

void UringDisk::on_step(void* owner, Step& step, int32_t result, uint32_t) {
  auto& self = *static_cast<UringDisk*>(owner);
  auto& own = static_cast<DiskStep&>(step);
  switch (own.stage) {
    case DiskStep::Stage::open_direct: return self.on_opened(own, result);
    case DiskStep::Stage::write_durable:
    case DiskStep::Stage::write_then_sync:
    case DiskStep::Stage::sync_written: return self.on_written(own, result);
    case DiskStep::Stage::remove_file: return self.on_removed(own, result);
    case DiskStep::Stage::open_directory:
    case DiskStep::Stage::sync_directory:
    case DiskStep::Stage::close_directory: return self.on_directory(own, result);
  }
  UNREACHABLE("stage {}", static_cast<int>(own.stage));
}

void UringDisk::on_opened(DiskStep& step, int32_t result) {
  if (result >= 0 && step.options.locked) result = posix::lock_open_file(result);
  if (result != -EINVAL || !step.options.direct) return finish(step, result);
  if (!told_buffered_) {
    base::log_warning("io", "file system refuses O_DIRECT: buffered path={}", step.path);
    told_buffered_ = true;
  }
  step.options.direct = false;
  // The refused open may have created the file; it must not look like someone else's.
  step.options.exclusive = false;
  submit_open(step);
}

void UringDisk::on_written(DiskStep& step, int32_t result) {
  switch (step.stage) {
    case DiskStep::Stage::write_durable: {
      if (result != -EOPNOTSUPP) return finish(step, result);
      if (dsync_) base::log_warning("io", "file system refuses RWF_DSYNC: write, then fdatasync");
      dsync_ = false;
      step.stage = DiskStep::Stage::write_then_sync;
      return submit_write(step);
    }
    case DiskStep::Stage::write_then_sync: {
      if (result < 0) return finish(step, result);
      step.result = result;
      step.stage = DiskStep::Stage::sync_written;
      io_uring_sqe& entry = ring_.next_entry();
      io_uring_prep_fsync(&entry, step.file, IORING_FSYNC_DATASYNC);
      Ring::expect(entry, step);
      return;
    }
    case DiskStep::Stage::sync_written: return finish(step, result < 0 ? result : step.result);
    case DiskStep::Stage::open_direct:
    case DiskStep::Stage::remove_file:
    case DiskStep::Stage::open_directory:
    case DiskStep::Stage::sync_directory:
    case DiskStep::Stage::close_directory: break;
  }
  UNREACHABLE("stage {}", static_cast<int>(step.stage));
}

void UringDisk::on_removed(DiskStep& step, int32_t result) {
  if (result != -EISDIR || step.path == nullptr) return finish(step, result);
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_unlinkat(&entry, AT_FDCWD, std::exchange(step.path, nullptr), AT_REMOVEDIR);
  Ring::expect(entry, step);
}

void UringDisk::on_directory(DiskStep& step, int32_t result) {
  if (step.stage == DiskStep::Stage::close_directory) return finish(step, step.result);
  if (step.stage == DiskStep::Stage::open_directory) {
    if (result < 0) return finish(step, result);
    step.file = result;
    step.stage = DiskStep::Stage::sync_directory;
    io_uring_sqe& entry = ring_.next_entry();
    io_uring_prep_fsync(&entry, step.file, 0);
    Ring::expect(entry, step);
    return;
  }
  ASSERT(step.stage == DiskStep::Stage::sync_directory);
  step.result = result;
  step.stage = DiskStep::Stage::close_directory;
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_close(&entry, step.file);
  Ring::expect(entry, step);
}

}  // namespace weir::io::uring
