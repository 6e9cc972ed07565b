#include "io/posix/helper_threads.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <utility>

#include "io/base/logging.h"
#include "io/posix/blocking_files.h"

namespace weir::io::posix {

static_assert(sizeof(Slice) == sizeof(iovec) &&
              offsetof(Slice, data) == offsetof(iovec, iov_base) &&
              offsetof(Slice, size) == offsetof(iovec, iov_len));

namespace {

// What a system call returned, as a completion's result.
int32_t result_of(ssize_t status) { return status < 0 ? -errno : static_cast<int32_t>(status); }

int32_t open_unlocked(Job& job) {
  int flags = open_flags(job.options);
  if (job.options.direct) {
    const int32_t result = result_of(::open(job.path, flags | O_DIRECT, kFileMode));
    if (result != -EINVAL) return result;
    // The refused open may have created the file; it must not look like someone else's.
    job.direct_refused = true;
    flags &= ~O_EXCL;
  }
  return result_of(::open(job.path, flags, kFileMode));
}

int32_t open_file(Job& job) {
  const int32_t result = open_unlocked(job);
  return result >= 0 && job.options.locked ? lock_open_file(result) : result;
}

int32_t write_file(Job& job) {
  const auto* const pieces = reinterpret_cast<const iovec*>(job.pieces.data());
  const int count = static_cast<int>(job.pieces.size());
  const auto position = static_cast<off_t>(job.position);
  if (job.durable && job.use_dsync) {
    const int32_t result = result_of(pwritev2(job.file, pieces, count, position, RWF_DSYNC));
    if (result != -EOPNOTSUPP && result != -ENOSYS) return result;
    job.dsync_refused = true;
  }
  const int32_t written = result_of(pwritev(job.file, pieces, count, position));
  if (written < 0 || !job.durable) return written;
  const int32_t synced = result_of(fdatasync(job.file));
  return synced < 0 ? synced : written;
}

int32_t sync_directory(const char* path) {
  const int descriptor = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  const int32_t result = result_of(fsync(descriptor));
  ::close(descriptor);
  return result;
}

int32_t call(Job& job) {
  const auto position = static_cast<off_t>(job.position);
  const auto size = static_cast<off_t>(job.size);
  switch (job.kind) {
    case JobKind::open: return open_file(job);
    case JobKind::close: return result_of(::close(job.file));
    case JobKind::read:
      return result_of(pread(job.file, job.into.data(), job.into.size(), position));
    case JobKind::write: return write_file(job);
    case JobKind::sync: return result_of(fdatasync(job.file));
    case JobKind::allocate: return result_of(fallocate(job.file, 0, position, size));
    case JobKind::truncate: return result_of(ftruncate(job.file, size));
    case JobKind::rename: return result_of(::rename(job.path, job.path_to));
    case JobKind::remove: return result_of(::remove(job.path));
    case JobKind::make_directory: return result_of(mkdir(job.path, kDirectoryMode));
    case JobKind::sync_directory: return sync_directory(job.path);
  }
  UNREACHABLE("job {}", static_cast<int>(job.kind));
}

void append(Job*& head, Job*& tail, Job& job) {
  job.next = nullptr;
  (tail != nullptr ? tail->next : head) = &job;
  tail = &job;
}

}  // namespace

void execute(Job& job) { job.result = call(job); }

void FinishedJobs::push(Job& job) {
  bool first = false;
  {
    const std::lock_guard guard(mutex_);
    first = head_ == nullptr;
    append(head_, tail_, job);
    any_.store(true, std::memory_order_release);
  }
  if (first) wake_.signal();
}

Job* FinishedJobs::take() {
  if (!any()) return nullptr;
  const std::lock_guard guard(mutex_);
  any_.store(false, std::memory_order_relaxed);
  tail_ = nullptr;
  return std::exchange(head_, nullptr);
}

HelperThreads::HelperThreads(size_t count) {
  // Signals are the main thread's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HelperThreads::~HelperThreads() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HelperThreads::push(Job& job) {
  {
    const std::lock_guard guard(mutex_);
    append(head_, tail_, job);
  }
  more_.notify_one();
}

void HelperThreads::serve() {
  while (Job* job = next_job()) {
    execute(*job);
    job->home->push(*job);
  }
}

// nullptr: the end.
Job* HelperThreads::next_job() {
  std::unique_lock guard(mutex_);
  while (head_ == nullptr) {
    if (ending_) return nullptr;
    more_.wait(guard);
  }
  Job* const job = head_;
  head_ = job->next;
  if (head_ == nullptr) tail_ = nullptr;
  return job;
}

Job& CoreJobs::make(Op& op, JobKind kind) {
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

void CoreJobs::write(Op& op, int file, std::span<const Slice> pieces, uint64_t position,
                     bool durable) {
  Job& job = make(op, JobKind::write);
  job.file = file;
  job.pieces = pieces;
  job.position = position;
  job.durable = durable;
  job.use_dsync = options_.dsync;
  push(job);
}

bool CoreJobs::run_finished() {
  Job* job = finished_.take();
  if (job == nullptr) return false;
  while (job != nullptr) {
    Job& done = *std::exchange(job, job->next);
    Op& op = *done.op;
    op.set_result(done.result);
    give_back(done);
    op.run();
  }
  return true;
}

void CoreJobs::give_back(Job& job) {
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
