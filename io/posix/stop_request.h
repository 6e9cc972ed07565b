#pragma once
// StopRequest: from a signal handler or any thread to core 0.

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "io/base/assert.h"

namespace weir::io::posix {

// Adds one to the eventfd; safe in a signal handler.
inline void signal_eventfd(int descriptor) {
  const int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = ::write(descriptor, &one, sizeof one);
  errno = saved;
}

// An eventfd that is closed with its owner. Blocking: the back ends wait for it, never in it.
class EventFd {
 public:
  explicit EventFd(int flags = 0) : descriptor_(eventfd(0, EFD_CLOEXEC | flags)) {
    ASSERT(descriptor_ >= 0, "no eventfd: errno {}; raise the limit of open files", errno);
  }
  ~EventFd() { ::close(descriptor_); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  int descriptor() const { return descriptor_; }
  void signal() { signal_eventfd(descriptor_); }

 private:
  int descriptor_;
};

// Made with the platform, so a request before run() is not lost. The flag says what the wake-up
// means.
class StopRequest {
 public:
  explicit StopRequest(EventFd& core_0) : core_0_(core_0) {}
  void request() {
    requested_.store(true, std::memory_order_release);
    core_0_.signal();
  }
  // On core 0: true once per request.
  bool take() { return requested_.exchange(false, std::memory_order_acquire); }

 private:
  EventFd& core_0_;
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace weir::io::posix
