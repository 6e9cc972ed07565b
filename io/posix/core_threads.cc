#include "io/posix/core_threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <vector>

#include "io/base/logging.h"
#include "io/errors.h"

namespace weir::io::posix {

namespace {

// CPUs this process may use, in order.
std::vector<int> allowed_cpus(const cpu_set_t& mask) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_to(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    base::log_warning("io", "core not pinned cpu={} error={}", cpu, errno_name(errno));
  }
}

// One run of all cores. Lives on the stack of run_cores(), which outlasts every thread.
class Run {
 public:
  Run(const PlatformOptions& options, CoreBody& body)
      : count_(options.cores), body_(body), prepared_(count_), served_(count_), statuses_(count_) {
    CPU_ZERO(&callers_mask_);
    if (sched_getaffinity(0, sizeof callers_mask_, &callers_mask_) == 0) {
      cpus_ = allowed_cpus(callers_mask_);
    }
    pin_ = options.pin && cpus_.size() >= count_;
    if (options.pin && !pin_) {
      base::log_info("io", "cores not pinned: more cores than CPUs cores={} cpus={}", count_,
                     cpus_.size());
    }
  }

  base::Status run() {
    std::vector<Seat> seats(count_);
    for (uint16_t i = 1; i < count_; ++i) {
      seats[i] = {.run = this, .core = CoreIndex{i}, .thread = {}};
      if (const int code = start(seats[i]); code != 0) {
        statuses_[i] = base::error(code, "start of a thread failed: raise the limit of processes");
        failed_.store(true, std::memory_order_relaxed);
        prepared_.count_down();
        served_.count_down();
        seats[i].run = nullptr;
      }
    }
    step_through(CoreIndex{0});
    for (Seat& seat : seats) {
      if (seat.run != nullptr) pthread_join(seat.thread, nullptr);
    }
    if (pin_) sched_setaffinity(0, sizeof callers_mask_, &callers_mask_);
    for (base::Status& own : statuses_) CHECK_OK(std::move(own));
    return {};
  }

 private:
  struct Seat {
    Run* run = nullptr;
    CoreIndex core{};
    pthread_t thread{};
  };

  static int start(Seat& seat) {
    // The new thread inherits the mask: a handler always runs on core 0's thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto main = [](void* argument) -> void* {
      const Seat& own = *static_cast<Seat*>(argument);
      own.run->step_through(own.core);
      return nullptr;
    };
    const int code = pthread_create(&seat.thread, nullptr, main, &seat);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return code;
  }

  void step_through(CoreIndex core) {
    if (pin_) pin_to(cpus_[core.value()]);
    base::Status& status = statuses_[core.value()];
    status = body_.prepare(core);
    if (!status) failed_.store(true, std::memory_order_relaxed);
    prepared_.arrive_and_wait();
    if (!failed_.load(std::memory_order_relaxed)) body_.serve(core);
    served_.arrive_and_wait();
    body_.dismantle(core);
  }

  uint16_t count_;
  CoreBody& body_;
  std::latch prepared_;
  std::latch served_;
  std::atomic<bool> failed_{false};
  std::vector<base::Status> statuses_;  // by core; read after all have ended
  cpu_set_t callers_mask_;
  std::vector<int> cpus_;
  bool pin_ = false;
};

}  // namespace

base::Status run_cores(const PlatformOptions& options, CoreBody& body) {
  return Run(options, body).run();
}

}  // namespace weir::io::posix
