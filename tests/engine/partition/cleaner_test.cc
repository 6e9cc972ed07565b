// Compaction of whole partitions over simulated files: what readers see before, while and after,
// and when it happens.

#include "engine/partition/cleaner.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/partition/cleaner_world.h"

namespace weir::partition {
namespace {

TEST(Cleaner, the_last_value_of_each_key_stays_and_offsets_do) {
  CleanerWorld world;
  ASSERT_TRUE(world.start());
  base::RandomStream random(1);
  ASSERT_TRUE(world.fill(random, 300));
  const auto before = world.read_map();
  ASSERT_EQ(before.map, world.model);
  ASSERT_GT(world.names().size(), 5u);
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  const auto after = world.read_map();
  EXPECT_TRUE(after.sound);
  EXPECT_EQ(after.map, world.model);
  EXPECT_LT(after.offsets.size(), 80u);
  const std::set<int64_t> all(before.offsets.begin(), before.offsets.end());
  for (const int64_t offset : after.offsets) EXPECT_TRUE(all.contains(offset));
  EXPECT_EQ(world.partition().high_watermark().value(), world.end);
  EXPECT_EQ(world.partition().log_start_offset().value(), 0);
  EXPECT_TRUE(world.names().front().is_cleaned());
  EXPECT_GT(world.metrics().cleaner_passes, 0u);
  EXPECT_GT(world.metrics().cleaner_records_removed, 150u);
  EXPECT_GT(world.metrics().cleaner_bytes_read, world.metrics().cleaner_bytes_written);
}

TEST(Cleaner, a_read_at_any_offset_goes_on) {
  CleanerWorld world;
  ASSERT_TRUE(world.start());
  base::RandomStream random(2);
  ASSERT_TRUE(world.fill(random, 200));
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  for (int64_t offset = 0; offset < world.end; ++offset) {
    Read read(0, model::Offset(offset), 1);
    ASSERT_TRUE(world.read(read));
    ASSERT_EQ(read.item.error, model::ErrorCode::none) << offset;
    ASSERT_FALSE(read.bytes.empty()) << offset;
    EXPECT_GT(log::BatchView(read.bytes).next_offset().value(), offset) << "no progress";
  }
  // As a fetch of everything in small steps, also after a start.
  world.crash();
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.read_map(1).map, world.model);
}

TEST(Cleaner, files_of_what_was_replaced_go_after_their_delay) {
  CleanerWorld world;
  ASSERT_TRUE(world.start());
  base::RandomStream random(3);
  ASSERT_TRUE(world.fill(random, 200));
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  const size_t segments = world.names().size();
  EXPECT_TRUE(world.run_until([&] { return world.files_of(".log") == segments; }));
  EXPECT_EQ(world.files_of(".cleaning"), 0u);
  EXPECT_LE(world.files_of(".ledger"), segments);
  EXPECT_EQ(world.read_map().map, world.model);
}

TEST(Cleaner, nothing_is_cleaned_of_other_topics_or_below_the_ratio) {
  WorldOptions with = compacting();
  with.settings.compact = false;
  CleanerWorld world(4, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(4);
  ASSERT_TRUE(world.fill(random, 100));
  world.table().start_cleaner();
  const auto looked = [&](uint64_t more) {
    const uint64_t looks = world.table().cleaner().looks() + more;
    return world.run_until([&] { return world.table().cleaner().looks() >= looks; });
  };
  ASSERT_TRUE(looked(3));
  EXPECT_EQ(world.metrics().cleaner_passes, 0u);
  PartitionSettings settings = compacting().settings;
  settings.min_cleanable_ratio = 1;  // everything is dirty, and that is not more
  world.partition().set_settings(settings);
  ASSERT_TRUE(looked(3));
  EXPECT_EQ(world.metrics().cleaner_passes, 0u);
  EXPECT_GT(world.metrics().cleaner_dirty_bytes, 0u);
  settings.min_cleanable_ratio = 0.99;
  world.partition().set_settings(settings);
  ASSERT_TRUE(world.clean());
  EXPECT_EQ(world.metrics().cleaner_passes, 1u);
  settings.min_cleanable_ratio = 0.5;
  world.partition().set_settings(settings);
  ASSERT_TRUE(looked(3));
  EXPECT_EQ(world.metrics().cleaner_passes, 1u) << "a clean log is left alone";
}

TEST(Cleaner, records_younger_than_the_lag_are_not_cleaned) {
  WorldOptions with = compacting();
  with.settings.min_compaction_lag_ms = kDay;
  with.partition.cleaner.backoff_ms = 60'000;
  CleanerWorld world(5, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(5);
  ASSERT_TRUE(world.fill(random, 100));
  world.table().start_cleaner();
  const uint64_t looks = world.table().cleaner().looks() + 5;
  ASSERT_TRUE(world.run_until([&] { return world.table().cleaner().looks() >= looks; }));
  EXPECT_EQ(world.metrics().cleaner_passes, 0u);
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_passes > 0; },
                              2 * kDay * 1'000'000));
  EXPECT_EQ(world.read_map().map, world.model);
}

TEST(Cleaner, records_older_than_the_lag_are_cleaned_whatever_the_ratio) {
  WorldOptions with = compacting();
  with.settings.min_cleanable_ratio = 1;
  with.settings.max_compaction_lag_ms = kDay;
  with.partition.cleaner.backoff_ms = 60'000;
  for (const bool restarted : {false, true}) {
    CleanerWorld world(6, with);
    ASSERT_TRUE(world.start());
    base::RandomStream random(6);
    ASSERT_TRUE(world.fill(random, 100));
    if (restarted) {
      world.crash();
      ASSERT_TRUE(world.start()) << world.failure();
    }
    const int64_t began = world.sim().core(0).clock.now() - io::Instant{};
    world.table().start_cleaner();
    ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_passes > 0; },
                                3 * kDay * 1'000'000));
    const int64_t took = world.sim().core(0).clock.now() - io::Instant{} - began;
    EXPECT_GT(took, (kDay - 3'600'000) * 1'000'000);
    EXPECT_EQ(world.read_map().map, world.model);
  }
}

TEST(Cleaner, delete_markers_are_seen_for_their_time_and_then_go) {
  WorldOptions with = compacting();
  with.settings.delete_retention_ms = kDay;
  CleanerWorld world(7, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(7);
  ASSERT_TRUE(world.put("gone", "value"));
  ASSERT_TRUE(world.fill(random, 60));
  ASSERT_TRUE(world.put("gone", ""));
  ASSERT_TRUE(world.fill(random, 60));
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  ASSERT_TRUE(world.read_map().tombstones.contains("gone"));
  world.crash(io::sim::CrashKind::power_cut);
  ASSERT_TRUE(world.start()) << world.failure();
  world.table().start_cleaner();
  ASSERT_TRUE(world.fill(random, 60));
  ASSERT_TRUE(world.clean());
  ASSERT_TRUE(world.read_map().tombstones.contains("gone")) << "its time is not over";
  bool later = false;
  io::Timer timer;
  struct Later {
    bool& flag;
    void set() { flag = true; }
  } setter{later};
  timer.bind<&Later::set>(setter);
  world.sim().core(0).loop.timers().arm_after(timer, 2 * kDay * 1'000'000);
  ASSERT_TRUE(world.run_until([&] { return later; }, 3 * kDay * 1'000'000));
  ASSERT_TRUE(world.fill(random, 60));
  ASSERT_TRUE(world.clean());
  const auto seen = world.read_map();
  EXPECT_FALSE(seen.tombstones.contains("gone"));
  EXPECT_EQ(seen.map, world.model);
}

TEST(Cleaner, a_map_too_small_for_all_cleans_in_several_passes) {
  WorldOptions with = compacting();
  with.partition.cleaner.memory_bytes = 1;  // log::OffsetMap::kMemoryMin
  CleanerWorld world(8, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(8);
  ASSERT_TRUE(world.fill(random, 6000, 100'000, 10));
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  EXPECT_GT(world.metrics().cleaner_passes, 1u);
  EXPECT_EQ(world.read_map().map, world.model);
}

TEST(Cleaner, settings_change_while_a_pass_rests_and_between_passes) {
  WorldOptions with = compacting();
  with.partition.cleaner.bytes_per_second = 1;
  CleanerWorld world(9, with);
  ASSERT_TRUE(world.start());
  base::RandomStream random(9);
  ASSERT_TRUE(world.fill(random, 200));
  world.table().start_cleaner();
  const int64_t hour_ns = int64_t{3'600} * 1'000'000'000;
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_bytes_read > 0; }));
  EXPECT_FALSE(world.run_until([&] { return world.metrics().cleaner_passes > 0; }, hour_ns));
  CleanerConfig config = world.table().cleaner().config();
  config.bytes_per_second = 1e9;
  world.table().cleaner().set_config(config);
  EXPECT_TRUE(world.clean()) << "the rest of an hour ends when another limit comes";
  EXPECT_EQ(world.read_map().map, world.model);

  // The pause between two looks under way, too.
  const auto looks_again = [&] {
    const uint64_t looks = world.table().cleaner().looks();
    return world.run_until([&] { return world.table().cleaner().looks() > looks; }, hour_ns);
  };
  config.backoff_ms = 1'000'000'000'000;
  world.table().cleaner().set_config(config);
  EXPECT_FALSE(looks_again());
  EXPECT_GE(world.table().cleaner().ms_since_run(), hour_ns / 1'000'000);
  config.backoff_ms = std::numeric_limits<int64_t>::max();
  world.table().cleaner().set_config(config);
  EXPECT_FALSE(looks_again());
  config.backoff_ms = 0;
  config.memory_bytes = 1;  // log::OffsetMap::kMemoryMin
  world.table().cleaner().set_config(config);
  EXPECT_TRUE(looks_again());
  EXPECT_LT(world.table().cleaner().ms_since_run(), 1000);
  const uint64_t passes = world.metrics().cleaner_passes;
  config.backoff_ms = 1'000'000'000;
  world.table().cleaner().set_config(config);
  ASSERT_TRUE(world.fill(random, 6000, 100'000, 10));
  config.backoff_ms = 100;
  world.table().cleaner().set_config(config);
  ASSERT_TRUE(world.clean());
  EXPECT_GT(world.metrics().cleaner_passes, passes + 1) << "a smaller map needs several passes";
  EXPECT_EQ(world.read_map().map, world.model);
}

TEST(Cleaner, figures_say_how_dirty_and_how_late) {
  WorldOptions with = compacting();
  with.settings.min_cleanable_ratio = 1;
  with.settings.max_compaction_lag_ms = kDay;
  CleanerWorld world(10, with);
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.table().cleaner().ms_since_run(), 0) << "before the first";
  base::RandomStream random(10);
  ASSERT_TRUE(world.fill(random, 100));
  const auto wait = [&](int64_t ms) {
    const auto until = world.sim().core(0).clock.now() + ms * 1'000'000;
    ASSERT_TRUE(world.run_until([&] { return world.sim().core(0).clock.now() >= until; },
                                10 * kDay * 1'000'000));
  };
  const auto look = [&] {
    const uint64_t looks = world.table().cleaner().looks() + 2;
    ASSERT_TRUE(world.run_until([&] { return world.table().cleaner().looks() >= looks; },
                                2 * kDay * 1'000'000));
  };
  CleanerConfig slow = with.partition.cleaner;
  slow.bytes_per_second = 1;
  world.table().cleaner().set_config(slow);
  world.table().start_cleaner();
  look();
  EXPECT_EQ(world.metrics().cleaner_dirty_percent.value, 100u);
  EXPECT_EQ(world.metrics().cleaner_delay_s.value, 0u);
  slow.backoff_ms = 2 * kDay;
  world.table().cleaner().set_config(slow);
  wait(2 * kDay + 60'000);
  EXPECT_EQ(world.metrics().cleaner_overdue, 1u);
  // The look was two days after the records, give or take the time that filling took.
  EXPECT_GE(world.metrics().cleaner_delay_s.value, 86'000u);
  EXPECT_LE(world.metrics().cleaner_delay_s.value, 90'000u);
  world.table().cleaner().set_config(with.partition.cleaner);
  ASSERT_TRUE(world.clean());
  look();
  EXPECT_EQ(world.metrics().cleaner_delay_s.value, 0u);
  EXPECT_EQ(world.metrics().cleaner_dirty_percent.value, 0u);
  EXPECT_EQ(world.metrics().cleaner_uncleanable_bytes, 0u);
}

TEST(Cleaner, deleting_records_meanwhile_is_fine) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CleanerWorld world(seed);
    ASSERT_TRUE(world.start());
    base::RandomStream random(seed);
    ASSERT_TRUE(world.fill(random, 250));
    world.table().start_cleaner();
    const uint64_t bytes = random.below(300'000);
    ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_bytes_read >= bytes; }));
    Call<DeleteRecordsRequest> call;
    call.key = key_of(0);
    call.offset = model::Offset(static_cast<int64_t>(random.below(
        static_cast<uint64_t>(world.end))));
    ASSERT_TRUE(world.ask(call, model::ports::kDeleteRecords));
    ASSERT_EQ(call.error, model::ErrorCode::none);
    ASSERT_TRUE(world.fill(random, 100));
    ASSERT_TRUE(world.clean());
    const auto running = world.read_map();
    EXPECT_TRUE(running.sound);
    world.crash(io::sim::CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.partition().log_start_offset(), call.offset);
    EXPECT_EQ(world.partition().high_watermark().value(), world.end);
    const auto found = world.read_map();
    EXPECT_TRUE(found.sound) << "seed " << seed;
    EXPECT_EQ(found.offsets, running.offsets) << "seed " << seed;
    for (const auto& [key, value] : found.map) EXPECT_EQ(world.model[key], value);
  }
}

TEST(Cleaner, a_topic_may_go_and_a_core_may_stop_at_any_moment) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CleanerWorld world(seed);
    ASSERT_TRUE(world.start());
    base::RandomStream random(seed);
    ASSERT_TRUE(world.fill(random, 150));
    world.table().start_cleaner();
    const uint64_t bytes = 1 + random.below(500'000);
    ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_bytes_read >= bytes; }));
    const bool deleted = seed % 2 == 0;
    if (deleted) world.table().remove(key_of(0));
    else world.table().prepare_stop();
    ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); })) << "seed " << seed;
    if (deleted) continue;
    world.crash();
    ASSERT_TRUE(world.start()) << world.failure();
    EXPECT_EQ(world.read_map().map, world.model);
  }
}

}  // namespace
}  // namespace weir::partition
