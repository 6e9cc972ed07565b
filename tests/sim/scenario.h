#pragma once
// Scenario: everything that one seed decides before the run: sizes of the world, who the clients
// are, which faults happen. Swarm style: many knobs are off or extreme in any one run.

#include <cstdint>
#include <string>
#include <vector>

#include "io/sim/sim_world.h"

namespace weir::simtest {

enum class Mode : uint8_t { lite, swarm };

struct TopicPlan {
  std::string name;
  int32_t partitions = 1;
  int64_t retention_ms = -1;     // -1: no limit
  int64_t retention_bytes = -1;
};

// How the process of one incarnation ends, when it does not run to the end of the workload.
struct CrashPlan {
  uint64_t after_events = 0;  // of this incarnation; 0: only the chances below
  io::sim::CrashKind kind = io::sim::CrashKind::process_kill;
  double at_flush = 0;
  double at_directory = 0;
};

struct Scenario {
  uint64_t seed = 0;
  Mode mode = Mode::lite;
  io::sim::SimOptions world;
  uint16_t cores_min = 1;
  uint16_t cores_max = 1;  // drawn again at every start
  std::vector<TopicPlan> topics;

  uint32_t plain_producers = 0;
  uint32_t idempotent_producers = 0;
  uint32_t consumers = 0;
  uint32_t committers = 0;
  uint32_t hostile_clients = 0;
  uint32_t trimmers = 0;          // delete records
  uint32_t transactors = 0;
  uint32_t keyed_writers = 0;     // each with a compacted topic
  bool transactors_compact = false;  // so are the topics of transactors
  uint32_t group_members = 0;     // of one consumer group (KIP-848)
  uint32_t batches_per_producer = 0;
  uint32_t records_max = 1;
  uint32_t value_size_max = 100;
  uint32_t pipeline_max = 1;
  uint32_t parts_max = 1;         // partitions in one produce request
  double duplicate_chance = 0;    // an idempotent producer sends an acknowledged batch again
  double odd_time_chance = 0;     // of a batch whose records are of no time or of the far future
  int64_t think_ns = 1'000'000;
  int produce_version = 7;

  // Sizes of the engine, small, so that rolls and wraps happen.
  uint64_t journal_record_bytes = 64 << 10;  // takes the largest batch, as the product's does
  uint64_t journal_records = 4;              // that the journal holds at first
  uint64_t journal_growth = 1;               // times its first size
  uint64_t segment_bytes = 64 << 10;
  uint64_t extent_threshold = 64 << 10;
  uint64_t early_commit_bytes = 64 << 10;
  uint32_t commits_in_flight = 4;
  uint64_t flush_bytes = 64 << 10;
  uint64_t tail_cache_bytes = 1 << 20;
  int64_t fetch_memory_bytes = 128 << 20;
  int32_t offsets_partitions = 2;
  int64_t segment_ms = INT64_MAX;
  int64_t retention_check_ms = 1'000;
  int64_t file_delete_delay_ms = 0;
  // Of compacted topics, as the internal ones are; 0: as by default, too seldom to be seen.
  int64_t cleaner_backoff_ms = 0;
  int64_t delete_retention_ms = 0;
  uint64_t prime_burst_bytes = 16 << 20;
  int64_t prime_quiet_us = 100'000;
  int64_t reserve_bytes = 0;      // of disk space
  uint64_t pool_bytes = 0;        // of files to be recycled
  int32_t state_partitions = 2;

  std::vector<CrashPlan> crashes;
  bool recover_twice = false;     // kill once more right after recovery and compare
  bool stop_cleanly = true;       // at the end, before the last check
  bool rot = false;               // one acknowledged journal record is harmed before the last start
  bool disk_fills = false;        // now and then no file can grow for a while
  int64_t io_stuck_ms = 0;        // alarm for calls to the disk that take longer; 0: none
  bool few_descriptors = false;   // now and then no file can be opened for a while
  bool disk_errors = false;       // the engine may have to give up and be restarted
};

Scenario draw_scenario(uint64_t seed, Mode mode);
std::string to_string(const Scenario& scenario);

}  // namespace weir::simtest
