#include "tests/sim/engine.h"

#include <fmt/format.h>

#include "engine/broker/broker.h"
#include "tests/sim/actor.h"

namespace weir::simtest {
namespace {

broker::Config make_config(const Scenario& scenario) {
  broker::Config config;
  config.server.data_dir = "/data";
  config.server.listeners = fmt::format("127.0.0.1:{}", kBrokerPort);
  config.server.http_listener = "";
  config.server.io_stuck_ms = scenario.io_stuck_ms;
  config.catalog.offsets_topic_num_partitions = scenario.offsets_partitions;
  config.catalog.offsets_topic_segment_bytes = static_cast<int32_t>(scenario.segment_bytes);
  config.catalog.transaction_state_log_num_partitions = scenario.state_partitions;
  config.catalog.transaction_state_log_segment_bytes =
      static_cast<int32_t>(scenario.segment_bytes);
  config.catalog.topic_defaults.segment_bytes = static_cast<int32_t>(scenario.segment_bytes);
  // The clients' clock is the wall clock, which jumps; topics say themselves where age counts.
  config.catalog.topic_defaults.retention_ms = -1;
  config.catalog.topic_defaults.message_timestamp_after_max_ms = INT64_MAX;
  config.catalog.topic_defaults.segment_ms = scenario.segment_ms;
  config.catalog.topic_defaults.file_delete_delay_ms = scenario.file_delete_delay_ms;
  if (scenario.cleaner_backoff_ms > 0) {
    config.partition.cleaner.backoff_ms = scenario.cleaner_backoff_ms;
    config.catalog.topic_defaults.min_cleanable_dirty_ratio = 0;
    config.catalog.topic_defaults.delete_retention_ms = scenario.delete_retention_ms;
  }
  config.segment_bytes_min = scenario.segment_bytes;
  config.partition.retention_check_ms = scenario.retention_check_ms;
  const auto finished = config.finish();
  ASSERT(finished, "{}", finished.error().detail);
  const uint64_t journal_bytes = scenario.journal_record_bytes * scenario.journal_records;
  config.journal.record_size_max = scenario.journal_record_bytes;
  config.journal.size_initial = journal_bytes;
  config.journal.size_max = journal_bytes * scenario.journal_growth;
  config.journal.growth_step = scenario.journal_record_bytes;
  config.journal.extent_threshold = scenario.extent_threshold;
  config.journal.early_commit_bytes = scenario.early_commit_bytes;
  config.journal.commits_in_flight_max = scenario.commits_in_flight;
  config.partition.flush_bytes = scenario.flush_bytes;
  config.partition.carry_bytes_max = scenario.flush_bytes / 4;
  config.partition.tail_cache_bytes = scenario.tail_cache_bytes;
  config.partition.fetch_memory_bytes = scenario.fetch_memory_bytes;
  config.partition.prime_burst_min = scenario.prime_burst_bytes;
  config.partition.prime_quiet_ns = scenario.prime_quiet_us * 1'000;
  config.partition.prime_piece_bytes = 16 << 10;
  config.partition.reserve_bytes = scenario.reserve_bytes;
  config.partition.pool_bytes = static_cast<int64_t>(scenario.pool_bytes);
  config.partition.pool_file_bytes_min = io::kBlockSize;
  return config;
}

}  // namespace

struct Engine::Parts {
  explicit Parts(broker::Config config) : broker(std::move(config)) {}
  broker::Broker broker;
};

Engine::Engine(io::sim::SimWorld& world, const Scenario& scenario)
    : world_(world), parts_(std::make_unique<Parts>(make_config(scenario))) {}

// A process that crashed runs no destructors, and the engine's assert that nothing is in flight.
// Its memory is left alone; runner.cc bounds what that adds up to.
Engine::~Engine() {
  if (!world_.stopped()) static_cast<void>(parts_.release());
}

void Engine::start() { world_.start(parts_->broker); }
bool Engine::ready() const { return parts_->broker.ready(); }
Engine::DiskAlarms Engine::disk_alarms() const {
  const auto alarms = parts_->broker.disk_alarms();
  return {alarms.stuck, alarms.episodes};
}
bool Engine::failed() const { return parts_->broker.failed(); }
std::string Engine::failure() const { return parts_->broker.failure(); }

}  // namespace weir::simtest
