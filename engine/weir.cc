#include "engine/weir.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>

#include "engine/broker/broker.h"
#include "io/base/logging.h"
#include "io/posix/posix_platform.h"
#include "io/uring/uring_platform.h"

namespace weir {
namespace {

constexpr int64_t kLockWait_ms = 10'000;

// Set before the handlers are installed, cleared after they are gone; read by them only.
io::Platform* g_platform = nullptr;

void on_signal(int) {
  if (g_platform) g_platform->request_stop();
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

base::LogLevel log_level(broker::LogLevel level) {
  switch (level) {
    case broker::LogLevel::debug: return base::LogLevel::debug;
    case broker::LogLevel::info: return base::LogLevel::info;
    case broker::LogLevel::warning: return base::LogLevel::warning;
    case broker::LogLevel::error: return base::LogLevel::error;
  }
  UNREACHABLE("log level {}", static_cast<int>(level));
}

}  // namespace

uint16_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint16_t>(
      std::clamp<int>(CPU_COUNT(&set), 1, static_cast<int>(io::kCoresMax)));
}

base::Result<std::unique_ptr<io::Platform>> make_platform(broker::IoBackend backend,
                                                          uint16_t cores) {
  const io::PlatformOptions options{.cores = cores};
  if (backend != broker::IoBackend::posix) {
    auto platform = io::uring::make_platform(options);
    if (platform || backend == broker::IoBackend::uring) return platform;
    base::log_warning("io", "io_uring is not usable here ({}); using epoll and helper threads",
                      platform.error().detail);
  }
  return io::posix::make_platform(options);
}

int serve(const broker::Config& config, broker::ReadyObserver* observer) {
  base::set_log_level(log_level(config.server.log_level));
  const auto cores = config.server.cores > 0 ? static_cast<uint16_t>(config.server.cores)
                                             : usable_cores();
  auto platform = make_platform(config.server.io_backend, cores);
  if (!platform) {
    base::log_error("io", "{}", platform.error().detail);
    return broker::kExitStartFailed;
  }
  if (auto locked = (*platform)->lock(config.server.data_dir, kLockWait_ms); !locked) {
    base::log_error("broker", "{}", locked.error().detail);
    return broker::kExitStartFailed;
  }
  broker::Broker broker(config, observer);
  g_platform = platform->get();
  handle_signals(on_signal);
  const auto ran = (*platform)->run(broker);
  handle_signals(SIG_DFL);
  g_platform = nullptr;
  if (!ran) {
    base::log_error("io", "{}", ran.error().detail);
    return broker::kExitStartFailed;
  }
  return broker.exit_code();
}

}  // namespace weir
