#include "engine/catalog/file_io.h"

#include "io/base/heap.h"
#include "io/locked_open.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "io/base/units.h"
#include "io/waiter.h"

namespace weir::catalog {
namespace {

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

std::unexpected<base::Error> failed(int code, std::string_view action, const std::string& path) {
  return base::error(code, fmt::format("cannot {} {}: {}", action, path, std::strerror(code)));
}

}  // namespace

FileIo::FileIo(io::Loop& loop, io::Disk& disk, std::string directory)
    : loop_(loop), disk_(disk), directory_(std::move(directory)) {}

base::Status FileIo::finish(io::Op& op, std::string_view action, const std::string& path) {
  loop_.run_until(op);
  if (op.result() < 0) return failed(-op.result(), action, path);
  return {};
}

base::Result<io::FileId> FileIo::open(std::string_view name, io::OpenOptions options) {
  const std::string file_path = path(name);
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.open(op, file_path.c_str(), options);
  CHECK_OK(finish(op, "open", file_path));
  return io::FileId(op.result());
}

base::Status FileIo::close(io::FileId file) {
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.close(op, file);
  return finish(op, "close a file of", directory_);
}

base::Status FileIo::remove(std::string_view name) {
  const std::string file_path = path(name);
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.remove(op, file_path.c_str());
  if (const auto status = finish(op, "remove", file_path);
      !status && status.error().code != ENOENT) {
    return status;
  }
  return {};
}

base::Result<std::vector<std::byte>> FileIo::read(std::string_view name, size_t size_max) {
  const std::string file_path = path(name);
  TRY(const io::FileInfo info, disk_.info(file_path));
  if (info.size > size_max) {
    return base::error(EFBIG, fmt::format("{} has {} bytes, at most {} are possible", file_path,
                                          info.size, size_max));
  }
  // What a process that was killed had written but not synced, the file's name included, becomes
  // durable before it is believed (L10).
  TRY(const io::FileId file, open(name, {.direct = true, .writable = true}));
  io::Op sync;
  sync.bind<&FileIo::on_done>(*this);
  disk_.sync(sync, file);
  base::Status outcome = finish(sync, "sync", file_path);
  if (outcome) outcome = sync_directory();
  const size_t room = base::round_up(info.size + 1, io::kBlockSize);
  const std::unique_ptr<std::byte, FreeMemory> memory(
      base::allocate_aligned(io::kBlockSize, room));
  std::vector<std::byte> bytes;
  if (outcome) {
    io::Waiter waiter;
    io::WholeRead& read = waiter.read;
    read.start(disk_, file, {memory.get(), room}, 0);
    while (read.armed()) loop_.run_until(read.op());
    if (read.error() != 0) outcome = failed(read.error(), "read", file_path);
    bytes.assign(memory.get(), memory.get() + read.done());
  }
  CHECK_OK(close(file));
  CHECK_OK(outcome);
  return bytes;
}

base::Status FileIo::write_all(io::FileId file, std::span<const std::byte> bytes,
                               const std::string& path) {
  io::Waiter waiter;
  io::WholeWrite& write = waiter.write;
  write.pieces().push_back({bytes.data(), bytes.size()});
  write.start(disk_, file, 0, io::Durability::none);
  while (write.armed()) loop_.run_until(write.op());
  if (write.error() != 0) return failed(write.error(), "write", path);
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.sync(op, file);
  return finish(op, "sync", path);
}

base::Status FileIo::write_new(const std::string& path, std::span<const std::byte> bytes) {
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.open(op, path.c_str(), {.create = true, .exclusive = true});
  CHECK_OK(finish(op, "create", path));
  const io::FileId file(op.result());
  const base::Status written = write_all(file, bytes, path);
  CHECK_OK(close(file));
  return written;
}

base::Status FileIo::replace(std::string_view name, std::span<const std::byte> bytes) {
  const std::string temporary = std::string(name) + ".new";
  const std::string from = path(temporary);
  const std::string to = path(name);
  CHECK_OK(remove(temporary));
  if (const auto status = write_new(from, bytes); !status) {
    // On a full disk the half file must not stay; what went wrong first is the error that counts.
    (void)remove(temporary);
    return status;
  }
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.rename(op, from.c_str(), to.c_str());
  CHECK_OK(finish(op, "rename", from));
  return sync_directory();
}

base::Status FileIo::sync_directory() {
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.sync_directory(op, directory_.c_str());
  return finish(op, "sync directory", directory_);
}

base::Status FileIo::settle(std::string_view name) {
  TRY(const io::FileId file, io::open_locked(loop_, disk_, path(name), {}));
  return close(file);
}

base::Status FileIo::truncate_and_sync(io::FileId file, uint64_t size) {
  io::Op op;
  op.bind<&FileIo::on_done>(*this);
  disk_.truncate(op, file, size);
  CHECK_OK(finish(op, "truncate a file of", directory_));
  disk_.sync(op, file);
  return finish(op, "sync a file of", directory_);
}

}  // namespace weir::catalog
