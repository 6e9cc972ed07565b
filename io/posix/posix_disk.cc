#include "io/posix/posix_disk.h"

#include "io/base/logging.h"
#include "io/posix/blocking_files.h"

namespace weir::io::posix {

PosixDisk::PosixDisk(PosixLoop& loop, HelperThreads& helpers, FinishedJobs& finished,
                     Options options)
    : helpers_(helpers), finished_(finished), options_(options) {
  loop.attach(static_cast<PosixLoop::JobPool&>(*this));
}

void PosixDisk::open(Op& op, const char* path, OpenOptions options) {
  Job& job = make(op, JobKind::open);
  job.path = path;
  job.options = options;
  job.options.direct = options.direct && options_.direct;
  helpers_.push(job);
}

void PosixDisk::close(Op& op, FileId file) {
  Job& job = make(op, JobKind::close);
  job.file = file.value();
  helpers_.push(job);
}

void PosixDisk::read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) {
  Job& job = make(op, JobKind::read);
  job.file = file.value();
  job.into = into;
  job.position = position;
  helpers_.push(job);
}

void PosixDisk::write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                      Durability durability) {
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  Job& job = make(op, JobKind::write);
  job.file = file.value();
  job.pieces = pieces;
  job.position = position;
  job.durable = durability == Durability::on_completion;
  job.use_dsync = options_.dsync;
  helpers_.push(job);
}

void PosixDisk::sync(Op& op, FileId file) {
  Job& job = make(op, JobKind::sync);
  job.file = file.value();
  helpers_.push(job);
}

void PosixDisk::allocate(Op& op, FileId file, uint64_t position, uint64_t size) {
  Job& job = make(op, JobKind::allocate);
  job.file = file.value();
  job.position = position;
  job.size = size;
  helpers_.push(job);
}

void PosixDisk::truncate(Op& op, FileId file, uint64_t size) {
  Job& job = make(op, JobKind::truncate);
  job.file = file.value();
  job.size = size;
  helpers_.push(job);
}

void PosixDisk::rename(Op& op, const char* from, const char* to) {
  Job& job = make(op, JobKind::rename);
  job.path = from;
  job.path_to = to;
  helpers_.push(job);
}

void PosixDisk::remove(Op& op, const char* path) {
  Job& job = make(op, JobKind::remove);
  job.path = path;
  helpers_.push(job);
}

void PosixDisk::make_directory(Op& op, const char* path) {
  Job& job = make(op, JobKind::make_directory);
  job.path = path;
  helpers_.push(job);
}

void PosixDisk::sync_directory(Op& op, const char* path) {
  Job& job = make(op, JobKind::sync_directory);
  job.path = path;
  helpers_.push(job);
}

base::Result<std::vector<DirectoryEntry>> PosixDisk::list(const std::string& path) {
  return list_directory(path);
}

base::Result<FileInfo> PosixDisk::info(const std::string& path) { return file_info(path); }

base::Result<uint64_t> PosixDisk::free_bytes(const std::string& path) {
  return posix::free_bytes(path);
}

base::Result<uint64_t> PosixDisk::total_bytes(const std::string& path) {
  return posix::total_bytes(path);
}

Job& PosixDisk::make(Op& op, JobKind kind) {
  op.arm();
  if (unused_.empty()) unused_.push_back(&jobs_.emplace_back());
  Job& job = *unused_.back();
  unused_.pop_back();
  job = {};
  job.kind = kind;
  job.op = &op;
  job.home = &finished_;
  return job;
}

void PosixDisk::give_back(Job& job) {
  if (job.dsync_refused && options_.dsync) {
    base::log_warning("io", "file system refuses RWF_DSYNC: write, then fdatasync");
    options_.dsync = false;
  }
  if (job.direct_refused && !told_buffered_) {
    base::log_warning("io", "file system refuses O_DIRECT: buffered path={}", job.path);
    told_buffered_ = true;
  }
  unused_.push_back(&job);
}

}  // namespace weir::io::posix
