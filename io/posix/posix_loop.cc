#include "io/posix/posix_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace weir::io::posix {

namespace {

constexpr int64_t kMsNs = 1'000'000;
constexpr int64_t kSleepMsMax = 60'000;

}  // namespace

PosixLoop::PosixLoop(Clock& clock, EventFd& wake, CoreJobs& jobs)
    : CoreLoop(clock),
      clock_(clock),
      wake_(wake),
      jobs_(jobs),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  ASSERT(epoll_ >= 0, "no epoll: errno {}; raise the limit of open files", errno);
  watch(*this, wake_.descriptor(), EPOLLIN);
}

PosixLoop::~PosixLoop() { ::close(epoll_); }

void PosixLoop::watch(Watched& watched, int descriptor, uint32_t interest) {
  if (interest == watched.interest_) return;
  watched.interest_ = interest;
  epoll_event event{};
  event.events = interest;
  event.data.ptr = &watched;
  int operation = EPOLL_CTL_MOD;
  if (interest == 0) operation = EPOLL_CTL_DEL;
  if (!watched.registered_) operation = EPOLL_CTL_ADD;
  watched.registered_ = interest != 0;
  const int status = epoll_ctl(epoll_, operation, descriptor, &event);
  ASSERT(status == 0, "epoll_ctl {} of {}: errno {}", operation, descriptor, errno);
}

void PosixLoop::complete(Op& op, int32_t result) {
  op.set_result(result);
  ready_.push(op);
}

bool PosixLoop::run_completions() {
  bool any = attempts_->run_attempts();
  for (size_t i = 0, count = std::exchange(event_count_, 0); i < count; ++i) {
    static_cast<Watched*>(events_[i].data.ptr)->on_events(events_[i].events);
    any = true;
  }
  if (jobs_.run_finished()) any = true;
  return any;
}

bool PosixLoop::has_completions() {
  return event_count_ > 0 || jobs_.any_finished() || attempts_->has_attempts();
}

void PosixLoop::submit_and_sleep(std::optional<Instant> deadline) {
  if (has_completions()) return poll(0);
  int timeout_ms = -1;
  if (deadline) {
    // Rounded up: woken early, the timer would not be due yet.
    const int64_t left_ms = (*deadline - clock_.now() + kMsNs - 1) / kMsNs;
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left_ms, 0, kSleepMsMax));
  }
  poll(timeout_ms);
}

void PosixLoop::poll(int timeout_ms) {
  if (event_count_ > 0) return;
  const int count = epoll_wait(epoll_, events_.data(), kEventsMax, timeout_ms);
  ASSERT(count >= 0 || errno == EINTR, "epoll_wait: errno {}", errno);
  event_count_ = count > 0 ? static_cast<size_t>(count) : 0;
}

void PosixLoop::on_events(uint32_t) {
  uint64_t signals = 0;
  [[maybe_unused]] const ssize_t size = ::read(wake_.descriptor(), &signals, sizeof signals);
  if (signal_op_ != nullptr && !signal_op_->armed()) post(*signal_op_);
}

}  // namespace weir::io::posix
