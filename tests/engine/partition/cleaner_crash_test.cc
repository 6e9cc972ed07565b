// Compaction and what goes wrong: crashes at any event, a full disk, a failing one, rot; and
// transactions under it, as read_committed sees them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "engine/log/transaction_marker.h"
#include "engine/partition/cleaner.h"
#include "tests/engine/partition/cleaner_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;

// Crash at any moment: appends, passes and file removals go on until the world dies, again and
// again; what was acknowledged and only that is there, and no tombstone is missing before its time.
void survive(uint64_t seed, io::sim::Persistence persistence) {
  WorldOptions with = compacting();
  with.sim.faults.persistence = persistence;
  base::RandomStream random(seed, "cleaner crashes");
  if (random.chance(0.5)) with.partition.cleaner.memory_bytes = 1;
  with.settings.delete_retention_ms = random.chance(0.5) ? 0 : kDay;
  with.settings.file_delete_delay_ms = random.chance(0.5) ? 0 : 60'000;
  CleanerWorld world(seed, with);
  ASSERT_TRUE(world.start());
  for (int life = 0; life < 6; ++life) {
    world.table().start_cleaner();
    const int count = static_cast<int>(random.between(20, 120));
    const uint64_t bytes = world.metrics().cleaner_bytes_read + random.below(600'000);
    bool alive = world.fill(random, count, 8);
    if (alive) {
      alive = world.run_until(
          [&] {
            return world.metrics().cleaner_bytes_read >= bytes ||
                   world.table().cleaner().looks() > 20;
          });
    }
    ASSERT_TRUE(alive);
    world.crash(random.chance(0.7) ? io::sim::CrashKind::power_cut
                                   : io::sim::CrashKind::process_kill);
    ASSERT_TRUE(world.start()) << "seed " << seed << ": " << world.failure();
    const auto seen = world.read_map();
    ASSERT_TRUE(seen.sound) << "seed " << seed << " life " << life;
    ASSERT_EQ(seen.map, world.model) << "seed " << seed << " life " << life;
    ASSERT_EQ(world.partition().high_watermark().value(), world.end);
    ASSERT_EQ(world.files_of(".cleaning"), 0u);
  }
}

class CleanerSeeds : public testing::TestWithParam<int> {};
TEST_P(CleanerSeeds, the_map_survives_a_crash_at_any_moment) {
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 100 + i;
    survive(seed, io::sim::Persistence::posix_minimal);
    survive(seed, io::sim::Persistence::ext4_ordered);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(many, CleanerSeeds, testing::Range(1, 6));

// The crash comes at a drawn event while a pass runs: between any two steps of it.
TEST(CleanerCrash, any_event_of_a_pass_may_be_the_last) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    base::RandomStream random(seed, "pass crashes");
    WorldOptions with = compacting();
    if (seed % 3 == 0) with.sim.faults.persistence = io::sim::Persistence::ext4_ordered;
    with.settings.file_delete_delay_ms = seed % 2 == 0 ? 0 : 1000;
    with.settings.delete_retention_ms = 0;
    CleanerWorld world(seed, with);
    ASSERT_TRUE(world.start());
    ASSERT_TRUE(world.fill(random, 150));
    for (int life = 0; life < 4; ++life) {
      ASSERT_TRUE(world.fill(random, 40));
      world.table().start_cleaner();
      world.sim().crash_at_event(
          world.sim().event_count() + random.between(1, 900),
          random.chance(0.7) ? CrashKind::power_cut : CrashKind::process_kill);
      world.clean();
      world.sim().crash_at_event(UINT64_MAX, CrashKind::process_kill);
      if (!world.sim().crashed()) world.sim().crash(CrashKind::power_cut);
      world.restart();
      ASSERT_TRUE(world.start()) << "seed " << seed << ": " << world.failure();
      const auto seen = world.read_map();
      ASSERT_TRUE(seen.sound) << "seed " << seed << " life " << life;
      ASSERT_EQ(seen.map, world.model) << "seed " << seed << " life " << life;
      ASSERT_EQ(world.partition().high_watermark().value(), world.end);
      ASSERT_EQ(world.files_of(".cleaning"), 0u);
    }
  }
}

TEST(CleanerCrash, a_start_after_a_crash_while_starting_finds_the_same) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    base::RandomStream random(seed, "start crashes");
    CleanerWorld world(seed);
    ASSERT_TRUE(world.start());
    ASSERT_TRUE(world.fill(random, 150));
    world.table().start_cleaner();
    const uint64_t bytes = random.below(200'000);
    ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_bytes_read >= bytes; }));
    world.crash(CrashKind::power_cut);
    for (int depth = 0; depth < 3; ++depth) {
      world.sim().crash_at_event(world.sim().event_count() + random.between(1, 120),
                                 CrashKind::power_cut);
      world.start();
      world.sim().crash_at_event(UINT64_MAX, CrashKind::process_kill);
      if (!world.sim().crashed()) world.sim().crash(CrashKind::power_cut);
      world.restart();
    }
    ASSERT_TRUE(world.start()) << "seed " << seed << ": " << world.failure();
    ASSERT_EQ(world.read_map().map, world.model) << "seed " << seed;
    ASSERT_EQ(world.partition().high_watermark().value(), world.end);
  }
}

TEST(CleanerErrors, a_full_disk_costs_the_pass_and_leaves_nothing) {
  WorldOptions with = compacting();
  with.sim.disk_size_bytes = 2 << 20;
  CleanerWorld world(3, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(3);
  // Every key once: a pass needs as much room as there is data.
  int count = 0;
  while (count < 2000 && world.put("key" + std::to_string(count), std::string(2000, 'x'))) ++count;
  ASSERT_LT(count, 2000);
  world.table().start_cleaner();
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_failed >= 3; }));
  ASSERT_TRUE(world.run_until([&] { return world.table().cleaner().idle(); }));
  EXPECT_EQ(world.metrics().cleaner_passes, 0u);
  EXPECT_EQ(world.metrics().cleaner_stuck, 0u) << "there may be room again";
  EXPECT_EQ(world.files_of(".cleaning"), 0u);
  EXPECT_EQ(world.read_map().map, world.model);
  EXPECT_FALSE(world.journal().failed());
}

TEST(CleanerErrors, a_failing_disk_ends_it_for_the_partition) {
  CleanerWorld world(4);
  ASSERT_TRUE(world.start());
  base::RandomStream random(4);
  ASSERT_TRUE(world.fill(random, 150));
  ASSERT_TRUE(world.run_until([&] { return world.partition().quiet(); }));
  world.sim().faults().read_error = 1;
  world.table().start_cleaner();
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_failed == 1; }));
  world.sim().faults().read_error = 0;
  const uint64_t looks = world.table().cleaner().looks() + 5;
  ASSERT_TRUE(world.run_until([&] { return world.table().cleaner().looks() >= looks; }));
  EXPECT_EQ(world.metrics().cleaner_failed, 1u) << "not tried again";
  EXPECT_EQ(world.metrics().cleaner_stuck, 1u);
  EXPECT_GT(world.metrics().cleaner_uncleanable_bytes, 0u);
  EXPECT_EQ(world.metrics().cleaner_uncleanable_bytes, world.metrics().cleaner_dirty_bytes);
  EXPECT_EQ(world.metrics().cleaner_passes, 0u);
  EXPECT_FALSE(world.journal().failed());
  EXPECT_EQ(world.read_map().map, world.model);
  world.table().remove(key_of(0));
  const uint64_t more = world.table().cleaner().looks() + 2;
  ASSERT_TRUE(world.run_until([&] { return world.table().cleaner().looks() >= more; }));
  EXPECT_EQ(world.metrics().cleaner_stuck, 0u) << "its topic is gone";
  EXPECT_EQ(world.metrics().cleaner_uncleanable_bytes, 0u);
}

TEST(CleanerErrors, a_failing_write_costs_no_record) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CleanerWorld world(seed);
    ASSERT_TRUE(world.start());
    base::RandomStream random(seed);
    ASSERT_TRUE(world.fill(random, 150));
    ASSERT_TRUE(world.run_until([&] { return world.partition().quiet(); }));
    world.table().start_cleaner();
    const uint64_t bytes = random.below(400'000);
    world.run_until([&] { return world.metrics().cleaner_bytes_read >= bytes; });
    (seed % 2 == 0 ? world.sim().faults().write_error : world.sim().faults().sync_error) = 1;
    world.run_until([&] {
      return world.metrics().cleaner_failed > 0 || world.metrics().cleaner_passes > 0 ||
             world.journal().failed();
    });
    world.sim().faults().write_error = world.sim().faults().sync_error = 0;
    EXPECT_EQ(world.read_map().map, world.model) << "seed " << seed;
    world.crash(CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.read_map().map, world.model) << "seed " << seed;
  }
}

TEST(CleanerErrors, a_damaged_segment_stays_as_it_is_and_ends_the_clean_part) {
  CleanerWorld world(5);
  ASSERT_TRUE(world.start());
  base::RandomStream random(5);
  ASSERT_TRUE(world.fill(random, 300));
  ASSERT_TRUE(world.run_until([&] { return world.partition().quiet(); }));
  const auto names = world.names();
  ASSERT_GT(names.size(), 6u);
  const auto path =
      log::segment_file(world.directory(), names[4], log::kLogSuffix);
  world.sim().disk().corrupt(path, 20'000, std::byte{1});
  world.table().start_cleaner();
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_passes > 0; }));
  const uint64_t looks = world.table().cleaner().looks() + 2;
  ASSERT_TRUE(world.run_until([&] {
    return world.table().cleaner().looks() >= looks && world.table().cleaner().idle();
  }));
  EXPECT_EQ(world.metrics().cleaner_stuck, 1u);
  uint64_t behind = 0;
  for (const auto& segment : world.partition().log().segments()) {
    if (segment->sealed && segment->base_offset >= names[4].base_offset) behind += segment->end;
  }
  EXPECT_EQ(world.metrics().cleaner_uncleanable_bytes, behind);
  const auto after = world.names();
  EXPECT_TRUE(after.front().is_cleaned());
  EXPECT_EQ(world.partition().log().clean_end(), names[4].base_offset);
  for (size_t i = 4; i < names.size(); ++i) {
    EXPECT_NE(std::ranges::find(after, names[i]), after.end()) << "segment " << i;
  }
  Read read(0, names[4].base_offset, 1 << 20);
  ASSERT_TRUE(world.read(read));
  EXPECT_EQ(read.item.error, model::ErrorCode::kafka_storage_error) << "not served either";
}

TEST(CleanerErrors, without_its_ledger_a_cleaned_segment_is_read_all_the_same) {
  CleanerWorld world(6);
  ASSERT_TRUE(world.start());
  base::RandomStream random(6);
  ASSERT_TRUE(world.fill(random, 200));
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  world.crash();
  for (const auto& path : world.sim().disk().files()) {
    if (!path.ends_with(".ledger")) continue;
    world.sim().disk().corrupt(path, 3, std::byte{1});
  }
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.read_map().map, world.model);
  world.table().start_cleaner();
  ASSERT_TRUE(world.fill(random, 100));
  ASSERT_TRUE(world.clean());
  EXPECT_EQ(world.read_map().map, world.model);
}

// Transactions of a few producers over a few keys; the model is what they committed.
class TransactionWorld : public CleanerWorld {
 public:
  using CleanerWorld::CleanerWorld;

  bool run_transaction(base::RandomStream& random, int64_t id, bool commit) {
    Map written;
    for (uint64_t i = random.between(1, 4); i > 0; --i) {
      const std::string key = "k" + std::to_string(random.below(6));
      const std::string value = std::to_string(random.next()) + std::string(3000, '.');
      builder_.reset({.producer_id = model::ProducerId(id),
                      .producer_epoch = model::ProducerEpoch(0),
                      .base_sequence = model::Sequence(sequences[id]++),
                      .transactional = true});
      builder_.append(base::as_bytes(key), base::as_bytes(value), 1'700'000'000'000);
      if (append(builder_.finish()) < 0) return false;
      written[key] = value;
    }
    Call<MarkerRequest> call;
    call.key = key_of(0);
    call.producer_id = model::ProducerId(id);
    call.producer_epoch = model::ProducerEpoch(0);
    call.marker = {.commit = commit, .coordinator_epoch = 1};
    if (!ask(call, model::ports::kWriteMarker) || call.error != model::ErrorCode::none) {
      return false;
    }
    end = call.base_offset.value() + 1;
    if (commit) {
      for (const auto& [key, value] : written) model[key] = value;
    }
    return true;
  }

  // As a consumer with isolation.level=read_committed does it, read by read.
  Map read_committed(uint32_t size_max) {
    Map map;
    std::map<int64_t, bool> aborted;
    model::Offset at = partition().log_start_offset();
    while (at < partition().last_stable_offset()) {
      Read call(0, at, size_max);
      call.item.read_committed = true;
      call.items = std::span(&call.item, 1);
      if (!ask(call, model::ports::kRead) || call.item.size == 0) break;
      std::vector<std::byte> bytes;
      for (const io::Slice& piece : call.item.pieces) {
        bytes.insert(bytes.end(), piece.data, piece.data + piece.size);
      }
      std::vector<AbortedTransaction> list(call.item.aborted.begin(), call.item.aborted.end());
      EXPECT_TRUE(ask(call, model::ports::kReleaseRead));
      aborted.clear();
      for (std::span<const std::byte> left = bytes; !left.empty();) {
        const log::BatchView batch(left);
        left = left.subspan(batch.size());
        at = batch.next_offset();
        const int64_t id = batch.producer_id().value();
        for (const auto& item : list) {
          if (item.first_offset <= batch.last_offset()) aborted.try_emplace(
              item.producer_id.value(), true);
        }
        std::erase_if(list, [&](const auto& item) {
          return item.first_offset <= batch.last_offset();
        });
        if (batch.is_control()) {
          const auto marker = log::read_marker(batch);
          if (marker && !marker->commit) aborted.erase(id);
          continue;
        }
        if (batch.is_transactional() && aborted.contains(id)) continue;
        std::span<const std::byte> records = batch.records();
        log::Record record;
        for (int32_t i = 0; i < batch.record_count(); ++i) {
          if (!log::read_record(records, record)) break;
          map[std::string(base::as_text(*record.key))] = base::as_text(*record.value);
        }
      }
    }
    return map;
  }

  std::map<int64_t, int32_t> sequences;

 private:
  log::BatchBuilder builder_;
};

TEST(CleanerTransactions, readers_see_what_was_committed_whatever_was_cleaned) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    base::RandomStream random(seed, "transactions");
    WorldOptions with = compacting();
    with.settings.delete_retention_ms = random.chance(0.7) ? 0 : kDay;
    with.settings.file_delete_delay_ms = 0;
    TransactionWorld world(seed, with);
    ASSERT_TRUE(world.start());
    for (int life = 0; life < 5; ++life) {
      world.table().start_cleaner();
      for (int i = 0; i < 25; ++i) {
        ASSERT_TRUE(world.run_transaction(random, static_cast<int64_t>(random.below(4)),
                                          random.chance(0.6)))
            << "seed " << seed << " life " << life << ": sequences go on";
        if (!random.chance(0.1)) continue;
        ASSERT_TRUE(world.clean());
        ASSERT_EQ(world.read_committed(20'000), world.model) << "seed " << seed;
      }
      ASSERT_EQ(world.read_committed(1 << 20), world.model) << "seed " << seed;
      if (random.chance(0.3)) {
        // The snapshot is derived data: without it the batches must say enough.
        world.sim().disk().corrupt(fmt::format("{}/producers.snapshot", world.directory()), 40,
                                   std::byte{1});
      }
      world.crash(random.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill);
      ASSERT_TRUE(world.start()) << world.failure();
      ASSERT_EQ(world.partition().last_stable_offset().value(), world.end);
      ASSERT_EQ(world.read_committed(7000), world.model) << "seed " << seed << " life " << life;
    }
  }
}

}  // namespace
}  // namespace weir::partition
