#include "io/posix/system_clock.h"

#include <sys/random.h>

#include <cerrno>
#include <ctime>

#include "io/base/assert.h"

namespace weir::io::posix {

namespace {

timespec read(clockid_t id) {
  timespec time{};
  const int status = clock_gettime(id, &time);
  ASSERT(status == 0, "clock {}: errno {}", id, errno);
  return time;
}

}  // namespace

Instant SystemClock::now() {
  const timespec time = read(CLOCK_MONOTONIC);
  return {int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

int64_t SystemClock::wall_ms() {
  const timespec time = read(CLOCK_REALTIME);
  return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

uint64_t SystemRandom::next() {
  if (used_ == block_.size()) {
    ssize_t size = 0;
    do {
      size = getrandom(block_.data(), sizeof block_, 0);
    } while (size < 0 && errno == EINTR);
    ASSERT(size == sizeof block_, "getrandom gave {}, errno {}", size, errno);
    used_ = 0;
  }
  const uint64_t number = block_[used_];
  block_[used_++] = 0;  // a salt does not stay readable in memory
  return number;
}

}  // namespace weir::io::posix
