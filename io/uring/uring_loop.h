#pragma once
// UringLoop: the loop of one core over its ring.

#include "io/posix/core_loop.h"
#include "io/posix/helper_threads.h"
#include "io/uring/ring.h"

namespace weir::io::uring {

// One system call per turn submits everything and, when nothing is left to do, sleeps in it.
// Besides what the core asked for, one read of the core's eventfd is always armed: signal handlers
// and other threads wake the core through it; other cores send a message to the ring where the
// kernel can. Helper threads wake it like any other thread.
class UringLoop final : public posix::CoreLoop {
 public:
  // All references outlive the loop; `wake_descriptor`: a blocking eventfd.
  UringLoop(Clock& clock, Ring& ring, int wake_descriptor);

  Ring& ring() { return ring_; }
  // What another ring's wake-up message completes here.
  uint64_t wake_user_data() { return Ring::user_data_of(message_step_); }
  // Runs on this core after each signal through the eventfd.
  void on_signal(Op& op) { signal_op_ = &op; }
  // What helper threads do for this core, if anything.
  void attach(posix::CoreJobs& jobs) { jobs_ = &jobs; }
  // Once, before the first turn.
  void arm_wake();

 protected:
  bool run_completions() override;
  bool has_completions() override;
  void submit() override { ring_.enter(false, std::nullopt); }
  void submit_and_sleep(std::optional<Instant> deadline) override;

 private:
  static void on_wake(void* owner, Step& step, int32_t result, uint32_t flags);

  Clock& clock_;
  Ring& ring_;
  int wake_descriptor_;
  uint64_t wake_count_ = 0;  // the read's buffer
  Step wake_step_;           // the armed read
  Step message_step_;        // wake-ups from other rings; they only end the sleep
  Op* signal_op_ = nullptr;
  posix::CoreJobs* jobs_ = nullptr;
};

}  // namespace weir::io::uring
