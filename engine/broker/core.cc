#include "engine/broker/core.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/catalog/topic_name.h"
#include "engine/log/file_names.h"
#include "engine/model/ports.h"
#include "io/base/logging.h"
#include "io/base/units.h"

namespace weir::broker {
namespace {

using base::operator""_MiB;

// Free buffers of each core kept for reuse.
constexpr size_t kBuffersKept = 32_MiB;
constexpr int64_t kSettlePoll_ns = 1'000'000;

}  // namespace

Core::Serving::Serving(Core& core, const BootData& data)
    : catalog(core.config_.catalog, core.io_.core_count, data.image),
      applier(core.io_, catalog, core),
      producer_ids(core.io_),
      settings(core.config_.list()),
      offsets_log(core.io_, catalog),
      topics(catalog),
      groups(core.io_, offsets_log, topics, core.config_.group),
      quota_buckets(core.io_),
      positions(core.io_, catalog, groups, core.config_.partition.hold_groups),
      transactions_host(core.io_, catalog, producer_ids, data.node.leader_epoch),
      transactions(core.io_, transactions_host, core.config_.transaction),
      groups_sink(groups),
      transactions_sink(transactions),
      context{core.io_, catalog, producer_ids, validator, data.node, settings,
              core.config_.handlers, core.handler_metrics_},
      acceptor(context, core.config_.connection, core.connection_metrics_) {}

Core::Core(io::CoreIo& io, const io::WatchedDisk& disk, const Config& config, Owner& owner)
    : io_(io),
      disk_(disk),
      config_(config),
      owner_(owner),
      journal_(io, config.journal),
      pool_(kBuffersKept),
      tail_cache_{.budget_bytes = config.partition.tail_cache_bytes, .by_age = {}},
      segment_pool_(io, log::pool_directory(config.server.data_dir),
                    {.bytes_max = static_cast<uint64_t>(config.partition.pool_bytes),
                     .file_bytes_min = config.partition.pool_file_bytes_min}),
      segment_remover_(io, segment_pool_),
      retention_clock_(io.clock),
      primer_(io, journal_, config.partition, partition_metrics_),
      space_reserve_(io, config.partition, partition_metrics_, segment_pool_,
                     config.server.data_dir),
      services_{io,
                journal_,
                pool_,
                tail_cache_,
                partition_metrics_,
                segment_pool_,
                segment_remover_,
                retention_clock_,
                primer_,
                space_reserve_,
                log::topics_directory(config.server.data_dir)},
      table_(services_, config.partition, config.server.data_dir) {
  step_op_.bind<&Core::on_step>(*this);
  replay_op_.bind<&Core::on_replayed>(*this);
  settle_timer_.bind<&Core::settle>(*this);
  failure_op_.bind<&Core::on_failure>(*this);
  failure_call_.bind_reply<&Core::on_failure_told>(*this);
  journal_.on_failure(failure_op_);
  io.mailboxes.listen<&Core::on_control>(model::ports::kControl, *this);
}

Core::~Core() = default;

void Core::on_control(io::Message& message) {
  auto& call = static_cast<ControlCall&>(message);
  switch (call.kind) {
    case ControlCall::Kind::boot: return boot(call);
    case ControlCall::Kind::serve:
      call.status = serve(call);
      return io_.mailboxes.reply(call);
    case ControlCall::Kind::stop: return stop(call);
    case ControlCall::Kind::flush: return flush(call);
    case ControlCall::Kind::end_loop:
      io_.mailboxes.reply(call);
      return io_.loop.stop();
    case ControlCall::Kind::metrics:
      add_metrics(*static_cast<MetricsSnapshot*>(call.snapshot));
      return io_.mailboxes.reply(call);
    case ControlCall::Kind::device_failed:
      owner_.on_device_failed(call.status.error().detail);
      return io_.mailboxes.reply(call);
  }
  UNREACHABLE("control call {}", static_cast<int>(call.kind));
}

void Core::reply(base::Status status) {
  call_->status = std::move(status);
  io_.mailboxes.reply(*std::exchange(call_, nullptr));
}

void Core::boot(ControlCall& call) {
  ASSERT(state_ == State::built && call_ == nullptr);
  call_ = &call;
  services_.leader_epoch = call.data->node.leader_epoch;
  segment_pool_.start();
  serving_ = std::make_unique<Serving>(*this, *call.data);
  on_broker_config_changed();
  table_.listen();
  state_ = State::opening_journal;
  journal_.open(call.journal_path, call.log_id, call.data->journal_generation, step_op_);
}

void Core::build_partitions() {
  for (const catalog::Topic& topic : serving_->catalog.topics()) {
    for (int32_t i = 0; i < topic.partition_count; ++i) {
      create_partition(topic, model::PartitionIndex(i));
    }
  }
  for (auto& [key, recovered] : call_->recovered) {
    partition::Partition* partition = table_.find(key);
    ASSERT(partition != nullptr, "recovered a partition of no topic: {}-{}", key.topic.value(),
           key.index.value());
    partition->restore(std::move(recovered));
  }
  call_->recovered.clear();
}

bool Core::is_home(const catalog::Topic& topic, model::PartitionIndex index) const {
  return serving_->catalog.home_core(topic, index) == io_.index;
}

partition::PartitionSettings Core::settings_of(const catalog::Topic& topic) const {
  const catalog::TopicConfig& config = topic.config;
  const auto wanted = static_cast<uint64_t>(config.segment_bytes);
  partition::PartitionSettings settings{
      .segment_bytes = std::max(wanted, config_.segment_bytes_min),
      .segment_ms = config.compacts() ? std::min(config.segment_ms, config.max_compaction_lag_ms)
                                      : config.segment_ms,
      .segment_jitter_ms = config.segment_jitter_ms,
      .retention = {},
      .file_delete_delay_ms = config.file_delete_delay_ms,
      .uses_reserve = topic.internal,
      .compact = config.compacts(),
      .min_cleanable_ratio = config.min_cleanable_dirty_ratio,
      .min_compaction_lag_ms = config.min_compaction_lag_ms,
      .max_compaction_lag_ms = config.max_compaction_lag_ms,
      .delete_retention_ms = config.delete_retention_ms};
  // What the engine itself keeps in a topic goes by other rules than its age, whatever was set.
  if (config.deletes() && !topic.internal) {
    settings.retention = {.age_ms_max = config.retention_ms,
                          .size_bytes_max = config.retention_bytes};
  }
  return settings;
}

void Core::create_partition(const catalog::Topic& topic, model::PartitionIndex index) {
  if (is_home(topic, index)) table_.create({topic.serial, index}, topic.name, settings_of(topic));
}

// The steps of a start and of a stop; each completes step_op_.
void Core::on_step(io::Op& op) {
  const int32_t result = op.result();
  switch (state_) {
    case State::opening_journal: {
      if (result < 0) {
        return reply(base::error(-result, "cannot open journal " + call_->journal_path));
      }
      build_partitions();
      // What recovery found must be durable in the new journal before the old one may go.
      state_ = State::carrying;
      return journal_.drain(step_op_);
    }
    case State::carrying: {
      if (result < 0) return reply(base::error(-result, "cannot write the new journal"));
      state_ = State::replaying_groups;
      replay_ = std::make_unique<TopicReplay>(io_, table_);
      return start_replay(catalog::kConsumerOffsetsTopic, serving_->groups_sink);
    }
    case State::closing_connections:
      serving_->groups.stop();
      serving_->transactions.stop();
      if (serving_->http) {
        state_ = State::closing_http;
        return serving_->http->stop(step_op_);
      }
      [[fallthrough]];
    case State::closing_http:
      state_ = State::settling;
      return settle();
    case State::flushing:
      state_ = State::draining;
      return journal_.drain(step_op_);
    case State::draining:
      state_ = State::closing_journal;
      return journal_.close(step_op_);
    case State::closing_journal:
      state_ = State::stopped;
      return reply({});
    case State::built:
    case State::replaying_groups:
    case State::replaying_transactions:
    case State::ready:
    case State::serving:
    case State::settling:
    case State::settled:
    case State::stopped: break;
  }
  UNREACHABLE("core state {}", static_cast<int>(state_));
}

void Core::start_replay(std::string_view name, ReplaySink& sink) {
  const catalog::Topic* const topic = serving_->catalog.find(name);
  if (!topic) return io_.loop.post(replay_op_, 0);
  replay_->start(*topic, serving_->catalog, sink, replay_op_);
}

void Core::on_replayed(io::Op& op) {
  if (op.result() < 0) return reply(base::error(-op.result(), "cannot read an internal topic"));
  if (state_ == State::replaying_groups) {
    serve_groups();
    state_ = State::replaying_transactions;
    return start_replay(catalog::kTransactionStateTopic, serving_->transactions_sink);
  }
  ASSERT(state_ == State::replaying_transactions);
  replay_.reset();
  serving_->transactions.replay_done();
  state_ = State::ready;
  reply({});
}

void Core::serve_groups() {
  group::GroupCoordinator& groups = serving_->groups;
  groups.replay_done();
  // A crash between the deletion of a topic and that of its commits: the commits go now.
  for (const auto& [name, id] : groups.committed_topics()) {
    const catalog::Topic* topic = serving_->catalog.find(name);
    if (!topic || (!id.is_zero() && topic->id != id)) groups.on_topic_deleted(name, id);
  }
}

// Coordinators finish what they have asked of other cores, then partitions what they have begun
// with their files; there is no one event to wait for.
void Core::settle() {
  const bool idle = serving_->groups.idle() && serving_->transactions.idle();
  if (state_ == State::settling && idle) {
    state_ = State::settled;
    return reply({});
  }
  if (state_ == State::flushing && idle && table_.quiet() && space_reserve_.closed()) {
    return io_.loop.post(step_op_);
  }
  io_.loop.timers().arm_after(settle_timer_, kSettlePoll_ns);
}

base::Status Core::serve(ControlCall& call) {
  ASSERT(state_ == State::ready);
  std::vector<io::Address> bound;
  for (const io::Address& address : call.addresses) {
    auto listening = serving_->acceptor.listen(address);
    if (!listening) {
      // Machines without IPv6 serve the other addresses.
      const int code = listening.error().code;
      const bool absent = code == EADDRNOTAVAIL || code == EAFNOSUPPORT;
      if (!absent || call.addresses.size() == 1) return std::unexpected(listening.error());
      base::log_warning("broker", "not listening on {}: {}", address.host,
                        listening.error().detail);
      continue;
    }
    bound.push_back(*std::move(listening));
  }
  call.addresses = std::move(bound);
  serving_->acceptor.start();
  table_.start_retention(&serving_->positions);
  space_reserve_.start();
  table_.start_cleaner();
  if (io_.index.value() == 0 && !config_.http_address().host.empty()) {
    serving_->http = std::make_unique<HttpServer>(io_);
    TRY(const io::Address http, serving_->http->listen(config_.http_address()));
    base::log_info("broker", "metrics on http://{}:{}/metrics", http.host, http.port);
    serving_->http->set_ready(true);
  }
  // Every core has its partitions by now.
  serving_->transactions.start();
  state_ = State::serving;
  return {};
}

void Core::stop(ControlCall& call) {
  ASSERT(call_ == nullptr);
  call_ = &call;
  if (!serving_) {
    state_ = State::stopped;
    return reply({});
  }
  if (state_ != State::serving) {
    // A start that failed on some core: only files may be at work here.
    table_.stop_retention();
    space_reserve_.stop();
    state_ = State::flushing;
    return settle();
  }
  state_ = State::closing_connections;
  serving_->acceptor.stop(step_op_);
}

// Nobody asks this core's partitions for anything any more.
void Core::flush(ControlCall& call) {
  ASSERT(call_ == nullptr);
  call_ = &call;
  if (state_ == State::stopped) return reply({});
  ASSERT(state_ == State::settled);
  state_ = State::flushing;
  table_.prepare_stop();
  space_reserve_.stop();
  settle();
}

void Core::on_failure(io::Op& op) {
  failure_call_.kind = ControlCall::Kind::device_failed;
  failure_call_.status = base::error(-op.result(), fmt::format("device of {} failed: {}",
                                                               config_.server.data_dir,
                                                               std::strerror(-op.result())));
  io_.mailboxes.send(io::CoreIndex(0), model::ports::kControl, failure_call_);
}

void Core::remove_dead_directories(model::TopicSerial next_serial) {
  const auto entries = io_.disk.list(services_.topics_directory);
  if (!entries) return;
  for (const auto& entry : *entries) {
    const std::string path = services_.topics_directory + "/" + entry.name;
    if (log::is_deleted_directory(entry.name)) {
      table_.remove_directory(path, path);
      continue;
    }
    const auto key = log::parse_partition_directory(entry.name);
    if (!key || serving_->catalog.find(key->topic)) continue;
    if (key->topic < next_serial) {
      table_.remove_directory(path, log::deleted_directory(config_.server.data_dir, *key));
    } else {
      // Of a catalog that is newer than ours: not ours to delete.
      base::log_warning("broker", "unknown partition directory is left alone path={}", path);
    }
  }
}

void Core::add_metrics(MetricsSnapshot& snapshot) {
  MetricsSnapshot mine;
  mine.journal = journal_.metrics();
  mine.partition = partition_metrics_;
  mine.partition.segment_pool_bytes = segment_pool_.bytes();
  mine.partition.cleaner_since_run_ms = {static_cast<uint64_t>(table_.cleaner().ms_since_run())};
  mine.handlers = handler_metrics_;
  mine.connection = connection_metrics_;
  if (serving_) mine.group = serving_->groups.metrics();
  if (serving_) mine.transaction = serving_->transactions.metrics();
  mine.partitions = table_.size();
  mine.buffer_bytes = pool_.used_bytes();
  mine.read_bytes_held = pool_.leased_bytes();
  mine.io_stuck = disk_.stuck_count();
  mine.io_stuck_episodes = disk_.episodes();
  mine.cores = 1;
  snapshot.add(mine);
}

catalog::CatalogListener::Done Core::on_topic_created(const catalog::Topic& topic) {
  for (int32_t i = 0; i < topic.partition_count; ++i) {
    create_partition(topic, model::PartitionIndex(i));
  }
  return Done::now;
}

catalog::CatalogListener::Done Core::on_partitions_added(const catalog::Topic& topic,
                                                         int32_t old_count) {
  for (int32_t i = old_count; i < topic.partition_count; ++i) {
    create_partition(topic, model::PartitionIndex(i));
  }
  return Done::now;
}

catalog::CatalogListener::Done Core::on_topic_deleted(const catalog::Topic& topic) {
  for (int32_t i = 0; i < topic.partition_count; ++i) {
    table_.remove({topic.serial, model::PartitionIndex(i)});
  }
  serving_->groups.on_topic_deleted(topic.name, topic.id);
  return Done::now;
}

catalog::CatalogListener::Done Core::on_topic_config_changed(const catalog::Topic& topic) {
  for (int32_t i = 0; i < topic.partition_count; ++i) {
    if (auto* partition = table_.find({topic.serial, model::PartitionIndex(i)})) {
      partition->set_settings(settings_of(topic));
    }
  }
  return Done::now;
}

catalog::CatalogListener::Done Core::on_broker_config_changed() {
  partition::CleanerConfig cleaner = config_.partition.cleaner;
  serving_->catalog.apply_overrides(cleaner);
  table_.cleaner().set_config(cleaner);
  return Done::now;
}

}  // namespace weir::broker
