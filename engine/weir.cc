#include "engine/weir.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "engine/broker/broker.h"
#include "io/base/heap.h"
#include "io/base/logging.h"
#include "io/posix/posix_platform.h"
#include "io/uring/uring_platform.h"

namespace weir {
namespace {

constexpr int64_t kLockWait_ms = 10'000;
constexpr uint64_t kFilesMin = 64;  // descriptors

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

// As many descriptors as this process may have.
rlim_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace

int32_t connections_within(uint64_t descriptors, int32_t wanted) {
  const uint64_t for_files = std::min(descriptors / 2, std::max(descriptors / 4, kFilesMin));
  const uint64_t left = std::max<uint64_t>(1, descriptors - for_files);
  return static_cast<int32_t>(std::min<uint64_t>(left, static_cast<uint64_t>(wanted)));
}

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

int serve(const broker::Config& wanted, broker::ReadyObserver* observer) {
  broker::Config config = wanted;
  base::end_when_out_of_memory();
  base::set_log_level(log_level(config.server.log_level));
  if (const rlim_t descriptors = raise_descriptor_limit(); descriptors > 0) {
    int32_t& most = config.connection.connections_max;
    most = connections_within(descriptors, most);
    if (most < wanted.connection.connections_max) {
      base::log_warning("broker", "max.connections={} instead of {}: this process may have {} "
                        "descriptors, and files need some", most,
                        wanted.connection.connections_max, descriptors);
    }
  }
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
