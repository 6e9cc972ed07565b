#include "io/posix/posix_platform.h"

#include <algorithm>
#include <deque>

#include "io/base/logging.h"
#include "io/posix/core_threads.h"
#include "io/posix/directory_lock.h"
#include "io/posix/posix_disk.h"
#include "io/posix/posix_network.h"
#include "io/posix/system_clock.h"

namespace weir::io::posix {

namespace {

// Enough for one flush and a few reads per core at once.
constexpr size_t kHelpersPerCore = 4;
constexpr size_t kHelpersMax = 64;

// How a core is woken, by cores and helpers; outlives the cores.
struct Doorbell {
  EventFd wake{EFD_NONBLOCK};
  FinishedJobs finished{wake};
};

class EventWaker final : public Waker {
 public:
  explicit EventWaker(std::deque<Doorbell>& doorbells) : doorbells_(doorbells) {}
  void wake(CoreIndex core) override { doorbells_[core.value()].wake.signal(); }

 private:
  std::deque<Doorbell>& doorbells_;
};

// Everything of one core, built and destroyed on its thread.
struct PosixCore {
  PosixCore(CoreIndex index, MailboxGrid& grid, ListenSockets& listen_sockets,
            std::deque<Doorbell>& doorbells, HelperThreads& helpers, CoreJobs::Options options)
      : jobs(helpers, doorbells[index.value()].finished, options),
        loop(clock, doorbells[index.value()].wake, jobs),
        disk(jobs),
        network(index, loop, listen_sockets),
        waker(doorbells),
        mailboxes(index, grid, waker),
        io{.index = index,
           .core_count = grid.core_count(),
           .loop = loop,
           .disk = disk,
           .network = network,
           .clock = clock,
           .mailboxes = mailboxes,
           .random = random} {
    loop.connect(mailboxes, grid.core_count() > 1);
  }

  SystemClock clock;
  SystemRandom random;
  CoreJobs jobs;
  PosixLoop loop;
  PosixDisk disk;
  PosixNetwork network;
  EventWaker waker;
  RingMailboxes mailboxes;
  CoreIo io;
};

class PosixPlatform final : public Platform, private CoreBody {
 public:
  PosixPlatform(const PlatformOptions& options, const Denied& denied)
      : options_(options),
        disk_options_{.dsync = !denied.dsync, .direct = !denied.direct},
        grid_(options.cores),
        doorbells_(options.cores),
        stop_request_(doorbells_[0].wake),
        cores_(options.cores) {
    stop_op_.bind<&PosixPlatform::on_core_0_signalled>(*this);
  }

  uint16_t core_count() const override { return options_.cores; }
  std::string_view name() const override { return "posix"; }

  base::Status lock(const std::string& path, int64_t wait_ms) override {
    CHECK_OK(lock_.take(path, wait_ms));
    if (!lock_.dsync_works() && disk_options_.dsync) {
      base::log_info("io", "no RWF_DSYNC on this file system instead=fdatasync path={}", path);
      disk_options_.dsync = false;
    }
    return {};
  }

  base::Status run(CoreMain& main) override {
    main_ = &main;
    started_ = false;
    helpers_ =
        std::make_unique<HelperThreads>(std::min(kHelpersPerCore * options_.cores, kHelpersMax));
    auto status = run_cores(options_, *this);
    helpers_.reset();
    return status;
  }

  void request_stop() override { stop_request_.request(); }

 private:
  base::Status prepare(CoreIndex index) override {
    auto& core = cores_[index.value()];
    core = std::make_unique<PosixCore>(index, grid_, listen_sockets_, doorbells_, *helpers_,
                                       disk_options_);
    if (index.value() == 0) core->loop.on_signal(stop_op_);
    return {};
  }

  void serve(CoreIndex index) override {
    PosixCore& core = *cores_[index.value()];
    main_->on_core_start(core.io);
    if (index.value() == 0) {
      started_ = true;
      if (!stop_op_.armed()) core.loop.post(stop_op_);  // a request may have come meanwhile
    }
    core.loop.run();
    main_->on_core_stop(core.io);
  }

  void dismantle(CoreIndex index) override { cores_[index.value()].reset(); }

  void on_core_0_signalled(Op&) {
    if (started_ && stop_request_.take()) main_->on_stop_request(cores_[0]->io);
  }

  PlatformOptions options_;
  CoreJobs::Options disk_options_;
  MailboxGrid grid_;
  ListenSockets listen_sockets_;
  DirectoryLock lock_;
  std::deque<Doorbell> doorbells_;
  StopRequest stop_request_;
  Op stop_op_;
  std::unique_ptr<HelperThreads> helpers_;
  std::vector<std::unique_ptr<PosixCore>> cores_;
  CoreMain* main_ = nullptr;  // of the running run()
  bool started_ = false;      // core 0's: a stop request finds the engine built
};

}  // namespace

base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options) {
  return make_platform(options, Denied{});
}

base::Result<std::unique_ptr<Platform>> make_platform(const PlatformOptions& options,
                                                      const Denied& denied) {
  ASSERT(options.cores > 0 && options.cores <= kCoresMax, "{} cores", options.cores);
  return std::make_unique<PosixPlatform>(options, denied);
}

}  // namespace weir::io::posix
