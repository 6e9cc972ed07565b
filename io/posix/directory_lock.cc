#include "io/posix/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "io/base/logging.h"
#include "io/errors.h"
#include "io/posix/blocking_files.h"
#include "io/posix/system_clock.h"

namespace weir::io::posix {

namespace {

constexpr int64_t kRetryNs = 10'000'000;

base::Status make_directories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
      const int code = errno;
      struct stat status {};  // mkdir may refuse (EROFS, EACCES) what is there already
      if (stat(part.c_str(), &status) != 0) return failed(Operation::make_directory, code, part);
    }
    if (end == std::string::npos) return {};
  }
}

// What the holder wrote; empty when it has not written yet.
std::string read_holder(int descriptor) {
  char text[32];
  const ssize_t size = pread(descriptor, text, sizeof text, 0);
  std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

std::unexpected<base::Error> in_use(const std::string& directory, int descriptor) {
  const std::string holder = read_holder(descriptor);
  return base::error(EWOULDBLOCK,
                     fmt::format("data directory {} is in use by process {}", directory,
                                 holder.empty() ? "(unknown)" : holder));
}

}  // namespace

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

base::Status DirectoryLock::take(const std::string& directory, int64_t wait_ms) {
  ASSERT(!held(), "one data directory per platform");
  CHECK_OK(make_directories(directory));
  const std::string path = directory + "/lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (descriptor < 0) return failed(Operation::open, errno, path);

  SystemClock clock;
  const Instant give_up = clock.now() + wait_ms * 1'000'000;
  bool told = false;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    if (code == EINTR) continue;
    if (code != EWOULDBLOCK || clock.now() >= give_up) {
      auto status = code == EWOULDBLOCK ? in_use(directory, descriptor)
                                        : failed(Operation::lock, code, path);
      ::close(descriptor);
      return status;
    }
    if (!told) {
      base::log_info("io", "waiting for the data directory directory={} holder={} wait_ms={}",
                     directory, read_holder(descriptor), wait_ms);
      told = true;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = kRetryNs};
    nanosleep(&pause, nullptr);
  }
  descriptor_ = descriptor;
  write_holder(path);
  return {};
}

// A full disk must not keep the engine from starting: the number only serves the message.
void DirectoryLock::write_holder(const std::string& path) {
  std::string text = fmt::format("{}\n", getpid());
  const iovec piece{.iov_base = text.data(), .iov_len = text.size()};
  ssize_t size = ftruncate(descriptor_, 0);
  if (size == 0) size = pwritev2(descriptor_, &piece, 1, 0, RWF_DSYNC);
  if (size < 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS)) {
    dsync_works_ = false;
    size = pwritev(descriptor_, &piece, 1, 0);
  }
  if (size < 0) base::log_warning("io", "{}", describe({Operation::write, errno}, path));
}

}  // namespace weir::io::posix
