#include "io/uring/uring_platform.h"

#include <algorithm>
#include <cerrno>
#include <deque>

#include "io/base/logging.h"
#include "io/errors.h"
#include "io/posix/block_device.h"
#include "io/posix/core_threads.h"
#include "io/posix/directory_lock.h"
#include "io/posix/helper_threads.h"
#include "io/posix/listen_sockets.h"
#include "io/posix/stop_request.h"
#include "io/posix/system_clock.h"
#include "io/uring/uring_disk.h"
#include "io/uring/uring_loop.h"
#include "io/uring/uring_network.h"

namespace weir::io::uring {

namespace {

// As many as a core has commits in flight.
constexpr size_t kHelpersPerCore = 4;
constexpr size_t kHelpersMax = 64;

// What any core needs to wake any other; filled in by each core before any of them serves.
struct WakeTargets {
  explicit WakeTargets(uint16_t count) : events(count), rings(count) {
    for (posix::EventFd& event : events) finished.emplace_back(event);
  }
  struct RingTarget {
    int descriptor = -1;
    uint64_t user_data = 0;
  };
  std::deque<posix::EventFd> events;
  std::deque<posix::FinishedJobs> finished;
  std::vector<RingTarget> rings;
};

// Wakes other cores from one core: with a message from ring to ring, sent by the turn's submit.
class RingWaker final : public posix::Waker {
 public:
  RingWaker(Ring& ring, WakeTargets& targets) : ring_(ring), targets_(targets) {
    for (size_t i = 0; i < targets.rings.size(); ++i) {
      steps_.push_back({this, &RingWaker::on_refused});
    }
  }

  void wake(CoreIndex core) override {
    if (!ring_.features().message_ring) {
      targets_.events[core.value()].signal();
      return;
    }
    const WakeTargets::RingTarget& target = targets_.rings[core.value()];
    io_uring_sqe& entry = ring_.next_entry();
    io_uring_prep_msg_ring(&entry, target.descriptor, 0, target.user_data, 0);
    entry.flags |= IOSQE_CQE_SKIP_SUCCESS;
    Ring::expect(entry, steps_[core.value()]);
  }

 private:
  // The message is only the faster way: its ring may be full, or the kernel refuses between such
  // rings.
  static void on_refused(void* owner, Step& step, int32_t result, uint32_t) {
    auto& self = *static_cast<RingWaker*>(owner);
    if (result >= 0) return;
    self.targets_.events[static_cast<size_t>(&step - self.steps_.data())].signal();
  }

  Ring& ring_;
  WakeTargets& targets_;
  std::vector<Step> steps_;  // by core
};

// Everything of one core, built and destroyed on its thread.
struct UringCore {
  UringCore(CoreIndex index, posix::MailboxGrid& grid, posix::ListenSockets& listen_sockets,
            WakeTargets& targets, std::unique_ptr<Ring> opened, posix::HelperThreads* helpers)
      : ring(std::move(opened)),
        loop(clock, *ring, targets.events[index.value()].descriptor()),
        disk(loop, *ring, attach_jobs(targets.finished[index.value()], helpers)),
        network(index, loop, *ring, listen_sockets),
        waker(*ring, targets),
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
    loop.arm_wake();
    targets.rings[index.value()] = {ring->descriptor(), loop.wake_user_data()};
  }
  ~UringCore() { ring->close(); }

  posix::CoreJobs* attach_jobs(posix::FinishedJobs& finished, posix::HelperThreads* helpers) {
    if (helpers == nullptr) return nullptr;
    const Features& features = ring->features();
    loop.attach(
        jobs.emplace(*helpers, finished,
                     posix::CoreJobs::Options{.dsync = features.dsync, .direct = features.direct}));
    return &*jobs;
  }

  posix::SystemClock clock;
  posix::SystemRandom random;
  std::unique_ptr<Ring> ring;
  std::optional<posix::CoreJobs> jobs;
  UringLoop loop;
  UringDisk disk;
  UringNetwork network;
  RingWaker waker;
  posix::RingMailboxes mailboxes;
  CoreIo io;
};

class UringPlatform final : public Platform, private posix::CoreBody {
 public:
  UringPlatform(const PlatformOptions& options, const Features& features)
      : options_(options),
        features_(features),
        grid_(options.cores),
        targets_(options.cores),
        stop_request_(targets_.events[0]),
        cores_(options.cores) {
    stop_op_.bind<&UringPlatform::on_core_0_signalled>(*this);
  }

  uint16_t core_count() const override { return options_.cores; }
  std::string_view name() const override { return "uring"; }

  base::Status lock(const std::string& path, int64_t wait_ms) override {
    CHECK_OK(lock_.take(path, wait_ms));
    if (!lock_.dsync_works() && features_.dsync) {
      base::log_info("io", "no RWF_DSYNC on this file system instead=fdatasync path={}", path);
      features_.dsync = false;
    }
    if (features_.awaited_writes && !posix::writes_durably_at_once(path)) {
      base::log_info("io", "device needs a flush for a durable write: helper threads wait path={}",
                     path);
      features_.awaited_writes = false;
    }
    return {};
  }

  base::Status run(CoreMain& main) override {
    main_ = &main;
    started_ = false;
    if (!features_.awaited_writes) {
      helpers_ = std::make_unique<posix::HelperThreads>(
          std::min(kHelpersPerCore * options_.cores, kHelpersMax));
    }
    auto status = posix::run_cores(options_, *this);
    helpers_.reset();
    return status;
  }

  void request_stop() override { stop_request_.request(); }

 private:
  base::Status prepare(CoreIndex index) override {
    auto ring = std::make_unique<Ring>();
    CHECK_OK(ring->open(features_));
    auto& core = cores_[index.value()];
    core = std::make_unique<UringCore>(index, grid_, listen_sockets_, targets_, std::move(ring),
                                       helpers_.get());
    if (index.value() == 0) core->loop.on_signal(stop_op_);
    return {};
  }

  void serve(CoreIndex index) override {
    UringCore& core = *cores_[index.value()];
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
  Features features_;  // unchanged once run
  posix::MailboxGrid grid_;
  posix::ListenSockets listen_sockets_;
  posix::DirectoryLock lock_;
  WakeTargets targets_;
  posix::StopRequest stop_request_;
  Op stop_op_;
  std::unique_ptr<posix::HelperThreads> helpers_;
  std::vector<std::unique_ptr<UringCore>> cores_;
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
  TRY(const Features features, probe_features(denied));
  return std::make_unique<UringPlatform>(options, features);
}

}  // namespace weir::io::uring
