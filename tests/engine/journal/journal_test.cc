// Proves: acknowledgements follow the order of the journal whatever order the device completes in;
// commits start early beside others when much waits; the ring wraps for many laps, grows, and gets
// space back from its sources; at any moment what was acknowledged is what a replay of the medium
// finds; after a failed write nothing is acknowledged.
//
// How: test sources (journal_support.h) over the simulated disk, whose completions are reordered; a
// ring of three records, the smallest allowed.
#include "engine/journal/journal.h"

#include <gtest/gtest.h>

#include "tests/engine/journal/journal_support.h"

namespace weir::journal {
namespace {

using io::sim::CrashKind;

TEST(Journal, acknowledges_once_durable) {
  JournalWorld world;
  world.source(0).append(1000);
  EXPECT_EQ(world.source(0).acked(), 0u) << "before the loop ran";
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  EXPECT_EQ(world.source(0).told(), 1);
  EXPECT_EQ(world.journal().metrics().commits, 1u);
  EXPECT_EQ(world.journal().durable_sequence(), 1u);
}

TEST(Journal, one_turn_is_one_commit) {
  JournalWorld world;
  for (size_t i = 0; i < 20; ++i) world.source(i).append(500);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  EXPECT_EQ(world.journal().metrics().commits, 1u);
}

TEST(Journal, more_sources_than_a_table_holds_take_several_records) {
  JournalWorld world;
  for (size_t i = 0; i < 300; ++i) world.source(i).append(20);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  EXPECT_GE(world.journal().metrics().commits, 3u);
}

TEST(Journal, acknowledgements_keep_the_order_of_the_journal) {
  // TestSource::committed() checks the order; slow writes among quick ones make it matter.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    io::sim::SimOptions options;
    options.faults.stuck_io = 0.3;
    options.faults.stuck_io_ns = 5'000'000;
    JournalWorld world(seed, tiny_config(), options);
    for (int round = 0; round < 40; ++round) {
      world.source(static_cast<size_t>(round) % 3).append(20'000);
      world.sim().run_for(100'000);
    }
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "seed " << seed;
  }
}

TEST(Journal, an_early_commit_starts_only_when_much_waits_and_few_are_in_flight) {
  Config config = tiny_config();
  config.commits_in_flight_max = 2;
  config.extent_threshold = 4 * 1024;
  io::sim::SimOptions options;
  options.faults.disk_latency_ns = 5'000'000;
  JournalWorld world(3, config, options);
  const auto records = [&] { return world.journal().metrics().record_bytes; };
  world.source(0).append(1000);
  world.sim().run_for(50'000);
  const uint64_t first = records();
  EXPECT_GT(first, 0u);
  world.source(0).append(1000);
  world.sim().run_for(50'000);
  EXPECT_EQ(records(), first) << "little waits: the next one starts when this one is over";
  world.source(0).append(config.early_commit_bytes);
  world.sim().run_for(50'000);
  const uint64_t second = records();
  EXPECT_GT(second, first) << "much waits";
  world.source(0).append(config.early_commit_bytes);
  world.sim().run_for(50'000);
  EXPECT_EQ(records(), second) << "two are in flight";
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
}

TEST(Journal, bytes_spread_thinly_wait_for_more_or_for_the_commit_in_flight) {
  Config config = tiny_config();
  config.extent_threshold = 8 * 1024;
  io::sim::SimOptions options;
  options.faults.disk_latency_ns = 5'000'000;
  JournalWorld world(4, config, options);
  const auto records = [&] { return world.journal().metrics().record_bytes; };
  const auto append_thinly = [&] {
    for (size_t i = 1; i <= 4; ++i) world.source(i).append(config.early_commit_bytes / 4);
    world.sim().run_for(50'000);
  };
  world.source(0).append(1000);
  world.sim().run_for(50'000);
  const uint64_t first = records();
  append_thinly();
  EXPECT_EQ(records(), first) << "enough, but a quarter of it each";
  append_thinly();
  EXPECT_GT(records(), first) << "twice enough";
  append_thinly();
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
}

TEST(Journal, a_quiet_journal_proves_its_last_record) {
  JournalWorld world;
  world.source(0).append(100);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  world.sim().run_for(100'000'000);
  EXPECT_EQ(world.journal().metrics().frontier_records, 1u);
  world.sim().run_for(1'000'000'000);
  EXPECT_EQ(world.journal().metrics().frontier_records, 1u) << "nothing new: nothing to prove";
  const auto acked = world.crash(CrashKind::power_cut);
  const auto replay = world.replay();
  ASSERT_TRUE(replay);
  EXPECT_GE(replay->acknowledged, 1u);
  EXPECT_EQ(found_source(*replay, 0).end(), acked[0]);
}

TEST(Journal, a_drained_journal_proves_its_last_record) {
  JournalWorld world;
  world.source(0).append(100);
  EXPECT_EQ(world.drain(), 0);
  EXPECT_EQ(world.source(0).acked(), 100u);
  world.crash(CrashKind::process_kill);
  const auto replay = world.replay();
  ASSERT_TRUE(replay);
  ASSERT_EQ(replay->records.size(), 2u);
  EXPECT_TRUE(replay->records[0].acknowledged);
}

TEST(Journal, drain_and_close_of_an_idle_journal) {
  JournalWorld world;
  EXPECT_EQ(world.drain(), 0);
  EXPECT_EQ(world.journal().metrics().commits, 0u);
  world.journal().close(world.op());
  world.wait();
  EXPECT_EQ(world.op().result(), 0);
}

TEST(Journal, grows_in_steps_up_to_its_limit) {
  Config config = tiny_config();
  config.size_max = config.size_initial + 4 * config.growth_step;
  JournalWorld world(5, config);
  for (int round = 0; round < 200; ++round) {
    world.source(static_cast<size_t>(round) % 4).append(9'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  }
  EXPECT_EQ(world.journal().metrics().growths, 4u);
  EXPECT_EQ(world.sim().disk().content(JournalWorld::kPath).size(), config.size_max);
  const auto acked = world.crash(CrashKind::power_cut);
  const auto replay = world.replay();
  ASSERT_TRUE(replay);
  for (size_t i = 0; i < 4; ++i) {
    const auto found = found_source(*replay, static_cast<int32_t>(i));
    EXPECT_EQ(found.end(), acked[i]);
    EXPECT_EQ(found.bytes, TestSource::content(static_cast<int32_t>(i), found.from, found.end()));
  }
}

TEST(Journal, a_full_disk_keeps_the_ring_as_it_is) {
  Config config = tiny_config();
  config.size_max = config.size_initial + 4 * config.growth_step;
  JournalWorld world(5, config);
  world.sim().disk().set_size_bytes(world.sim().disk().used_bytes());
  for (int round = 0; round < 100; ++round) {
    world.source(static_cast<size_t>(round) % 4).append(9'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  }
  EXPECT_FALSE(world.journal().failed());
  EXPECT_EQ(world.journal().metrics().growths, 0u);
}

TEST(Journal, a_stalled_ring_goes_on_when_sources_carry) {
  // The ring stalls again and again; what all sources carry fits into its reserve.
  for (uint64_t seed = 0; seed < 40; ++seed) {
    base::RandomStream random(seed, "sizes");
    JournalWorld world(seed);
    const size_t sources = random.between(3, 5);
    for (int round = 0; round < 100; ++round) {
      for (size_t i = 0; i < sources; ++i) world.source(i).append(random.between(3'000, 14'000));
      ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }))
          << "seed " << seed << " round " << round;
    }
    EXPECT_GT(world.journal().metrics().stalls, 0u) << "seed " << seed;
  }
}

TEST(Journal, what_is_short_goes_to_those_who_hold_the_oldest_records) {
  // What they carry is a good part of the ring: the order decides.
  JournalWorld world(11);
  for (int round = 0; round < 60; ++round) {
    for (size_t i = 0; i < 12; ++i) world.source(i).append(6'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "round " << round;
  }
  EXPECT_GT(world.journal().metrics().stalls, 0u);
}

TEST(Journal, the_reserve_grows_with_what_would_be_carried) {
  // An eighth of the ring to a third of it.
  for (uint64_t seed = 0; seed < 40; ++seed) {
    base::RandomStream random(seed, "sizes");
    JournalWorld world(seed);
    const size_t sources = random.between(6, 14);
    for (int round = 0; round < 60; ++round) {
      for (size_t i = 0; i < sources; ++i) world.source(i).append(random.between(10, 9'000));
      ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }))
          << "seed " << seed << " round " << round;
    }
  }
}

TEST(Journal, many_tiny_sources_get_by_with_a_small_ring) {
  JournalWorld world(13);
  for (int round = 0; round < 40; ++round) {
    for (size_t i = 0; i < 100; ++i) world.source(i).append(5);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "round " << round;
  }
  EXPECT_GT(world.journal().metrics().stalls, 0u);
}

TEST(Journal, a_source_that_goes_holds_nothing_back) {
  JournalWorld world(12);
  auto leaver = std::make_unique<TestSource>(world.journal(), 99);
  leaver->append(3'000);
  ASSERT_TRUE(world.run_until([&] { return leaver->acked() == 3'000; }));
  EXPECT_NE(leaver->oldest_needed(), 0u);
  world.journal().forget(*leaver);
  leaver.reset();
  for (int round = 0; round < 100; ++round) {
    world.source(0).append(9'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "round " << round;
  }
}

// Its commit is over and it goes at once, before the next source of the commit could say what it
// needs.
class Leaver : public TestSource {
 public:
  Leaver(Journal& journal, int32_t index) : TestSource(journal, index), leaves_(journal) {}
  void committed(const Part& part) override {
    TestSource::committed(part);
    leaves_.forget(*this);
  }

 private:
  Journal& leaves_;
};

TEST(Journal, a_source_that_goes_takes_nothing_of_the_others_along) {
  JournalWorld world(12);
  Leaver leaver(world.journal(), 7);
  leaver.append(1'000);
  world.source(0).append(1'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked() && leaver.acked() == 1'000; }));
  world.source(0).append(1'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  const Bytes file = world.sim().disk().content(JournalWorld::kPath);
  RecordHeader first;
  RecordHeader second;
  const auto header = [&](uint64_t at, RecordHeader& out) {
    return decode_header(std::span(file).subspan(at, io::kBlockSize), log_id(), 1, at, out);
  };
  ASSERT_EQ(header(kRecordsBegin, first), RecordFault::none);
  ASSERT_EQ(first.entry_count, 2u) << "one commit of both";
  ASSERT_EQ(header(kRecordsBegin + first.size, second), RecordFault::none);
  EXPECT_EQ(second.tail_sequence, first.sequence) << "the first record is needed";
}

TEST(Journal, a_source_that_let_go_holds_nothing_back) {
  JournalWorld world(14);
  world.source(1).append(3'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  EXPECT_NE(world.source(1).oldest_needed(), 0u);
  world.journal().release(world.source(1));
  EXPECT_EQ(world.source(1).oldest_needed(), 0u);
  for (int round = 0; round < 100; ++round) {
    world.source(0).append(9'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "round " << round;
  }
}

TEST(Journal, no_room_is_kept_for_a_source_that_let_go) {
  // More than half of the ring and less than seven eighths.
  JournalWorld world(14);
  world.source(1).append(3'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  world.journal().release(world.source(1));
  for (int round = 0; round < 10; ++round) {
    world.source(0).append(9'000);
    ASSERT_TRUE(world.run_until([&] { return world.all_acked(); })) << "round " << round;
  }
  EXPECT_EQ(world.journal().metrics().stalls, 0u);
}

TEST(Journal, after_a_failed_write_nothing_is_acknowledged) {
  JournalWorld world(13);
  world.source(0).append(1'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  world.sim().faults().write_error = 1;
  world.source(0).append(1'000);
  world.source(1).append(1'000);
  ASSERT_TRUE(world.run_until([&] { return world.journal().failed(); }));
  EXPECT_TRUE(world.source(0).failed());
  EXPECT_TRUE(world.source(1).failed());
  world.sim().faults().write_error = 0;
  world.sim().run_for(1'000'000'000);
  EXPECT_EQ(world.source(0).acked(), 1'000u);
  EXPECT_EQ(world.source(1).acked(), 0u);
  EXPECT_EQ(world.drain(), -EIO);
}

TEST(Journal, a_later_commit_is_not_acknowledged_when_an_earlier_one_failed) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    io::sim::SimOptions options;
    options.faults.write_error = 0.3;
    JournalWorld world(seed, tiny_config());
    world.sim().faults() = options.faults;
    for (int round = 0; round < 6 && !world.journal().failed(); ++round) {
      world.source(0).append(20'000);
      world.sim().run_for(5'000);
    }
    world.run_until([&] { return world.all_acked() || world.journal().failed(); });
    world.sim().run_for(10'000'000);
    const auto acked = world.crash(CrashKind::power_cut);
    const auto replay = world.replay();
    ASSERT_TRUE(replay) << "seed " << seed;
    EXPECT_GE(found_source(*replay, 0).end(), acked[0]) << "seed " << seed;
  }
}

TEST(Journal, a_growth_that_fails_with_an_error_fails_the_journal) {
  Config config = tiny_config();
  config.size_max = config.size_initial + 4 * config.growth_step;
  JournalWorld world(5, config);
  for (int round = 0; round < 6; ++round) world.source(0).append(8'000);
  ASSERT_TRUE(world.run_until([&] { return world.all_acked(); }));
  world.sim().faults().write_error = 1;
  world.source(0).append(20'000);
  ASSERT_TRUE(world.run_until([&] { return world.journal().failed(); }));
}

// After every commit the medium is cut off, and what a replay finds is compared with what was
// acknowledged: the tail is never reused before a durable record gave it up.
class JournalLaps : public testing::TestWithParam<uint64_t> {};

TEST_P(JournalLaps, replay_finds_what_was_acknowledged_at_any_moment) {
  constexpr uint64_t kSeedsEach = 25;
  for (uint64_t i = 0; i < kSeedsEach; ++i) {
    const uint64_t seed = GetParam() * kSeedsEach + i;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::RandomStream random(seed, "laps");
    io::sim::SimOptions options;
    if (random.chance(0.7)) options.faults = io::sim::Faults::draw(random);
    Config config = tiny_config();
    config.commits_in_flight_max = static_cast<uint32_t>(random.between(1, 4));
    config.early_commit_bytes = random.between(1, 32) * 1024;
    if (random.chance(0.3)) config.size_max += 3 * config.growth_step;
    JournalWorld world(seed, config, options);
    const size_t sources = random.between(1, 6);
    const uint64_t appends = random.between(1, 250);
    for (uint64_t n = 0; n < appends; ++n) {
      const uint64_t size = random.chance(0.2) ? random.between(8'000, 30'000)
                                               : random.between(1, 3'000);
      world.source(random.below(sources)).append(size);
      if (random.chance(0.5)) world.sim().run_for(static_cast<int64_t>(random.below(400'000)));
    }
    world.sim().run_for(static_cast<int64_t>(random.below(5'000'000)));
    ASSERT_FALSE(world.journal().failed());
    const size_t count = world.source_count();
    const auto kind = random.chance(0.7) ? CrashKind::power_cut : CrashKind::process_kill;
    const auto acked = world.crash(kind);
    const auto replay = world.replay();
    ASSERT_TRUE(replay);
    EXPECT_EQ(replay->damaged_records, 0u);
    EXPECT_EQ(replay->damaged_entries, 0u);
    for (size_t s = 0; s < count; ++s) {
      const auto index = static_cast<int32_t>(s);
      const FoundSource found = found_source(*replay, index);
      ASSERT_GE(found.end(), acked[s]) << "source " << s << " lost what was acknowledged";
      ASSERT_EQ(found.bytes, TestSource::content(index, found.from, found.end()));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(seeds, JournalLaps, testing::Range<uint64_t>(0, 8));

}  // namespace
}  // namespace weir::journal
