#pragma once
// CoreLoop: the turn of a real core, the same over rings and over epoll.

#include <optional>

#include "io/loop.h"
#include "io/posix/ring_mailboxes.h"

namespace weir::io::posix {

// One core's; built, run and destroyed on its thread. The back end adds the kernel's side: what
// completed, how to submit, how to sleep.
class CoreLoop : public Loop {
 public:
  explicit CoreLoop(Clock& clock) : Loop(clock), clock_(clock) {}
  ~CoreLoop() override { abandon_ready(); }

  // Before the first turn; the mailboxes outlive the loop's last turn.
  void connect(RingMailboxes& mailboxes, bool several_cores) {
    mailboxes_ = &mailboxes;
    several_cores_ = several_cores;
  }

  void run() final;
  void stop() final { stopping_ = true; }
  void run_until(Op& op) final;

 protected:
  // Runs the completions that are here; true when there were any.
  virtual bool run_completions() = 0;
  virtual bool has_completions() = 0;
  // Hands what was prepared to the kernel.
  virtual void submit() = 0;
  // The same, then sleeps until something happens, at the latest at `deadline`.
  virtual void submit_and_sleep(std::optional<Instant> deadline) = 0;

 private:
  bool finished() const;
  void turn();
  void work();
  bool spin();
  void submit_and_maybe_sleep();

  Clock& clock_;
  RingMailboxes* mailboxes_ = nullptr;
  const Op* awaited_ = nullptr;  // of run_until
  bool several_cores_ = false;
  bool stopping_ = false;
  bool mail_moved_ = false;  // this turn: an answer may come at once
};

}  // namespace weir::io::posix
