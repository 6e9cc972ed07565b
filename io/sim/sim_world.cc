#include "io/sim/sim_world.h"

#include <cerrno>

namespace weir::io::sim {
namespace {

class SimRandom : public Random {
 public:
  SimRandom(uint64_t seed, uint64_t salt) : stream_(seed + salt * 0x9E3779B97F4A7C15ull, "ids") {}
  uint64_t next() override { return stream_.next(); }

 private:
  base::RandomStream stream_;
};

constexpr int64_t kRebootNs = 50'000'000;

}  // namespace

// One core's end of everything, in order of construction.
struct SimWorld::Core {
  Core(SimWorld& world, CoreIndex index, uint16_t count)
      : random(world.seed_, (uint64_t{world.incarnation_} << 16) + index.value()),
        loop(index.value(), world.scheduler_, world.clock_, world),
        disk(*world.disk_, loop),
        network(*world.network_, loop),
        mailboxes(index, world.scheduler_, world.post_, loop),
        io{index, count, loop, disk, network, world.clock_, mailboxes, random} {
    loop.attach(mailboxes, network);
  }
  SimRandom random;
  SimLoop loop;
  SimDisk disk;
  SimNetwork network;
  SimMailboxes mailboxes;
  CoreIo io;
  bool stop_told = false;
};

SimWorld::SimWorld(uint64_t seed, SimOptions options)
    : options_(options), scheduler_(seed, *this), clock_(scheduler_, options.wall_start_ms),
      core_random_(seed, "core"), crash_random_(seed, "crash moment"),
      clock_random_(seed, "clock"), seed_(seed),
      disk_(std::make_unique<DiskMedia>(seed, scheduler_, clock_, options_.faults,
                                        options.disk_size_bytes)),
      network_(std::make_unique<NetworkMedia>(seed, scheduler_, options_.faults,
                                              options.socket_buffer_bytes)),
      post_(seed, scheduler_, options_.faults), platform_(*this) {
  disk_->install_directory("/data");
  build_cores(options.core_count);
}

SimWorld::~SimWorld() = default;

void SimWorld::build_cores(uint16_t count) {
  ASSERT(count > 0 && count <= kCoresMax);
  cores_.clear();
  post_.resize(count);
  for (uint16_t i = 0; i < count; ++i) {
    cores_.push_back(std::make_unique<Core>(*this, CoreIndex(i), count));
  }
  stopped_cores_ = 0;
  main_ = nullptr;
}

CoreIo& SimWorld::core(uint16_t index) {
  ASSERT(index < cores_.size());
  return cores_[index]->io;
}

void SimWorld::start(Platform::CoreMain& main) {
  ASSERT(main_ == nullptr && !crashed());
  main_ = &main;
  for (uint16_t i = 0; i < core_count(); ++i) {
    cores_[i]->loop.hold(true);
    scheduler_.after(static_cast<int64_t>(core_random_.below(1'000'000)), *this, kStart,
                     (uint64_t{incarnation_} << 16) | i);
  }
}

void SimWorld::request_stop() {
  scheduler_.after(1'000, *this, kStopRequest, uint64_t{incarnation_} << 16);
}

void SimWorld::schedule_turn(uint16_t core, TurnKind kind, int64_t when_ns) {
  scheduler_.at(when_ns, *this, kind == TurnKind::ready ? kTurnReady : kTurnTimer,
                (uint64_t{incarnation_} << 16) | core);
}

int64_t SimWorld::draw_turn_delay_ns() {
  if (core_random_.chance(options_.faults.core_stall)) {
    return draw_latency(core_random_, options_.faults.core_stall_ns);
  }
  return static_cast<int64_t>(core_random_.between(100, 3'000));
}

void SimWorld::on_event(uint32_t kind, uint64_t argument) {
  if (argument >> 16 != incarnation_ || crashed()) return;  // for cores that are gone
  Core& core = *cores_[argument & 0xFFFF];
  if (kind == kStart) {
    core.loop.hold(false);
    main_->on_core_start(core.io);
  } else if (kind == kStopRequest) {
    if (!core.loop.stopped()) main_->on_stop_request(core.io);
  } else {
    core.loop.on_turn(kind == kTurnReady ? TurnKind::ready : TurnKind::timer);
    if (clock_random_.chance(options_.faults.wall_jump)) {
      const auto most = static_cast<uint64_t>(options_.faults.wall_jump_ms);
      const auto by = static_cast<int64_t>(clock_random_.between(0, 2 * most));
      clock_.jump_wall(by - static_cast<int64_t>(most));
    }
  }
  if (crashed()) {
    abandon_all();  // straight-line code that unwound left operations behind
    return;
  }
  core.loop.catch_up();
  if (core.loop.stopped() && !core.stop_told) {
    core.stop_told = true;
    if (main_ != nullptr) main_->on_core_stop(core.io);
    ++stopped_cores_;
  }
}

void SimWorld::catch_up() {
  if (crashed()) return;
  for (auto& core : cores_) {
    if (!core->loop.stopped()) core->loop.catch_up();
  }
}

bool SimWorld::step() {
  crash_if_due();
  if (scheduler_.empty()) catch_up();
  if (scheduler_.empty()) return false;
  scheduler_.run_next();
  if (!crashed() && main_ != nullptr && crash_random_.chance(options_.faults.crash_at_event)) {
    crash_event_ = scheduler_.event_count();
    crash_kind_ = crash_random_.chance(options_.faults.crash_is_power_cut)
                      ? CrashKind::power_cut
                      : CrashKind::process_kill;
  }
  crash_if_due();
  if (observer_ != nullptr) observer_->on_step();
  return true;
}

bool SimWorld::step_while_waiting() { return step() && !crashed(); }

void SimWorld::run_for(int64_t duration_ns) {
  run_until([] { return false; }, duration_ns);
}

void SimWorld::on_crash_point(CrashPoint point) {
  if (main_ == nullptr || crashed()) return;
  const double chance = point == CrashPoint::flush ? options_.faults.crash_at_flush
                                                   : options_.faults.crash_at_directory;
  if (!crash_random_.chance(chance)) return;
  crash_kind_ = crash_random_.chance(options_.faults.crash_is_power_cut) ? CrashKind::power_cut
                                                                         : CrashKind::process_kill;
  // Right now, or with a few more events done.
  const uint64_t later = crash_random_.chance(0.5) ? crash_random_.below(8) : 0;
  crash_event_ = scheduler_.event_count() + later;
}

void SimWorld::crash_at_event(uint64_t event, CrashKind kind) {
  crash_event_ = event;
  crash_kind_ = kind;
}

void SimWorld::crash_if_due() {
  if (!crashed() && scheduler_.event_count() >= crash_event_) crash(crash_kind_);
}

void SimWorld::crash(CrashKind kind) {
  crash_event_ = UINT64_MAX;
  if (!crashed()) {
    last_crash_ = kind;
    scheduler_.set_dead(true);
    disk_->crash(kind, options_.lock_forgets_landing);
    network_->crash();
  }
  abandon_all();
}

void SimWorld::power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks) {
  ASSERT(!crashed());
  crash_event_ = UINT64_MAX;
  last_crash_ = CrashKind::power_cut;
  scheduler_.set_dead(true);
  disk_->power_cut_as(ends, picks);
  network_->crash();
  abandon_all();
}

void SimWorld::abandon_all() {
  for (auto& core : cores_) core->loop.abandon_all();
  post_.abandon_all();
}

void SimWorld::restart(uint16_t core_count) {
  ASSERT(crashed() || stopped(), "restart of a world that runs");
  ++incarnation_;
  if (!crashed()) {
    disk_->crash(CrashKind::process_kill);  // whatever a clean stop left behind
    network_->crash();
  }
  scheduler_.set_dead(false);
  disk_->restarted();
  options_.core_count = core_count;
  build_cores(core_count);
  if (last_crash_ == CrashKind::power_cut) run_for(kRebootNs);
}

uint16_t SimPlatform::core_count() const { return world_.core_count(); }

base::Status SimPlatform::lock(const std::string& path, int64_t wait_ms) {
  world_.disk_->install_directory(path);
  const auto landed = [this] {
    return world_.disk_->landing_count() == 0 || world_.options_.lock_forgets_landing;
  };
  if (world_.run_until(landed, wait_ms * 1'000'000)) return {};
  return base::error(EWOULDBLOCK, "lock " + path + ": writes of the previous process still land");
}

base::Status SimPlatform::run(CoreMain& main) {
  world_.start(main);
  while (!world_.stopped() && !world_.crashed()) {
    if (!world_.step()) return base::error(EDEADLK, "nothing is left to happen");
  }
  if (world_.crashed()) return base::error(EIO, "the simulated process crashed");
  return {};
}

void SimPlatform::request_stop() { world_.request_stop(); }

}  // namespace weir::io::sim
