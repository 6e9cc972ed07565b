#include "io/posix/core_loop.h"

namespace weir::io::posix {

namespace {

// A turn submits after so many rounds, even when messages keep coming: others wait for its writes.
constexpr int kRoundsMax = 32;

// About what it costs to wake a sleeping core; spinning longer would lose more than it can gain.
constexpr int64_t kSpinNs = 6'000;

}  // namespace

void CoreLoop::run() {
  ASSERT(mailboxes_ != nullptr);
  do {
    turn();
  } while (!finished());
  stopping_ = false;
}

void CoreLoop::run_until(Op& op) {
  ASSERT(mailboxes_ != nullptr);
  ASSERT(awaited_ == nullptr, "run_until inside run_until");
  awaited_ = &op;
  while (op.armed()) turn();
  awaited_ = nullptr;
}

// A core does not leave while messages of it wait for room in a ring: their receivers count on
// them.
bool CoreLoop::finished() const {
  if (awaited_ != nullptr) return !awaited_->armed();
  return stopping_ && !mailboxes_->has_backlog();
}

void CoreLoop::turn() {
  mail_moved_ = false;
  work();
  run_turn_end();
  if (mailboxes_->flush()) mail_moved_ = true;
  submit_and_maybe_sleep();
}

void CoreLoop::work() {
  for (int round = 0; round < kRoundsMax; ++round) {
    bool any = run_ready();
    if (run_completions()) any = true;
    if (mailboxes_->drain()) any = mail_moved_ = true;
    if (timers().fire_due() > 0) any = true;
    if (!any) return;
  }
}

void CoreLoop::submit_and_maybe_sleep() {
  if (has_ready() || finished()) {
    submit();
    return;
  }
  if (several_cores_ && mail_moved_) {
    submit();
    if (spin()) return;
  }
  if (mailboxes_->announce_sleep()) {
    submit();
  } else {
    submit_and_sleep(timers().next_deadline());
  }
  mailboxes_->clear_sleep();
}

// True when something came while spinning.
bool CoreLoop::spin() {
  const Instant end = clock_.now() + kSpinNs;
  do {
    if (has_completions() || mailboxes_->has_work()) return true;
    __builtin_ia32_pause();
  } while (clock_.now() < end);
  return false;
}

}  // namespace weir::io::posix
