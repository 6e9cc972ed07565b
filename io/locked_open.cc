#include "io/locked_open.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "io/base/logging.h"

namespace weir::io {
namespace {

constexpr int64_t kPoll_ns = 2'000'000;

// A timer as an operation that straight-line code can wait for.
struct Pause {
  explicit Pause(Loop& its_loop) : loop(its_loop) {
    op.bind<&Pause::on_over>(*this);
    timer.bind<&Pause::on_timer>(*this);
  }
  void run() {
    op.arm();
    loop.timers().arm_after(timer, kPoll_ns);
    loop.run_until(op);
    if (op.armed()) op.abandon();  // a simulated world that died
  }
  void on_timer() { loop.finish(op, 0); }
  void on_over(Op&) {}

  Loop& loop;
  Op op;
  Timer timer;
};

struct Opening {
  Opening() { op.bind<&Opening::on_open>(*this); }
  void on_open(Op&) {}
  Op op;
};

}  // namespace

base::Result<FileId> open_locked(Loop& loop, Disk& disk, const std::string& path,
                                 OpenOptions options) {
  options.locked = true;
  const Instant give_up = loop.timers().clock().now() + kLandingWait_ns;
  Opening opening;
  for (bool told = false;;) {
    disk.open(opening.op, path.c_str(), options);
    loop.run_until(opening.op);
    const int32_t result = opening.op.result();
    if (result >= 0) return FileId(result);
    if (result != -EWOULDBLOCK || loop.timers().clock().now() >= give_up) {
      return base::error(-result, fmt::format("cannot open {}: {}", path,
                                              result == -EWOULDBLOCK
                                                  ? "a process that ended still writes to it"
                                                  : std::strerror(-result)));
    }
    if (!told) base::log_info("io", "waiting for the last writes of a dead process path={}", path);
    told = true;
    Pause(loop).run();
  }
}

}  // namespace weir::io
