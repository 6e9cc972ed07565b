#pragma once
// PosixLoop: the loop of one core over epoll.

#include <sys/epoll.h>

#include <array>

#include "io/posix/core_loop.h"
#include "io/posix/helper_threads.h"
#include "io/posix/stop_request.h"

namespace weir::io::posix {

// Something with a descriptor that waits for readiness.
class Watched {
 public:
  virtual ~Watched() = default;
  virtual void on_events(uint32_t events) = 0;

 private:
  friend class PosixLoop;
  uint32_t interest_ = 0;
  bool registered_ = false;
};

// What has operations to try without waiting for readiness first.
class Attempts {
 public:
  virtual ~Attempts() = default;
  // Completes what is possible at once; true when anything was tried.
  virtual bool run_attempts() = 0;
  virtual bool has_attempts() const = 0;
};

// One core's. Level-triggered. Events are collected when a turn ends and handled when the next
// begins; helpers and other cores wake it through its eventfd (non-blocking).
class PosixLoop final : public CoreLoop, private Watched {
 public:
  PosixLoop(Clock& clock, EventFd& wake, CoreJobs& jobs);
  ~PosixLoop() override;

  void attach(Attempts& attempts) { attempts_ = &attempts; }
  // Runs on this core after each signal through the eventfd.
  void on_signal(Op& op) { signal_op_ = &op; }

  // `interest` of epoll; nothing: the descriptor leaves the set, since a hang-up is always
  // reported.
  void watch(Watched& watched, int descriptor, uint32_t interest);
  static uint32_t interest_of(const Watched& watched) { return watched.interest_; }

  // The operation is over; its owner learns it from the ready queue.
  void complete(Op& op, int32_t result);

 protected:
  bool run_completions() override;
  bool has_completions() override;
  void submit() override { poll(0); }
  void submit_and_sleep(std::optional<Instant> deadline) override;

 private:
  static constexpr size_t kEventsMax = 256;  // of one turn; the rest comes in the next

  void on_events(uint32_t events) override;  // of the eventfd
  void poll(int timeout_ms);

  Clock& clock_;
  EventFd& wake_;
  CoreJobs& jobs_;
  Attempts* attempts_ = nullptr;
  Op* signal_op_ = nullptr;
  int epoll_;
  std::array<epoll_event, kEventsMax> events_{};
  size_t event_count_ = 0;  // collected, not yet handled
};

}  // namespace weir::io::posix
