// Proves what one partition does while its node lives: appends in order and answers once durable,
// serves exactly what is durable from memory and from files, takes large appends straight to the
// segment, goes from segment to segment, survives a full disk and a failing device with the right
// answers, and goes away cleanly when removed.
//
// How: PartitionWorld, a node with one core over the simulated disk.
#include "engine/partition/partition.h"

#include <gtest/gtest.h>

#include <deque>

#include "io/sim/sim_disk.h"
#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

// What a reader gets of a batch: the two fields that the partition sets are set.
log::Buffer placed(log::Buffer batch, int64_t base_offset, int32_t leader_epoch) {
  log::set_base_offset(batch, model::Offset(base_offset));
  log::set_leader_epoch(batch, leader_epoch);
  return batch;
}

size_t open_files(PartitionWorld& world) {
  return static_cast<io::sim::SimDisk&>(world.sim().core(0).disk).open_count();
}

log::Buffer idempotent(int32_t sequence, size_t value_size = 10) {
  return log::make_batch(1, 9'000 + sequence, value_size,
                         {.producer_id = model::ProducerId(5),
                          .producer_epoch = model::ProducerEpoch(0),
                          .base_sequence = model::Sequence(sequence)});
}

TEST(Partition, appends_get_offsets_in_order_and_are_read_back) {
  PartitionWorld world(1);
  ASSERT_TRUE(world.start()) << world.failure();
  log::Buffer all;
  int64_t next = 0;
  for (int32_t i = 1; i <= 20; ++i) {
    const auto batch = log::make_batch(i % 4 + 1, 1000 + i, 300);
    ASSERT_EQ(world.append(batch), next);
    log::append(all, placed(batch, next, 1));
    next += i % 4 + 1;
    ASSERT_EQ(world.partition().high_watermark().value(), next);
  }
  ErrorCode error{};
  EXPECT_EQ(world.read_all(0, error), all);
  EXPECT_EQ(world.read_all(0, error, 1), all) << "one batch at a time";
  EXPECT_EQ(error, ErrorCode::none);
  EXPECT_EQ(world.metrics().appended_batches, 20u);
  EXPECT_EQ(world.metrics().cold_reads, 0u);
}

TEST(Partition, nothing_is_visible_before_it_is_durable) {
  WorldOptions options;
  options.sim.faults.disk_latency_ns = 3'000'000;
  PartitionWorld world(2, options);
  ASSERT_TRUE(world.start());
  const auto batch = log::make_batch(2);
  ASSERT_EQ(world.append(batch), 0);
  Call<AppendRequest> second;
  world.send_append(second, batch);
  world.sim().run_for(20'000);
  ASSERT_FALSE(second.done);
  EXPECT_EQ(world.partition().log().end_offset().value(), 4) << "it was placed";
  EXPECT_EQ(world.partition().high_watermark().value(), 2);
  Read read(0, model::Offset(0), 1 << 20);
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.item.high_watermark.value(), 2);
  EXPECT_EQ(read.bytes, placed(batch, 0, 1));
  ASSERT_TRUE(world.run_until([&] { return second.done; }));
}

TEST(Partition, small_appends_ride_in_the_journal_and_large_ones_go_to_the_segment) {
  PartitionWorld world(3);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(1, 1000, 60'000)), 0);
  EXPECT_EQ(world.journal().metrics().extent_bytes, 0u);
  const auto large = log::make_batch(1, 1000, 100'000);
  ASSERT_EQ(world.append(large), 1);
  const uint64_t extent = world.journal().metrics().extent_bytes;
  EXPECT_GE(extent, 100'000u);
  EXPECT_EQ(extent % 4096, 0u);
  const auto& segment = world.partition().log().active();
  EXPECT_EQ(segment.written, segment.end / 4096 * 4096) << "the extent took the bytes before along";
  const auto file = world.sim().disk().content(world.segment_path(0, log::kLogSuffix));
  const auto found =
      std::search(file.begin(), file.end(), large.begin() + 61, large.begin() + 2061);
  EXPECT_NE(found, file.end());
}

TEST(Partition, goes_from_segment_to_segment) {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.partition.tail_cache_bytes = 0;
  PartitionWorld world(4, options);
  ASSERT_TRUE(world.start());
  log::Buffer all;
  for (int64_t i = 0; i < 60; ++i) {
    const auto batch = log::make_batch(1, 1000 + i, 7'000);
    ASSERT_EQ(world.append(batch), i);
    log::append(all, placed(batch, i, 1));
  }
  world.sim().run_for(1'000'000'000);
  const auto& segments = world.partition().log().segments();
  ASSERT_GE(segments.size(), 6u);
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    EXPECT_TRUE(segments[i]->sealed);
    EXPECT_LE(segments[i]->end, 64_KiB);
    const auto path = world.segment_path(segments[i]->base_offset.value(), log::kLogSuffix);
    EXPECT_EQ(world.sim().disk().content(path).size(), segments[i]->end) << "trimmed";
  }
  ErrorCode error{};
  EXPECT_EQ(world.read_all(0, error), all);
  EXPECT_GT(world.metrics().cold_reads, 0u);
}

TEST(Partition, a_batch_larger_than_a_segment_gets_one_of_its_own) {
  WorldOptions options;
  options.settings.segment_bytes = 16_KiB;
  PartitionWorld world(5, options);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(1, 1000, 100)), 0);
  const auto large = log::make_batch(1, 1000, 700'000);
  ASSERT_EQ(world.append(large), 1);
  ASSERT_EQ(world.append(log::make_batch(1, 1000, 100)), 2);
  Read read(0, model::Offset(1), 100);
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.bytes, placed(large, 1, 1));
}

TEST(Partition, a_retry_is_answered_when_its_original_is) {
  WorldOptions options;
  options.sim.faults.disk_latency_ns = 3'000'000;
  PartitionWorld world(6, options);
  ASSERT_TRUE(world.start());
  const auto batch = idempotent(0);
  Call<AppendRequest> first;
  Call<AppendRequest> again;
  world.send_append(first, batch);
  world.send_append(again, batch);
  world.sim().run_for(20'000);
  EXPECT_FALSE(again.done) << "an answer now would promise too much";
  ASSERT_TRUE(world.run_until([&] { return first.done && again.done; }));
  EXPECT_EQ(first.base_offset, again.base_offset);
  EXPECT_EQ(world.partition().high_watermark().value(), 1);
  EXPECT_EQ(world.append(batch), 0) << "and at once later";
  EXPECT_EQ(world.append(idempotent(2)), -45);
  EXPECT_EQ(world.append(idempotent(1)), 1);
  EXPECT_EQ(world.metrics().duplicate_batches, 2u);
}

TEST(Partition, reads_respect_their_limits) {
  PartitionWorld world(7);
  ASSERT_TRUE(world.start());
  std::vector<log::Buffer> batches;
  for (int64_t i = 0; i < 10; ++i) {
    batches.push_back(placed(log::make_batch(1, 1000, 1'000), i, 1));
    ASSERT_EQ(world.append(batches.back()), i);
  }
  const auto size = static_cast<uint32_t>(batches[0].size());
  struct Case {
    uint32_t limit;
    bool first_whole;
    size_t batches;
  };
  for (const Case& c : {Case{1, true, 1}, Case{1, false, 0}, Case{size, false, 1},
                        Case{size * 3 - 1, true, 2}, Case{size * 3, true, 3}, Case{0, true, 1},
                        Case{1 << 20, false, 7}}) {
    Read read(0, model::Offset(3), c.limit);
    read.first_batch_whole = c.first_whole;
    ASSERT_TRUE(world.read(read));
    EXPECT_EQ(read.item.error, ErrorCode::none);
    EXPECT_EQ(read.bytes.size(), c.batches * size) << c.limit << " " << c.first_whole;
  }
}

TEST(Partition, the_first_batch_of_a_request_comes_whole_and_only_that) {
  WorldOptions options;
  options.partition_count = 3;
  PartitionWorld world(8, options);
  ASSERT_TRUE(world.start());
  const auto batch = log::make_batch(1, 1000, 5'000);
  ASSERT_EQ(world.append(batch, 1), 0);
  ASSERT_EQ(world.append(batch, 2), 0);
  Call<ReadRequest> request;
  ReadItem items[4];
  for (int32_t i = 0; i < 4; ++i) {
    items[i].key = key_of(i);  // partition 0 is empty, 3 does not exist
    items[i].size_max = 100;
  }
  request.items = items;
  request.size_max = 100;
  ASSERT_TRUE(world.ask(request, model::ports::kRead));
  EXPECT_EQ(items[0].size, 0u);
  EXPECT_EQ(items[1].size, batch.size()) << "KIP-74";
  EXPECT_EQ(items[2].size, 0u);
  EXPECT_EQ(items[2].high_watermark.value(), 1) << "limits are told all the same";
  EXPECT_EQ(items[3].error, ErrorCode::unknown_topic_or_partition);
  ASSERT_TRUE(world.ask(request, model::ports::kReleaseRead));
}

TEST(Partition, offsets_and_epochs_of_a_read_are_checked) {
  PartitionWorld world(9);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(3)), 0);
  const auto error_of = [&](int64_t offset, int32_t epoch) {
    Read read(0, model::Offset(offset), 1000);
    read.item.current_leader_epoch = epoch;
    EXPECT_TRUE(world.read(read));
    return read.item.error;
  };
  EXPECT_EQ(error_of(3, -1), ErrorCode::none) << "the end itself";
  EXPECT_EQ(error_of(4, -1), ErrorCode::offset_out_of_range);
  EXPECT_EQ(error_of(-1, -1), ErrorCode::offset_out_of_range);
  EXPECT_EQ(error_of(0, 1), ErrorCode::none);
  EXPECT_EQ(error_of(0, 0), ErrorCode::fenced_leader_epoch);
  EXPECT_EQ(error_of(0, 2), ErrorCode::unknown_leader_epoch);
}

TEST(Partition, leader_epochs_are_remembered_over_starts) {
  PartitionWorld world(10);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(5)), 0);
  for (int i = 0; i < 2; ++i) {
    world.crash(CrashKind::power_cut);
    ASSERT_TRUE(world.start());
  }
  ASSERT_EQ(world.append(log::make_batch(2)), 5);
  const auto ask = [&](int32_t epoch) {
    Call<EpochEndRequest> request;
    request.key = key_of(0);
    request.leader_epoch = epoch;
    EXPECT_TRUE(world.ask(request, model::ports::kEpochEnd));
    return std::pair(request.found_epoch, request.end_offset.value());
  };
  EXPECT_EQ(ask(1), (std::pair<int32_t, int64_t>(1, 5)));
  EXPECT_EQ(ask(2), (std::pair<int32_t, int64_t>(1, 5))) << "nothing was written under it";
  EXPECT_EQ(ask(3), (std::pair<int32_t, int64_t>(3, 7)));
  EXPECT_EQ(ask(4), (std::pair<int32_t, int64_t>(-1, -1)));
  Read read(0, model::Offset(6), 1000);
  read.item.last_fetched_epoch = 1;
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.item.diverging_epoch, 1);
  EXPECT_EQ(read.item.diverging_end_offset.value(), 5);
  EXPECT_TRUE(read.bytes.empty());
}

TEST(Partition, two_readers_meet_a_segment_whose_ledger_is_not_loaded) {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  for (uint64_t seed = 0; seed < 15; ++seed) {
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    for (int64_t i = 0; i < 30; ++i) ASSERT_EQ(world.append(log::make_batch(1, i, 7'000)), i);
    world.sim().run_for(100'000'000);
    world.crash();
    // Half of the worlds have to walk over the segments.
    if (seed % 2 == 0) {
      const auto path = world.segment_path(0, log::kLedgerSuffix);
      world.sim().disk().corrupt(path, 0, std::byte{1});
    }
    ASSERT_TRUE(world.start());
    std::vector<std::unique_ptr<Read>> reads;
    for (int i = 0; i < 8; ++i) {
      reads.push_back(std::make_unique<Read>(0, model::Offset(i % 8), 20'000));
      reads.back()->items = std::span(&reads.back()->item, 1);
      world.send(*reads.back(), model::ports::kRead);
      world.sim().run_for(static_cast<int64_t>(seed) * 17'000);
    }
    for (auto& read : reads) {
      ASSERT_TRUE(world.run_until([&] { return read->done; }));
      EXPECT_EQ(read->item.error, ErrorCode::none);
      EXPECT_GT(read->item.size, 7'000u);
      ASSERT_TRUE(world.ask(*read, model::ports::kReleaseRead));
    }
  }
}

TEST(Partition, a_segment_may_be_sealed_while_it_is_read) {
  WorldOptions options;
  options.settings.segment_bytes = 64_KiB;
  options.partition.tail_cache_bytes = 0;
  options.partition.flush_bytes = 8_KiB;
  options.sim.faults.short_read = 0.5;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    std::vector<std::unique_ptr<Read>> reads;
    for (int64_t i = 0; i < 40; ++i) {
      ASSERT_EQ(world.append(log::make_batch(1, i, 7'000)), i);
      reads.push_back(std::make_unique<Read>(0, model::Offset(i / 2), 40'000));
      reads.back()->items = std::span(&reads.back()->item, 1);
      world.send(*reads.back(), model::ports::kRead);
    }
    for (auto& read : reads) {
      ASSERT_TRUE(world.run_until([&] { return read->done; }));
      EXPECT_EQ(read->item.error, ErrorCode::none) << "seed " << seed;
      EXPECT_GT(read->item.size, 7'000u);
      ASSERT_TRUE(world.ask(*read, model::ports::kReleaseRead));
    }
    world.sim().run_for(1'000'000'000);
    const auto& segments = world.partition().log().segments();
    for (size_t i = 0; i + 1 < segments.size(); ++i) EXPECT_TRUE(segments[i]->sealed);
  }
}

// Journal space comes back only by flushes, seals and carries, each of which may wait for another.
TEST(Partition, a_journal_short_of_space_never_gets_stuck) {
  uint64_t stalls = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    base::RandomStream random(seed, "sizes");
    WorldOptions options;
    options.partition_count = static_cast<int32_t>(random.between(1, 3));
    options.settings.segment_bytes = random.between(2, 8) * 32_KiB;
    options.partition.flush_bytes = random.between(2, 32) * 8_KiB;
    options.journal.early_commit_bytes = random.between(1, 64) << 10;
    options.journal.commits_in_flight_max = static_cast<uint32_t>(random.between(1, 4));
    std::deque<Call<AppendRequest>> calls;
    std::deque<log::Buffer> batches;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    for (int i = 0; i < 120; ++i) {
      const size_t size = random.chance(0.2) ? random.between(20'000, 70'000) : random.below(5'000);
      batches.push_back(log::make_batch(1, i, size));
      world.send_append(calls.emplace_back(), batches.back(),
                        static_cast<int32_t>(random.below(3)) % options.partition_count);
      if (random.chance(0.4)) world.sim().run_for(static_cast<int64_t>(random.below(300'000)));
    }
    for (auto& call : calls) {
      ASSERT_TRUE(world.run_until([&] { return call.done; })) << "seed " << seed;
      ASSERT_EQ(call.error, ErrorCode::none);
    }
    stalls += world.journal().metrics().stalls;
  }
  EXPECT_GT(stalls, 100u);
}

TEST(Partition, removal_answers_what_waits_and_takes_the_files_away) {
  WorldOptions options;
  options.partition_count = 2;
  options.settings.segment_bytes = 64_KiB;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    const size_t before = open_files(world);
    std::vector<std::unique_ptr<Call<AppendRequest>>> calls;
    const auto batch = log::make_batch(1, 1, 9'000);
    for (int i = 0; i < 25; ++i) {
      calls.push_back(std::make_unique<Call<AppendRequest>>());
      world.send_append(*calls.back(), batch, 0);
    }
    Read read(0, model::Offset(0), 20'000);
    read.items = std::span(&read.item, 1);
    world.sim().run_for(static_cast<int64_t>(seed) * 60'000);
    world.send(read, model::ports::kRead);
    world.sim().run_for(5'000);
    world.table().remove(key_of(0));
    for (auto& call : calls) {
      ASSERT_TRUE(world.run_until([&] { return call->done; })) << "seed " << seed;
      EXPECT_TRUE(call->error == ErrorCode::none ||
                  call->error == ErrorCode::unknown_topic_or_partition);
      EXPECT_FALSE(call->outcome_unknown);
    }
    ASSERT_TRUE(world.run_until([&] { return read.done; }));
    ASSERT_TRUE(world.ask(read, model::ports::kReleaseRead));
    EXPECT_EQ(world.append(batch, 0), -3);
    EXPECT_EQ(world.append(batch, 1), 0) << "the other one lives";
    ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); }));
    for (const auto& path : world.sim().disk().files()) {
      EXPECT_EQ(path.find("clicks-0"), std::string::npos) << path;
      EXPECT_EQ(path.find("deleted"), std::string::npos) << path;
    }
    EXPECT_EQ(open_files(world), before + 1) << "only the other one's segment";
  }
}

TEST(Partition, removal_ends_at_whatever_moment_it_comes) {
  WorldOptions options;
  options.settings.segment_bytes = 128_KiB;
  options.partition.flush_bytes = 8_KiB;
  options.sim.faults.stuck_io = 0.2;  // so that a commit may outlast other work
  options.sim.faults.stuck_io_ns = 2'000'000;
  const auto batch = log::make_batch(1, 1, 9'000);
  for (uint64_t seed = 0; seed < 400; ++seed) {
    base::RandomStream random(seed, "moment");
    std::deque<Call<AppendRequest>> calls;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    for (uint64_t count = random.between(1, 80); count > 0; --count) {
      world.send_append(calls.emplace_back(), batch);
      world.sim().run_for(static_cast<int64_t>(random.below(200'000)));
    }
    world.table().remove(key_of(0));
    for (const auto& call : calls) ASSERT_TRUE(world.run_until([&] { return call.done; }));
    ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); })) << "seed " << seed;
  }
}

TEST(Partition, a_full_disk_refuses_appends_until_there_is_room) {
  WorldOptions options;
  options.settings.segment_bytes = 256_KiB;
  PartitionWorld world(20, options);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(1, 1, 50'000)), 0);
  world.sim().disk().set_size_bytes(world.sim().disk().used_bytes());
  int64_t next = 1;
  while (true) {
    const int64_t got = world.append(log::make_batch(1, 1, 50'000));
    if (got < 0) {
      EXPECT_EQ(got, -56);
      break;
    }
    ASSERT_EQ(got, next++);
    ASSERT_LT(next, 100);
  }
  EXPECT_FALSE(world.journal().failed());
  ErrorCode error{};
  world.read_all(0, error);
  EXPECT_EQ(error, ErrorCode::none) << "reading goes on";
  world.sim().disk().set_size_bytes(1 << 30);
  EXPECT_EQ(world.append(log::make_batch(1, 1, 50'000)), next);
}

// What the engine itself must be able to write has the reserve; users have not, and are not heard
// again before there is room.
TEST(Partition, a_full_disk_has_a_reserve_for_internal_topics) {
  for (const bool internal : {true, false}) {
    WorldOptions options;
    options.settings.uses_reserve = internal;
    options.partition.reserve_bytes = 4_MiB;
    PartitionWorld world(25, options);
    ASSERT_TRUE(world.start());
    world.reserve().start();
    ASSERT_TRUE(world.run_until([&] { return world.reserve().held() == 4_MiB; }));
    auto& disk = world.sim().disk();
    disk.set_size_bytes(disk.used_bytes());
    const auto batch = log::make_batch(1, 1, 50'000);
    int64_t next = 0;
    int64_t got = 0;
    while ((got = world.append(batch)) >= 0) ASSERT_EQ(got, next++);
    EXPECT_EQ(got, -56);
    if (internal) {
      EXPECT_GE(static_cast<uint64_t>(next) * batch.size(), 3_MiB);
      EXPECT_EQ(world.reserve().held(), 0u);
    } else {
      EXPECT_EQ(next, 0);
      EXPECT_EQ(world.reserve().held(), 4_MiB);
    }
    EXPECT_FALSE(world.journal().failed());
    disk.set_size_bytes(1 << 30);
    if (!internal) {
      EXPECT_EQ(world.append(batch), -56) << "asked again before there was a look";
    }
    world.sim().run_for(1'000'000'000);
    EXPECT_EQ(world.append(batch), next);
    EXPECT_TRUE(world.reserve().plenty());
  }
}

TEST(Partition, grows_by_what_is_needed_when_there_is_no_room_to_grow_ahead) {
  WorldOptions options;
  options.settings.segment_bytes = 64_MiB;
  PartitionWorld world(26, options);
  ASSERT_TRUE(world.start());
  const auto batch = log::make_batch(1, 1, 100'000);
  int64_t next = 0;
  for (; next < 40; ++next) ASSERT_EQ(world.append(batch), next);
  auto& disk = world.sim().disk();
  disk.set_size_bytes(disk.used_bytes() + 300'000);  // less than a step ahead at this size
  const int64_t before = next;
  int64_t got = 0;
  while ((got = world.append(batch)) >= 0) ASSERT_EQ(got, next++);
  EXPECT_EQ(got, -56);
  EXPECT_GE(next, before + 2);
}

TEST(Partition, a_first_batch_that_met_a_full_disk_keeps_its_place) {
  PartitionWorld world(24);
  ASSERT_TRUE(world.start());
  auto& disk = world.sim().disk();
  disk.set_size_bytes(disk.used_bytes());
  const log::Buffer batches[] = {idempotent(0), idempotent(1)};
  Call<AppendRequest> calls[2];
  for (size_t i = 0; i < 2; ++i) world.send_append(calls[i], batches[i]);
  for (const auto& call : calls) {
    ASSERT_TRUE(world.run_until([&] { return call.done; }));
    EXPECT_EQ(call.error, ErrorCode::kafka_storage_error);
    EXPECT_FALSE(call.outcome_unknown);
  }
  disk.set_size_bytes(1 << 30);
  EXPECT_EQ(world.append(idempotent(2)), -45) << "it was under way behind the refused ones";
  EXPECT_EQ(world.append(idempotent(1)), -45) << "the second retry overtook the first";
  EXPECT_EQ(world.append(idempotent(0)), 0);
  EXPECT_EQ(world.append(idempotent(1)), 1);
  EXPECT_EQ(world.append(idempotent(0)), 0) << "known again as a retry";
}

TEST(Partition, a_disk_without_room_for_a_ledger_still_seals) {
  WorldOptions options;
  options.settings.segment_bytes = 256_KiB;
  PartitionWorld world(21, options);
  ASSERT_TRUE(world.start());
  Call<AppendRequest> last;
  const auto batch = log::make_batch(1, 1, 50'000);
  for (int64_t i = 0; i < 5; ++i) ASSERT_EQ(world.append(batch), i);
  world.send_append(last, batch);
  const auto next_file = world.segment_path(5, log::kLogSuffix);
  auto& disk = world.sim().disk();
  ASSERT_TRUE(world.run_until([&] {
    return disk.exists(next_file) && disk.content(next_file).size() >= 256_KiB;
  }));
  disk.set_size_bytes(0);
  ASSERT_TRUE(world.run_until([&] { return last.done; }));
  world.sim().run_for(1'000'000'000);
  EXPECT_FALSE(world.journal().failed());
  EXPECT_TRUE(world.partition().log().segments().front()->sealed);
  disk.set_size_bytes(1 << 30);
  world.crash();
  ASSERT_TRUE(world.start()) << world.failure();
  ErrorCode error{};
  EXPECT_EQ(world.read_all(0, error).size(), 6 * batch.size());
  EXPECT_EQ(error, ErrorCode::none);
}

TEST(Partition, a_failing_device_leaves_the_outcome_open_for_what_was_submitted) {
  WorldOptions options;
  options.sim.faults.disk_latency_ns = 3'000'000;
  PartitionWorld world(22, options);
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(1)), 0);
  world.sim().faults().write_error = 1;
  Call<AppendRequest> submitted;
  const auto batch = log::make_batch(1);
  world.send_append(submitted, batch);
  ASSERT_TRUE(world.run_until([&] { return submitted.done; }));
  EXPECT_EQ(submitted.error, ErrorCode::kafka_storage_error);
  EXPECT_TRUE(submitted.outcome_unknown) << "it may be on the disk";
  EXPECT_TRUE(world.journal().failed());
  Call<AppendRequest> later;
  world.send_append(later, batch);
  ASSERT_TRUE(world.run_until([&] { return later.done; }));
  EXPECT_EQ(later.error, ErrorCode::kafka_storage_error);
  EXPECT_FALSE(later.outcome_unknown) << "it was never submitted";
  Read read(0, model::Offset(0), 1000);
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.item.error, ErrorCode::none) << "what is durable can still be read";
  EXPECT_EQ(read.item.high_watermark.value(), 1);
}

TEST(Partition, a_clean_stop_leaves_nothing_open_and_everything_there) {
  PartitionWorld world(23);
  ASSERT_TRUE(world.start());
  for (int64_t i = 0; i < 10; ++i) ASSERT_EQ(world.append(idempotent(static_cast<int32_t>(i))), i);
  world.table().prepare_stop();
  ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); }));
  world.crash(CrashKind::power_cut);
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.partition().high_watermark().value(), 10);
  EXPECT_EQ(world.append(idempotent(9)), 9) << "the window survives";
  EXPECT_EQ(world.append(idempotent(10)), 10);
}

}  // namespace
}  // namespace weir::partition
