#include "engine/broker/broker.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "engine/journal/creation.h"
#include "engine/log/file_names.h"
#include "engine/model/ports.h"
#include "engine/partition/recovery.h"
#include "io/base/logging.h"
#include "io/waiter.h"

namespace weir::broker {
namespace {

constexpr int64_t kGrace_ns = 1'000'000'000;
constexpr uint64_t kStartRoom = 4 << 20;  // what a start writes besides its journals, at most

// Not durable before its parent is synced.
base::Status make_directory(io::CoreIo& core, const std::string& path) {
  io::Waiter waiter;
  core.disk.make_directory(waiter.op, path.c_str());
  core.loop.run_until(waiter.op);
  if (waiter.op.result() >= 0 || waiter.op.result() == -EEXIST) return {};
  return base::error(-waiter.op.result(), fmt::format("cannot make directory {}: {}", path,
                                                      std::strerror(-waiter.op.result())));
}

base::Status sync_directory(io::CoreIo& core, const std::string& path) {
  io::Waiter waiter;
  core.disk.sync_directory(waiter.op, path.c_str());
  core.loop.run_until(waiter.op);
  if (waiter.op.result() >= 0) return {};
  return base::error(-waiter.op.result(), fmt::format("cannot sync directory {}: {}", path,
                                                      std::strerror(-waiter.op.result())));
}

// As tools are told of it; the engine itself uses the path as it was given.
std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure);
  return failure ? path : absolute.lexically_normal().string();
}

void remove_file(io::CoreIo& core, const std::string& path) {
  io::Waiter waiter;
  core.disk.remove(waiter.op, path.c_str());
  core.loop.run_until(waiter.op);
}

journal::LogId random_log_id(io::Random& random) {
  journal::LogId id;
  for (size_t i = 0; i < id.bytes.size(); i += 8) {
    const uint64_t word = random.next();
    std::memcpy(id.bytes.data() + i, &word, sizeof word);
  }
  return id;
}

}  // namespace

Broker::Broker(Config config, ReadyObserver* observer)
    : config_(std::move(config)), observer_(observer) {
  stop_op_.bind<&Broker::on_stop_step>(*this);
  grace_timer_.bind<&Broker::on_grace_over>(*this);
  catalog_failure_op_.bind<&Broker::on_catalog_failed>(*this);
  machines_.resize(io::kCoresMax);
  cores_.resize(io::kCoresMax);
}

Broker::~Broker() = default;

std::string Broker::journal_path(uint16_t core, uint64_t generation) const {
  return log::journal_file(config_.server.data_dir, core, generation);
}

Broker::DiskAlarms Broker::disk_alarms() const {
  DiskAlarms all;
  for (const auto& machine : machines_) {
    if (!machine) continue;
    all.stuck += machine->disk.stuck_count();
    all.episodes += machine->disk.episodes();
  }
  return all;
}

void Broker::on_core_start(io::CoreIo& given) {
  auto& machine = machines_[given.index.value()];
  machine = std::make_unique<Machine>(given, config_.server.io_stuck_ms);
  io::CoreIo& core = machine->io;
  cores_[core.index.value()] = std::make_unique<Core>(core, machine->disk, config_, *this);
  if (core.index.value() != 0) return;
  core0_ = &core;
  if (auto status = boot(core); !status) {
    fail(kExitStartFailed, status.error().detail);
    on_stop_request(core);
  }
}

base::Status Broker::boot(io::CoreIo& core) {
  const int64_t started_ns = core.clock.now().ns;
  const std::string& data_dir = config_.server.data_dir;
  find_room(core);
  CHECK_OK(read_state(core));
  CHECK_OK(make_directory(core, log::topics_directory(data_dir)));
  CHECK_OK(make_directory(core, data_dir + "/journal"));
  CHECK_OK(sync_directory(core, data_dir));
  for (uint16_t i = 0; i < core.core_count; ++i) {
    calls_.push_back(std::make_unique<ControlCall>());
    calls_.back()->bind_reply<&Broker::on_reply>(*this);
  }
  data_.image = store_.image;
  data_.node = {.node_id = meta_.node_id,
                .cluster_id = meta_.cluster_id,
                .advertised = config_.advertised_address(),
                .leader_epoch = meta_.incarnation.value() + 1,
                .log_dir = absolute_path(data_dir),
                .catalog_offset = static_cast<int64_t>(store_.tail.sequence)};
  CHECK_OK(recover(core));
  // Not earlier: a start that is refused changes nothing. The name is durable with meta.json's.
  CHECK_OK(make_directory(core, log::pool_directory(data_dir)));
  CHECK_OK(make_journals(core));
  CHECK_OK(ask(core, ControlCall::Kind::boot, 0, core.core_count));
  CHECK_OK(commit_start(core));
  remove_leftovers(core);
  writer_ = std::make_unique<catalog::CatalogWriter>(core, *cores_[0]->catalog(), store_);
  writer_->on_failure(catalog_failure_op_);
  writer_->use_reserve(cores_[0]->space_reserve());
  CHECK_OK(serve(core));
  ready_ = true;
  base::log_info("broker", "ready data={} topics={} incarnation={} cores={} start_ms={:.1f}",
                 config_.server.data_dir, cores_[0]->catalog()->topic_count(),
                 data_.node.leader_epoch, core.core_count,
                 static_cast<double>(core.clock.now().ns - started_ns) / 1e6);
  if (observer_) observer_->on_ready(addresses_);
  return {};
}

// A start needs new journals beside the old ones. When the disk is full, what the pool has and what
// was kept in reserve goes for that; the old journals that go afterwards make the reserve whole.
void Broker::find_room(io::CoreIo& core) {
  const std::string pool = log::pool_directory(config_.server.data_dir);
  if (const auto entries = core.disk.list(pool)) {
    for (const auto& entry : *entries) {
      if (!log::is_pool_file(entry.name)) continue;
      pool_leftovers_.push_back(pool + "/" + entry.name);
    }
  }
  const auto lacks_room = [&](uint64_t& bytes) {
    const auto free = core.disk.free_bytes(config_.server.data_dir);
    bytes = free ? *free : 0;
    return free && bytes < core.core_count * config_.journal.size_initial + kStartRoom;
  };
  uint64_t free = 0;
  while (!pool_leftovers_.empty() && lacks_room(free)) {
    remove_file(core, pool_leftovers_.back());
    pool_leftovers_.pop_back();
  }
  if (!lacks_room(free)) return;
  const auto entries = core.disk.list(config_.server.data_dir);
  if (!entries) return;
  for (const auto& entry : *entries) {
    if (!log::is_reserve_file(entry.name)) continue;
    base::log_warning("broker", "disk is full free_bytes={}: starting with the reserve in {}",
                      free, entry.name);
    remove_file(core, config_.server.data_dir + "/" + entry.name);
  }
}

base::Status Broker::read_state(io::CoreIo& core) {
  files_ = std::make_unique<catalog::FileIo>(core.loop, core.disk, config_.server.data_dir);
  TRY(meta_, catalog::load_meta(*files_, core.disk, core.random, config_.server.node_id));
  const auto if_missing =
      meta_.catalog_created ? catalog::IfMissing::refuse : catalog::IfMissing::create;
  TRY(store_, catalog::open_catalog(*files_, core.random, if_missing));
  meta_.catalog_created = true;
  return {};
}

base::Status Broker::recover(io::CoreIo& core) {
  // The same placement that every core will compute.
  const catalog::Catalog catalog(config_.catalog, core.core_count, store_.image);
  partition::KnownPartitions known;
  for (const catalog::Topic& topic : catalog.topics()) {
    for (int32_t i = 0; i < topic.partition_count; ++i) {
      const model::PartitionKey key{topic.serial, model::PartitionIndex(i)};
      known.emplace(key, log::partition_directory(config_.server.data_dir, topic.name, key));
    }
  }
  partition::Recovery recovery(core, known);
  const auto generation = static_cast<uint64_t>(meta_.journal_generation);
  for (int32_t i = 0; i < meta_.journal_core_count; ++i) {
    const auto path = journal_path(static_cast<uint16_t>(i), generation);
    CHECK_OK(recovery.replay(path, generation, static_cast<uint32_t>(i)));
  }
  TRY(auto found, recovery.finish());
  CHECK_OK(recovery.check_age(meta_.incarnation));
  for (auto& [key, recovered] : found) {
    const io::CoreIndex home =
        catalog.home_core(*catalog.find(key.topic), key.index);
    calls_[home.value()]->recovered.emplace(key, std::move(recovered));
  }
  const auto& stats = recovery.stats();
  if (meta_.journal_core_count > 0) {
    base::log_info("recovery", "partitions={} journal_records={} dropped_records={} moved_bytes={} "
                   "scanned_bytes={} damaged_records={} quarantined={}",
                   found.size(), stats.journal_records, stats.dropped_records, stats.moved_bytes,
                   stats.scanned_bytes, stats.damaged_records, stats.quarantined_groups);
  }
  return {};
}

base::Status Broker::make_journals(io::CoreIo& core) {
  data_.journal_generation = static_cast<uint64_t>(meta_.journal_generation) + 1;
  std::vector<journal::NewJournal> journals;
  for (uint16_t i = 0; i < core.core_count; ++i) {
    ControlCall& call = *calls_[i];
    call.data = &data_;
    call.log_id = random_log_id(core.random);
    call.journal_path = journal_path(i, data_.journal_generation);
    // A start that failed may have left a file of this name.
    remove_file(core, call.journal_path);
    journals.push_back({call.journal_path, {.log_id = call.log_id,
                                            .generation = data_.journal_generation,
                                            .core = i,
                                            .core_count = core.core_count}});
  }
  CHECK_OK(journal::create_journals(core.loop, core.disk, journals,
                                    config_.journal.size_initial));
  return sync_directory(core, config_.server.data_dir + "/journal");
}

base::Status Broker::ask(io::CoreIo& core, ControlCall::Kind kind, uint16_t first,
                         uint16_t last) {
  if (first == last) return {};
  io::Waiter waiter;
  waiter.op.arm();
  outstanding_ = static_cast<uint16_t>(last - first);
  for (uint16_t i = first; i < last; ++i) {
    calls_[i]->kind = kind;
    core.mailboxes.send(io::CoreIndex(i), model::ports::kControl, *calls_[i]);
  }
  all_replied_ = &waiter.op;
  core.loop.run_until(waiter.op);
  all_replied_ = nullptr;
  // A simulated world that died never runs it.
  if (waiter.op.armed()) waiter.op.abandon();
  if (outstanding_ > 0) return base::error(EIO, "a core did not answer");
  for (uint16_t i = first; i < last; ++i) CHECK_OK(std::exchange(calls_[i]->status, {}));
  return {};
}

void Broker::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ > 0) return;
  if (all_replied_) return core0_->loop.finish(*std::exchange(all_replied_, nullptr), 0);
  if (stop_stage_ != StopStage::none) core0_->loop.post(stop_op_);
}

// Core 0 first: a port of 0 becomes one that all cores share.
base::Status Broker::serve(io::CoreIo& core) {
  calls_[0]->addresses = config_.listen_addresses();
  CHECK_OK(ask(core, ControlCall::Kind::serve, 0, 1));
  addresses_ = calls_[0]->addresses;
  for (uint16_t i = 1; i < core.core_count; ++i) calls_[i]->addresses = addresses_;
  CHECK_OK(ask(core, ControlCall::Kind::serve, 1, core.core_count));
  for (const io::Address& address : addresses_) {
    base::log_info("broker", "listening on {}:{}", address.host, address.port);
  }
  return {};
}

// From here on the new journals are the truth.
base::Status Broker::commit_start(io::CoreIo& core) {
  meta_.journal_generation = static_cast<int64_t>(data_.journal_generation);
  meta_.journal_core_count = core.core_count;
  return catalog::start_meta(*files_, meta_);
}

// Journals of earlier starts, files of its pool, and directories of topics that were deleted when
// the process ended.
void Broker::remove_leftovers(io::CoreIo& core) {
  const std::string directory = log::journal_directory(config_.server.data_dir);
  if (const auto entries = core.disk.list(directory)) {
    for (const auto& entry : *entries) {
      const auto journal = log::parse_journal_file(entry.name);
      if (journal && journal->generation != data_.journal_generation) {
        remove_file(core, directory + "/" + entry.name);
      }
    }
  }
  for (uint16_t i = core.core_count; i < io::kCoresMax; ++i) {
    const std::string reserve = log::reserve_file(i);
    if (!core.disk.info(config_.server.data_dir + "/" + reserve)) break;
    remove_file(core, config_.server.data_dir + "/" + reserve);
  }
  for (const std::string& path : std::exchange(pool_leftovers_, {})) {
    const auto info = core.disk.info(path);
    if (info) cores_[0]->segment_pool().discard({path, info->size});
  }
  cores_[0]->remove_dead_directories(store_.image.next_serial);
}

void Broker::on_stop_request(io::CoreIo&) {
  if (stop_stage_ != StopStage::none) return;
  ready_ = false;
  stop_stage_ = StopStage::cores;
  if (calls_.empty()) return end_loops();
  tell_all(ControlCall::Kind::stop);
}

void Broker::tell_all(ControlCall::Kind kind) {
  outstanding_ = core0_->core_count;
  for (uint16_t i = 0; i < core0_->core_count; ++i) {
    calls_[i]->kind = kind;
    core0_->mailboxes.send(io::CoreIndex(i), model::ports::kControl, *calls_[i]);
  }
}

void Broker::on_stop_step(io::Op&) {
  switch (stop_stage_) {
    case StopStage::cores:
      // Only when no core asks anything of another any more may one close its journal.
      stop_stage_ = StopStage::journals;
      return tell_all(ControlCall::Kind::flush);
    case StopStage::journals:
      stop_stage_ = StopStage::writer;
      if (writer_) return writer_->stop(stop_op_);
      [[fallthrough]];
    case StopStage::writer: return end_loops();
    case StopStage::loops: return core0_->loop.stop();
    case StopStage::none: break;
  }
  UNREACHABLE("stop stage {}", static_cast<int>(stop_stage_));
}

// The other cores first; core 0 is the one that hears them.
void Broker::end_loops() {
  stop_stage_ = StopStage::loops;
  outstanding_ = static_cast<uint16_t>(core0_->core_count - 1);
  if (outstanding_ == 0) return core0_->loop.stop();
  while (calls_.size() < core0_->core_count) {
    calls_.push_back(std::make_unique<ControlCall>());
    calls_.back()->bind_reply<&Broker::on_reply>(*this);
  }
  for (uint16_t i = 1; i < core0_->core_count; ++i) {
    calls_[i]->kind = ControlCall::Kind::end_loop;
    core0_->mailboxes.send(io::CoreIndex(i), model::ports::kControl, *calls_[i]);
  }
}

// Reads of what is verified go on for a moment, so that consumers can finish; nothing is
// acknowledged.
void Broker::on_device_failed(const std::string& reason) {
  fail(kExitDeviceFailed, reason);
  if (!grace_timer_.armed()) core0_->loop.timers().arm_after(grace_timer_, kGrace_ns);
}

void Broker::on_catalog_failed(io::Op& op) {
  on_device_failed(fmt::format("catalog of {} failed: {}", config_.server.data_dir,
                               std::strerror(-op.result())));
}

void Broker::on_grace_over() { on_stop_request(*core0_); }

void Broker::on_core_stop(io::CoreIo& core) {
  if (core.index.value() == 0) writer_.reset();
  cores_[core.index.value()].reset();
  machines_[core.index.value()].reset();
}

void Broker::fail(int exit_code, std::string reason) {
  if (exit_code_ != 0) return;
  exit_code_ = exit_code;
  failure_ = std::move(reason);
  base::log_error("broker", "{}", failure_);
}

}  // namespace weir::broker
