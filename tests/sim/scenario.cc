#include "tests/sim/scenario.h"

#include <fmt/format.h>

namespace weir::simtest {
namespace {

using base::RandomStream;
using io::sim::CrashKind;

uint32_t draw(RandomStream& random, uint32_t low, uint32_t high) {
  return static_cast<uint32_t>(random.between(low, high));
}

void draw_workload(RandomStream& random, Scenario& s) {
  const bool lite = s.mode == Mode::lite;
  const uint32_t topics = draw(random, 1, lite ? 2 : 4);
  for (uint32_t i = 0; i < topics; ++i) {
    const auto partitions = static_cast<int32_t>(draw(random, 1, lite ? 3 : 8));
    s.topics.push_back({fmt::format("topic-{}", i), partitions});
  }
  s.plain_producers = draw(random, 0, 2);
  s.idempotent_producers = draw(random, s.plain_producers == 0 ? 1 : 0, 2);
  s.consumers = draw(random, 0, 2);
  s.committers = draw(random, 0, lite ? 1 : 3);
  s.hostile_clients = random.chance(0.2) ? 1 : 0;
  s.batches_per_producer = draw(random, 5, lite ? 25 : 150);
  s.records_max = random.chance(0.3) ? 50 : draw(random, 1, 5);
  const uint32_t sizes[] = {20, 200, 2'000, 20'000};
  s.value_size_max = sizes[random.below(lite ? 3 : 4)];
  if (s.records_max > 10 && s.value_size_max > 2'000) s.value_size_max = 2'000;
  if (random.chance(0.15)) {  // large enough to go straight to the segment
    s.records_max = 3;
    s.value_size_max = 60'000;
    s.batches_per_producer = draw(random, 3, 10);
  }
  s.pipeline_max = draw(random, 1, 5);
  s.parts_max = draw(random, 1, 3);
  s.duplicate_chance = random.chance(0.5) ? 0.2 : 0;
  const int64_t thinks[] = {10'000, 1'000'000, 20'000'000};
  s.think_ns = thinks[random.below(3)];
  s.produce_version = random.chance(0.5) ? 7 : 8;
}

uint64_t pick(RandomStream& random, uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t choices[] = {a, b, c};
  return choices[random.below(3)];
}

// Every size down to a few blocks, so that the rare branches are taken.
void draw_sizes(RandomStream& random, Scenario& s) {
  s.journal_record_bytes = pick(random, 48 << 10, 120 << 10, 120 << 10);
  s.journal_records = pick(random, 4, 6, 16);
  s.journal_growth = random.between(1, 4);
  s.segment_bytes = pick(random, 16 << 10, 64 << 10, 1 << 20);
  s.extent_threshold = pick(random, 8 << 10, 16 << 10, 64 << 10);
  s.early_commit_bytes = pick(random, 1 << 10, 32 << 10, 1 << 20);
  s.commits_in_flight = draw(random, 1, 4);
  s.flush_bytes = pick(random, 8 << 10, 32 << 10, 256 << 10);
  s.tail_cache_bytes = pick(random, 0, 64 << 10, 16 << 20);
  s.offsets_partitions = static_cast<int32_t>(random.between(1, 4));
}

void draw_crashes(RandomStream& random, Scenario& s) {
  const uint32_t count = draw(random, 0, s.mode == Mode::lite ? 3 : 8);
  for (uint32_t i = 0; i < count; ++i) {
    CrashPlan crash;
    crash.kind = random.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill;
    switch (random.below(4)) {
      case 0: crash.after_events = random.between(1, 200); break;  // in recovery, most likely
      case 1: crash.at_flush = 0.02; break;
      case 2: crash.at_directory = 0.2; break;
      default: break;
    }
    if (crash.after_events == 0) crash.after_events = random.between(300, 4'000);
    s.crashes.push_back(crash);
  }
  s.recover_twice = random.chance(0.3);
  s.stop_cleanly = random.chance(0.6);
}

// Streams of its own, so that a seed means the same as before to everything else.
void draw_retention(uint64_t seed, Scenario& s) {
  RandomStream random(seed, "retention");
  if (random.chance(0.4)) return;
  for (TopicPlan& topic : s.topics) {
    if (random.chance(0.4)) topic.retention_ms = static_cast<int64_t>(pick(random, 0, 100, 2'000));
    if (random.chance(0.4)) {
      topic.retention_bytes = static_cast<int64_t>(random.below(5) * s.segment_bytes);
    }
  }
  s.trimmers = draw(random, 0, 2);
  if (random.chance(0.3)) s.odd_time_chance = 0.1;
  if (random.chance(0.4)) s.segment_ms = static_cast<int64_t>(pick(random, 1, 20, 1'000));
  s.retention_check_ms = static_cast<int64_t>(pick(random, 2, 20, 300));
  s.file_delete_delay_ms = static_cast<int64_t>(pick(random, 0, 0, 50));
}

// The clock jumps by days, and topics keep what is younger than days: nothing of a run may go.
void draw_clock(uint64_t seed, Scenario& s) {
  RandomStream random(seed, "clock");
  if (s.world.faults.wall_jump == 0 || random.chance(0.4)) return;
  constexpr int64_t kDay_ms = 86'400'000;
  s.world.faults.wall_jump_ms = static_cast<int64_t>(pick(random, 2, 10, 365)) * kDay_ms;
  for (TopicPlan& topic : s.topics) {
    if (topic.retention_ms >= 0 || random.chance(0.3)) continue;
    topic.retention_ms = static_cast<int64_t>(pick(random, 1, 1, 7)) * kDay_ms;
  }
  s.retention_check_ms = static_cast<int64_t>(pick(random, 2, 20, 300));
}

void draw_compaction(uint64_t seed, Scenario& s) {
  RandomStream random(seed, "compaction");
  if (random.chance(0.5)) return;
  s.cleaner_backoff_ms = static_cast<int64_t>(pick(random, 1, 10, 100));
  s.delete_retention_ms = static_cast<int64_t>(pick(random, 0, 50, 1'000'000));
  // Nothing is compacted before its segment is sealed.
  if (s.segment_ms == INT64_MAX && random.chance(0.7)) {
    s.segment_ms = static_cast<int64_t>(pick(random, 1, 20, 200));
  }
  // Their model knows nothing of rot.
  if (!s.rot) s.keyed_writers = draw(random, 0, 2);
  s.transactors_compact = random.chance(0.5);
}

void draw_priming(uint64_t seed, Scenario& s) {
  RandomStream random(seed, "priming");
  if (random.chance(0.4)) return;
  s.prime_burst_bytes = pick(random, 1, 16 << 10, 64 << 10);
  s.prime_quiet_us = static_cast<int64_t>(pick(random, 100, 1'000, 20'000));
}

// A file or two, so that the next segment gets what the last one was, or plenty.
void draw_recycling(uint64_t seed, Scenario& s) {
  RandomStream random(seed, "recycling");
  if (random.chance(0.25)) return;
  s.pool_bytes = pick(random, s.segment_bytes + (4 << 10), 4 * s.segment_bytes, 64 << 20);
}

// Half of a journal must hold what all partitions of a core may carry, as it does in the product
// (Journal::reserve): a ring that is too small for its partitions stalls for good.
void fit_journal(Scenario& s) {
  constexpr uint64_t kCarried = 4'096 + 2 * 80;
  constexpr uint64_t kRest = 28 << 10;  // headers, padding, what frees the rest
  constexpr int32_t kOfATransactor = 3;
  constexpr int32_t kOfAKeyedWriter = 2;
  int64_t partitions = s.offsets_partitions + s.state_partitions;
  for (const TopicPlan& topic : s.topics) partitions += topic.partitions;
  partitions += kOfATransactor * s.transactors + kOfAKeyedWriter * s.keyed_writers;
  const uint64_t wanted = 2 * (static_cast<uint64_t>(partitions) * kCarried + kRest);
  while (s.journal_records * s.journal_record_bytes < wanted) ++s.journal_records;
}

}  // namespace

Scenario draw_scenario(uint64_t seed, Mode mode) {
  RandomStream random(seed, "options");
  Scenario s;
  s.seed = seed;
  s.mode = mode;
  s.world.faults = random.chance(0.2) ? io::sim::Faults::none() : io::sim::Faults::draw(random);
  s.cores_min = 1;
  s.cores_max = static_cast<uint16_t>(random.between(1, 3));
  if (random.chance(0.5)) s.cores_min = s.cores_max;
  s.world.core_count = s.cores_max;
  const size_t buffers[] = {4 << 10, 64 << 10, 256 << 10};
  s.world.socket_buffer_bytes = buffers[random.below(3)];
  draw_workload(random, s);
  draw_sizes(random, s);
  draw_crashes(random, s);
  draw_retention(seed, s);
  draw_clock(seed, s);
  draw_priming(seed, s);
  draw_recycling(seed, s);
  s.reserve_bytes = static_cast<int64_t>(RandomStream(seed, "reserve").below(3)) << 20;
  // A stream of their own: what other seeds draw stays as it is.
  RandomStream transactions(seed, "transactions");
  s.transactors = transactions.chance(0.5) ? draw(transactions, 1, 2) : 0;
  s.state_partitions = static_cast<int32_t>(transactions.between(1, 3));
  s.rot = random.chance(0.15);
  s.disk_fills = random.chance(0.15);
  s.disk_errors = !s.crashes.empty() && random.chance(0.15);
  if (s.disk_errors) {
    s.world.faults.write_error = random.chance(0.5) ? 0.002 : 0;
    s.world.faults.sync_error = random.chance(0.5) ? 0.01 : 0;
    s.world.faults.sticky_error = random.chance(0.5) ? 1 : 0;
  }
  s.io_stuck_ms = RandomStream(seed, "disk alarm").chance(0.25) ? 100 : 0;
  RandomStream memory(seed, "fetch memory");
  if (memory.chance(0.3)) s.fetch_memory_bytes = static_cast<int64_t>(memory.between(1, 32) << 12);
  s.few_descriptors = RandomStream(seed, "descriptors").chance(0.15);
  // Where an acknowledged record may be harmed, members may be forgotten.
  RandomStream members(seed, "group members");
  s.group_members = !s.rot && members.chance(0.5) ? draw(members, 2, 4) : 0;
  draw_compaction(seed, s);
  fit_journal(s);
  return s;
}

std::string to_string(const Scenario& s) {
  std::string topics;
  for (const TopicPlan& topic : s.topics) {
    topics += fmt::format("{}{}x{}", topics.empty() ? "" : ",", topic.name, topic.partitions);
    if (topic.retention_ms >= 0) topics += fmt::format("/{}ms", topic.retention_ms);
    if (topic.retention_bytes >= 0) topics += fmt::format("/{}b", topic.retention_bytes);
  }
  std::string crashes;
  for (const CrashPlan& crash : s.crashes) {
    crashes += fmt::format("{}{}@{}{}{}", crashes.empty() ? "" : ",",
                           crash.kind == CrashKind::power_cut ? "power" : "kill",
                           crash.after_events, crash.at_flush > 0 ? "/flush" : "",
                           crash.at_directory > 0 ? "/directory" : "");
  }
  return fmt::format(
      "mode={} cores={}..{} topics=[{}] plain={} idempotent={} consumers={} committers={} "
      "hostile={} transactors={} members={} batches={} records<={} value<={} pipeline={} parts={} "
      "duplicates={} think_us={} "
      "produce=v{} journal={}x{}x{} segment={} extent>={} early={} flights={} flush={} cache={} "
      "fetch_memory={} "
      "offsets={} socket={} crashes=[{}] recover_twice={} stop_cleanly={} "
      "rot={} disk_fills={} few_descriptors={} stuck_ms={} disk_errors={} trimmers={} odd_times={} "
      "segment_ms={} check_ms={} "
      "delete_delay_ms={} clean_ms={} tombstones_ms={} keyed={} transactors_compact={} "
      "prime_burst={} prime_quiet_us={} "
      "reserve={} pool={}\n  faults: {}",
      s.mode == Mode::lite ? "lite" : "swarm", s.cores_min, s.cores_max, topics, s.plain_producers,
      s.idempotent_producers, s.consumers, s.committers, s.hostile_clients, s.transactors,
      s.group_members, s.batches_per_producer,
      s.records_max, s.value_size_max, s.pipeline_max, s.parts_max, s.duplicate_chance,
      s.think_ns / 1000, s.produce_version, s.journal_record_bytes, s.journal_records,
      s.journal_growth, s.segment_bytes, s.extent_threshold, s.early_commit_bytes,
      s.commits_in_flight, s.flush_bytes, s.tail_cache_bytes,
      s.fetch_memory_bytes, s.offsets_partitions,
      s.world.socket_buffer_bytes, crashes, s.recover_twice, s.stop_cleanly, s.rot, s.disk_fills,
      s.few_descriptors, s.io_stuck_ms, s.disk_errors, s.trimmers, s.odd_time_chance, s.segment_ms,
      s.retention_check_ms,
      s.file_delete_delay_ms, s.cleaner_backoff_ms, s.delete_retention_ms, s.keyed_writers,
      s.transactors_compact, s.prime_burst_bytes, s.prime_quiet_us, s.reserve_bytes,
      s.pool_bytes, io::sim::to_string(s.world.faults));
}

}  // namespace weir::simtest
