#include "tests/sim/run.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::simtest {

using io::sim::CrashKind;

DiskFiller::DiskFiller(Context& context)
    : context_(context), random_(context.scenario.seed, "disk filler") {
  on_event(0, 0);
}

DiskFiller::~DiskFiller() {
  context_.world.scheduler().forget(*this);
  context_.world.disk().set_size_bytes(context_.scenario.world.disk_size_bytes);
}

void DiskFiller::on_event(uint32_t, uint64_t argument) {
  const bool full = argument != 0;
  auto& disk = context_.world.disk();
  const uint64_t rest = random_.below(4) * (64 << 10);
  disk.set_size_bytes(full ? disk.used_bytes() + rest
                            : context_.scenario.world.disk_size_bytes);
  trace(context_, full ? "the disk is full" : "the disk has room");
  const auto delay_ns = static_cast<int64_t>(random_.between(100'000, 50'000'000));
  context_.world.scheduler().after(delay_ns, *this, 0, full ? 0 : 1);
}

DescriptorThief::DescriptorThief(Context& context)
    : context_(context), random_(context.scenario.seed, "descriptor thief") {
  on_event(0, 0);
}

DescriptorThief::~DescriptorThief() {
  context_.world.scheduler().forget(*this);
  context_.world.disk().set_open_refusals(0);
}

void DescriptorThief::on_event(uint32_t, uint64_t argument) {
  const bool few = argument != 0;
  context_.world.disk().set_open_refusals(!few ? 0 : random_.chance(0.5) ? 1 : 0.3);
  trace(context_, few ? "there are few descriptors" : "there are descriptors");
  const auto delay_ns = static_cast<int64_t>(random_.between(100'000, 20'000'000));
  context_.world.scheduler().after(delay_ns, *this, 0, few ? 0 : 1);
}

Run::Run(const Scenario& scenario, bool verbose)
    : scenario_(scenario), model_(findings_), world_(scenario.seed, scenario.world),
      context_{scenario, world_, findings_, model_}, random_(scenario.seed, "run") {
  context_.verbose = verbose;
  create_clients();
}

Run::~Run() {
  if (!world_.crashed()) world_.crash(CrashKind::process_kill);
}

void Run::create_clients() {
  clients_.push_back(std::make_unique<Admin>(context_, "admin"));
  const auto add = [&](uint32_t count, auto make) {
    for (uint32_t i = 0; i < count; ++i) clients_.push_back(make(i));
  };
  add(scenario_.plain_producers, [&](uint32_t i) {
    return std::make_unique<Producer>(context_, fmt::format("plain-{}", i), false);
  });
  add(scenario_.idempotent_producers, [&](uint32_t i) {
    return std::make_unique<Producer>(context_, fmt::format("idempotent-{}", i), true);
  });
  add(scenario_.consumers, [&](uint32_t i) {
    return std::make_unique<Consumer>(context_, fmt::format("consumer-{}", i));
  });
  add(scenario_.committers, [&](uint32_t i) {
    return std::make_unique<Committer>(context_, fmt::format("group-{}", i));
  });
  add(scenario_.trimmers, [&](uint32_t i) {
    return std::make_unique<Trimmer>(context_, fmt::format("trimmer-{}", i));
  });
  add(scenario_.transactors, [&](uint32_t i) {
    return std::make_unique<Transactor>(context_, fmt::format("transactor-{}", i));
  });
  add(scenario_.keyed_writers, [&](uint32_t i) {
    return std::make_unique<KeyedWriter>(context_, fmt::format("keyed-{}", i));
  });
  add(scenario_.keyed_writers > 0 ? 1 : 0, [&](uint32_t) {
    return std::make_unique<KeyedReader>(context_, "keyed-reader", false);
  });
  add(scenario_.group_members, [&](uint32_t i) {
    return std::make_unique<GroupMember>(context_, group_watch_, fmt::format("member-{}", i));
  });
  add(scenario_.hostile_clients, [&](uint32_t i) {
    return std::make_unique<Hostile>(context_, fmt::format("hostile-{}", i));
  });
}

// Asked after every event: the one that was not done is asked first.
bool Run::all_done() {
  if (!clients_[not_done_]->done()) return false;
  const auto found =
      std::ranges::find_if(clients_, [](const auto& client) { return !client->done(); });
  if (found == clients_.end()) return true;
  not_done_ = static_cast<size_t>(found - clients_.begin());
  return false;
}

template <class Predicate>
Run::Phase Run::run_until(const char* what, Predicate predicate) {
  const auto over = [&] {
    trace_.note(world_);
    if (!world_.crashed()) alarm_watch_->look();
    return findings_.any() || world_.crashed() || engine_->failed() ||
           world_.event_count() > kEventsMax || predicate();
  };
  const bool ended = world_.run_until(over, kPatienceNs);
  if (findings_.any()) return Phase::finished;
  if (world_.crashed()) return Phase::crashed;
  if (engine_->failed()) {
    note(fmt::format("the engine failed: {}", engine_->failure()));
    if (!scenario_.disk_errors) {
      findings_.report(fmt::format("I19: the engine gave up in {}: {}", what, engine_->failure()));
    }
    await_end();
    return Phase::failed;
  }
  if (!ended || world_.event_count() > kEventsMax) {
    std::string waiting;
    for (const auto& client : clients_) {
      if (!client->done()) waiting += " " + client->name();
    }
    findings_.report(fmt::format("I19: {} did not end in {} s; not done:{}", what,
                                 kPatienceNs / 1'000'000'000, waiting));
  }
  return Phase::finished;
}

// I16: an engine whose device failed ends by itself within its grace, and acknowledges nothing
// more.
void Run::await_end() {
  context_.paused = true;
  const auto over = [&] { return findings_.any() || world_.crashed() || world_.stopped(); };
  if (!world_.run_until(over, kGraceNs)) {
    findings_.report(fmt::format("I16: the engine did not end after: {}", engine_->failure()));
  }
}

void Run::plan_crash(const CrashPlan& plan) {
  world_.faults().crash_at_flush = plan.at_flush;
  world_.faults().crash_at_directory = plan.at_directory;
  world_.faults().crash_is_power_cut = plan.kind == CrashKind::power_cut ? 1 : 0;
  world_.crash_at_event(world_.event_count() + plan.after_events, plan.kind);
}

void Run::spare() {
  world_.faults().crash_at_flush = world_.faults().crash_at_directory = 0;
  world_.crash_at_event(UINT64_MAX, CrashKind::process_kill);
}

void Run::bury(CrashKind kind) {
  context_.paused = true;
  if (!world_.crashed() && !world_.stopped()) world_.crash(kind);
  if (world_.crashed()) {
    ++crashes_;
    note(fmt::format("crash: {}",
                     world_.last_crash() == CrashKind::power_cut ? "power cut" : "process kill"));
  }
  alarm_watch_.reset();
  engine_.reset();
}

bool Run::start_engine(const CrashPlan* plan) {
  if (starts_++ > 0) {
    spare();  // an engine that gave up leaves its plan behind
    world_.restart(
        static_cast<uint16_t>(random_.between(scenario_.cores_min, scenario_.cores_max)));
  }
  model_.set_incarnation(starts_);
  if (auto locked = world_.platform().lock("/data", 60'000); !locked) {
    findings_.report("the data directory stays locked: " + locked.error().detail);
    return false;
  }
  note(fmt::format("start {} on {} cores", starts_, world_.core_count()));
  context_.clock.engine_starts();
  engine_ = std::make_unique<Engine>(world_, scenario_);
  alarm_watch_ = std::make_unique<AlarmWatch>(context_, *engine_);
  if (plan != nullptr) plan_crash(*plan);
  else spare();
  engine_->start();
  return true;
}

Run::Phase Run::await_ready() {
  const Phase phase = run_until("recovery", [&] { return engine_->ready(); });
  context_.clock.engine_ready();
  return phase;
}

Run::Phase Run::audit(Contents* contents) {
  note("audit");
  auditor_ = std::make_unique<Auditor>(context_, fmt::format("auditor-{}", starts_));
  auditor_->start();
  const Phase phase = run_until("reading everything back", [&] { return auditor_->done(); });
  if (phase == Phase::finished && contents != nullptr) *contents = auditor_->contents();
  auditor_.reset();
  if (phase != Phase::finished || findings_.any() || model_.keyed().empty()) return phase;
  keyed_auditor_ = std::make_unique<KeyedReader>(
      context_, fmt::format("keyed-auditor-{}", starts_), true);
  keyed_auditor_->start();
  const Phase keyed = run_until("reading back compacted topics",
                                [&] { return keyed_auditor_->done(); });
  keyed_auditor_.reset();
  for (const auto& [where, log] : model_.keyed()) {
    note(fmt::format("{}: {} of {} records are gone", to_string(where), log.gone(),
                     log.durable()));
  }
  return keyed;
}

Run::Phase Run::work() {
  note("clients work");
  context_.paused = false;
  for (const auto& client : clients_) client->resume();
  if (scenario_.disk_fills) filler_ = std::make_unique<DiskFiller>(context_);
  if (scenario_.few_descriptors) thief_ = std::make_unique<DescriptorThief>(context_);
  const Phase phase = run_until("the workload", [&] { return all_done(); });
  filler_.reset();
  thief_.reset();
  return phase;
}

Run::Phase Run::stop_cleanly() {
  note("stop");
  context_.paused = true;
  world_.request_stop();
  return run_until("the stop", [&] { return world_.stopped(); });
}

// I18: killed right after recovery, before any client wrote, the next start finds the same.
void Run::check_second_recovery() {
  Contents first;
  if (audit(&first) != Phase::finished || findings_.any()) return;
  bury(random_.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill);
  if (!start_engine(nullptr) || await_ready() != Phase::finished) return;
  Contents second;
  if (audit(&second) != Phase::finished || findings_.any()) return;
  check_same(model_, first, second, findings_);
}

// What clients were told of log starts, judged by the clock of this life: the next start may
// believe another one.
void Run::check_log_starts() {
  for (const auto& [where, partition] : model_.partitions()) {
    if (!model_.topics().contains(where.topic)) continue;
    check_deleted(model_, where, partition.log_start_floor, context_.clock, findings_);
  }
}

void Run::life(size_t number) {
  const bool last = number >= scenario_.crashes.size();
  if (!start_engine(last ? nullptr : &scenario_.crashes[number])) return;
  if (await_ready() == Phase::finished && !findings_.any()) {
    if (last && scenario_.recover_twice) check_second_recovery();
    else if (starts_ > 1) audit(nullptr);
  }
  if (!findings_.any() && !world_.crashed() && !engine_->failed()) {
    const Phase phase = work();
    if (last && phase == Phase::finished && !findings_.any()) {
      if (scenario_.stop_cleanly) stop_cleanly();
      finished_ = !findings_.any() && !engine_->failed();
    }
  }
  if (!findings_.any()) {
    check_log_starts();
    bury(random_.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill);
  }
}

Outcome Run::execute() {
  const int64_t start_ns = world_.now_ns();
  const size_t lives_max = scenario_.crashes.size() + 20;  // disk errors end some early
  for (size_t number = 0; !finished_ && !findings_.any(); ++number) {
    if (number + 1 >= lives_max) {  // enough errors: let it come to an end
      world_.faults().write_error = world_.faults().sync_error = 0;
    }
    life(number);
  }
  if (!findings_.any()) {
    world_.faults().write_error = world_.faults().sync_error = 0;
    if (scenario_.rot) {
      std::string what;
      context_.rot = inject_rot(world_, random_, what);
      if (!context_.rot.empty()) note("rot: " + what);
    }
    const bool up = start_engine(nullptr) && await_ready() == Phase::finished;
    if (up && !findings_.any()) audit(nullptr);
  }
  if (engine_) bury(CrashKind::process_kill);
  return {findings_.first(),        world_.trace_hash(), world_.event_count(),
          model_.acked_count(),     model_.observed_count(), crashes_,
          world_.now_ns() - start_ns, trace_.hashes()};
}

}  // namespace weir::simtest
