#pragma once
// Core: everything one core owns, in construction order; later members may use earlier ones, and
// are destroyed first. Built on its own thread, fed by core 0 (boot.h), reached by others through
// messages only.
//
//   built ─boot─▶ ready ─serve─▶ serving ─stop─▶ settled ─flush─▶ stopped

#include <memory>
#include <string>
#include <vector>

#include "engine/broker/boot.h"
#include "engine/broker/catalog_topics.h"
#include "engine/broker/config.h"
#include "engine/broker/http.h"
#include "engine/broker/metrics.h"
#include "engine/broker/offsets_log.h"
#include "engine/broker/read_positions.h"
#include "engine/broker/topic_replay.h"
#include "engine/broker/transactions_host.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_applier.h"
#include "engine/catalog/producer_ids.h"
#include "engine/connection/acceptor.h"
#include "engine/group/group_coordinator.h"
#include "engine/handlers/context.h"
#include "engine/handlers/quota_buckets.h"
#include "engine/journal/journal.h"
#include "engine/log/batch_validator.h"
#include "engine/partition/partition_table.h"
#include "engine/transaction/transaction_coordinator.h"
#include "io/core_io.h"
#include "io/watched_disk.h"

namespace weir::broker {

class Core : private catalog::CatalogListener {
 public:
  // What the broker is told, on core 0.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_device_failed(const std::string& reason) = 0;
  };

  // `config` and `disk`, that of `io`, outlive the core. Takes messages from here on.
  Core(io::CoreIo& io, const io::WatchedDisk& disk, const Config& config, Owner& owner);
  ~Core() override;
  Core(const Core&) = delete;

  io::CoreIo& io() { return io_; }
  // Directories of topics that are no more: a crash came between their deletion and that of their
  // files.
  void remove_dead_directories(model::TopicSerial next_serial);
  partition::SpaceReserve& space_reserve() { return space_reserve_; }
  log::SegmentPool& segment_pool() { return segment_pool_; }
  catalog::Catalog* catalog() { return serving_ ? &serving_->catalog : nullptr; }

 private:
  enum class State : uint8_t {
    built,
    opening_journal,
    carrying,
    replaying_groups,
    replaying_transactions,
    ready,
    serving,
    closing_connections,
    closing_http,
    settling,
    settled,
    flushing,
    draining,
    closing_journal,
    stopped
  };

  // What exists once the catalog is known.
  struct Serving {
    Serving(Core& core, const BootData& data);
    catalog::Catalog catalog;
    catalog::CatalogApplier applier;
    catalog::ProducerIds producer_ids;
    log::BatchValidator validator;
    std::vector<model::SettingInfo> settings;
    OffsetsLog offsets_log;
    CatalogTopics topics;
    group::GroupCoordinator groups;
    handlers::QuotaBuckets quota_buckets;
    GroupPositions positions;
    TransactionsHost transactions_host;
    transaction::TransactionCoordinator transactions;
    CoordinatorSink<group::GroupCoordinator> groups_sink;
    CoordinatorSink<transaction::TransactionCoordinator> transactions_sink;
    handlers::Context context;
    connection::Acceptor acceptor;
    std::unique_ptr<HttpServer> http;  // core 0
  };

  void on_control(io::Message& message);
  void boot(ControlCall& call);
  void on_step(io::Op& op);
  void start_replay(std::string_view topic, ReplaySink& sink);
  void on_replayed(io::Op& op);
  void serve_groups();
  void settle();
  void build_partitions();
  void create_partition(const catalog::Topic& topic, model::PartitionIndex index);
  partition::PartitionSettings settings_of(const catalog::Topic& topic) const;
  bool is_home(const catalog::Topic& topic, model::PartitionIndex index) const;
  base::Status serve(ControlCall& call);
  void stop(ControlCall& call);
  void flush(ControlCall& call);
  void on_failure(io::Op& op);
  void on_failure_told(io::Message&) {}
  void add_metrics(MetricsSnapshot& snapshot);
  void reply(base::Status status);

  // catalog::CatalogListener
  Done on_topic_created(const catalog::Topic& topic) override;
  Done on_partitions_added(const catalog::Topic& topic, int32_t old_count) override;
  Done on_topic_deleted(const catalog::Topic& topic) override;
  Done on_topic_config_changed(const catalog::Topic& topic) override;
  Done on_broker_config_changed() override;

  io::CoreIo& io_;
  const io::WatchedDisk& disk_;
  const Config& config_;
  Owner& owner_;
  State state_ = State::built;
  journal::Journal journal_;
  log::BufferPool pool_;
  partition::TailCache tail_cache_;
  partition::Metrics partition_metrics_;
  log::SegmentPool segment_pool_;
  log::SegmentRemover segment_remover_;
  partition::RetentionClock retention_clock_;
  partition::SegmentPrimer primer_;
  partition::SpaceReserve space_reserve_;
  handlers::Metrics handler_metrics_;
  connection::Metrics connection_metrics_;
  partition::Services services_;
  partition::PartitionTable table_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<TopicReplay> replay_;

  ControlCall* call_ = nullptr;  // being worked on
  io::Op step_op_;
  io::Op replay_op_;
  io::Op failure_op_;
  io::Timer settle_timer_;
  ControlCall failure_call_;   // to core 0
};

}  // namespace weir::broker
