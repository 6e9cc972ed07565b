#include "io/posix/posix_disk.h"

#include "io/posix/blocking_files.h"

namespace weir::io::posix {

void PosixDisk::open(Op& op, const char* path, OpenOptions options) {
  Job& job = jobs_.make(op, JobKind::open);
  job.path = path;
  job.options = options;
  job.options.direct = options.direct && jobs_.options().direct;
  jobs_.push(job);
}

void PosixDisk::close(Op& op, FileId file) {
  Job& job = jobs_.make(op, JobKind::close);
  job.file = file.value();
  jobs_.push(job);
}

void PosixDisk::read(Op& op, FileId file, std::span<std::byte> into, uint64_t position) {
  Job& job = jobs_.make(op, JobKind::read);
  job.file = file.value();
  job.into = into;
  job.position = position;
  jobs_.push(job);
}

void PosixDisk::write(Op& op, FileId file, std::span<const Slice> pieces, uint64_t position,
                      Durability durability) {
  ASSERT(!pieces.empty() && pieces.size() <= kSlicesMax, "{} pieces", pieces.size());
  jobs_.write(op, file.value(), pieces, position, is_durable(durability));
}

void PosixDisk::sync(Op& op, FileId file) {
  Job& job = jobs_.make(op, JobKind::sync);
  job.file = file.value();
  jobs_.push(job);
}

void PosixDisk::allocate(Op& op, FileId file, uint64_t position, uint64_t size) {
  Job& job = jobs_.make(op, JobKind::allocate);
  job.file = file.value();
  job.position = position;
  job.size = size;
  jobs_.push(job);
}

void PosixDisk::truncate(Op& op, FileId file, uint64_t size) {
  Job& job = jobs_.make(op, JobKind::truncate);
  job.file = file.value();
  job.size = size;
  jobs_.push(job);
}

void PosixDisk::rename(Op& op, const char* from, const char* to) {
  Job& job = jobs_.make(op, JobKind::rename);
  job.path = from;
  job.path_to = to;
  jobs_.push(job);
}

void PosixDisk::remove(Op& op, const char* path) {
  Job& job = jobs_.make(op, JobKind::remove);
  job.path = path;
  jobs_.push(job);
}

void PosixDisk::make_directory(Op& op, const char* path) {
  Job& job = jobs_.make(op, JobKind::make_directory);
  job.path = path;
  jobs_.push(job);
}

void PosixDisk::sync_directory(Op& op, const char* path) {
  Job& job = jobs_.make(op, JobKind::sync_directory);
  job.path = path;
  jobs_.push(job);
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

std::string PosixDisk::path_of(FileId file) { return posix::path_of(file.value()); }

}  // namespace weir::io::posix
