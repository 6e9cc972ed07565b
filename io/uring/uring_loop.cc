#include "io/uring/uring_loop.h"

#include <algorithm>

namespace weir::io::uring {

UringLoop::UringLoop(Clock& clock, Ring& ring, int wake_descriptor)
    : CoreLoop(clock), clock_(clock), ring_(ring), wake_descriptor_(wake_descriptor) {
  wake_step_ = {this, &UringLoop::on_wake};
  message_step_ = {this, [](void*, Step&, int32_t, uint32_t) {}};
}

void UringLoop::arm_wake() {
  io_uring_sqe& entry = ring_.next_entry();
  io_uring_prep_read(&entry, wake_descriptor_, &wake_count_, sizeof wake_count_, 0);
  Ring::expect(entry, wake_step_);
}

bool UringLoop::run_completions() {
  bool any = ring_.run_completions();
  if (jobs_ != nullptr && jobs_->run_finished()) any = true;
  return any;
}

bool UringLoop::has_completions() {
  return ring_.has_completions() || (jobs_ != nullptr && jobs_->any_finished());
}

void UringLoop::submit_and_sleep(std::optional<Instant> deadline) {
  std::optional<int64_t> timeout_ns;
  if (deadline) timeout_ns = std::max<int64_t>(*deadline - clock_.now(), 0);
  ring_.enter(true, timeout_ns);
}

void UringLoop::on_wake(void* owner, Step&, int32_t, uint32_t) {
  auto& self = *static_cast<UringLoop*>(owner);
  self.arm_wake();
  if (self.signal_op_ != nullptr && !self.signal_op_->armed()) self.post(*self.signal_op_);
}

}  // namespace weir::io::uring
