// Giving damaged offsets up: what is refused, what comes after it, and that it has happened or not
// wherever it is interrupted (RELIABILITY P7, 2.5).
//
// How: a partition is filled and its process killed when all is proved durable; bytes of one file
// are changed, a recovery finds what is there, GiveUp works on that, and a start follows.

#include "engine/partition/give_up.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/partition/cleaner.h"
#include "tests/engine/partition/cleaner_world.h"
#include "tests/engine/partition/filled_partition.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;
using model::Offset;

class GiveUpTest : public FilledPartition {
 protected:
  // Turns a bit in the records of the batch at this offset, in the file that was sealed with it.
  void damage(const std::string& path, int64_t offset) {
    const auto bytes = world.sim().disk().content(path);
    for (uint64_t at = 0; at + log::kBatchHeaderSize <= bytes.size();) {
      const log::BatchView batch(std::span<const std::byte>(bytes).subspan(at));
      ASSERT_EQ(batch.magic(), log::kBatchMagic);
      if (batch.base_offset().value() == offset) {
        return world.sim().disk().corrupt(path, at + log::kBatchHeaderSize + 20, std::byte{4});
      }
      at += batch.size();
    }
    FAIL() << "no batch at " << offset;
  }
  std::string segment(int64_t base) { return world.segment_path(base, log::kLogSuffix); }

  // What it says; empty: done.
  std::string give_up(std::vector<OffsetRange> ranges) {
    std::map<model::PartitionKey, Recovered> found;
    if (!world.recover(found)) return "no recovery: " + world.failure();
    GiveUp give_up(world.sim().core(0), world.directory());
    auto given_up = give_up.run(found.at(key_of(0)), ranges);
    if (!given_up) return given_up.error().detail;
    given = *given_up;
    return "";
  }
  std::string give_up(int64_t from, int64_t next) {
    return give_up({{Offset(from), Offset(next)}});
  }

  // Reads at every offset: those given up are jumped over, all others give their own batch.
  void check(std::vector<int64_t> gone) {
    ASSERT_EQ(world.partition().high_watermark().value(), next_);
    for (int64_t offset = 0; offset < next_; ++offset) {
      Read read(0, Offset(offset), 1);
      ASSERT_TRUE(world.read(read));
      ASSERT_EQ(read.item.error, ErrorCode::none) << offset;
      int64_t there = offset;
      while (std::ranges::count(gone, there) > 0) ++there;
      if (there == next_) {
        // The end of what was given up, as a batch without records or nothing.
        ASSERT_TRUE(read.bytes.empty() || log::BatchView(read.bytes).record_count() == 0);
        continue;
      }
      ASSERT_GE(read.bytes.size(), log::kBatchHeaderSize) << offset;
      const log::BatchView batch(read.bytes);
      if (batch.record_count() == 0) {
        ASSERT_GT(batch.next_offset().value(), offset);
        ASSERT_LE(batch.next_offset().value(), there) << offset;
        continue;
      }
      ASSERT_EQ(batch.base_offset().value(), there) << offset;
      const auto& sent = batches[static_cast<size_t>(there)];
      ASSERT_EQ(read.bytes.size(), sent.size()) << offset;
      ASSERT_TRUE(std::equal(sent.begin() + 16, sent.end(), read.bytes.begin() + 16)) << offset;
    }
  }
  ErrorCode error_at(int64_t offset) {
    Read read(0, Offset(offset), 1);
    EXPECT_TRUE(world.read(read));
    return read.item.error;
  }

  std::vector<Damage> given;
};

TEST_F(GiveUpTest, one_batch_of_a_sealed_segment) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_EQ(error_at(10), ErrorCode::kafka_storage_error);
  ASSERT_EQ(error_at(9), ErrorCode::kafka_storage_error) << "its group is refused whole";
  prove_and_kill();
  ASSERT_EQ(give_up(10, 11), "");
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].kind, Damage::Kind::checksum);
  EXPECT_EQ(given[0].base_offset, Offset(10));
  EXPECT_EQ(given[0].next_offset, Offset(11));
  EXPECT_EQ(given[0].refused_begin, Offset(8)) << "groups of 64 KiB";
  EXPECT_EQ(given[0].refused_end, Offset(16));
  EXPECT_FALSE(given[0].transactional);
  for (int life = 0; life < 3; ++life) {
    ASSERT_TRUE(world.start()) << world.failure();
    ASSERT_NO_FATAL_FAILURE(check({10}));
    ASSERT_NO_FATAL_FAILURE(check_goes_on());
    EXPECT_FALSE(world.sim().disk().exists(segment(0))) << "the damaged file went";
    prove_and_kill();
  }
  EXPECT_EQ(give_up(10, 11), "nothing is damaged at offsets 10..10");
}

TEST_F(GiveUpTest, a_read_goes_on_over_the_gap) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  ASSERT_EQ(give_up(10, 11), "");
  ASSERT_TRUE(world.start());
  ErrorCode error = ErrorCode::none;
  const auto bytes = world.read_all(0, error);
  EXPECT_EQ(error, ErrorCode::none);
  std::vector<int64_t> offsets;
  for (std::span<const std::byte> left = bytes; !left.empty();) {
    const log::BatchView batch(left);
    offsets.push_back(batch.base_offset().value());
    left = left.subspan(batch.size());
  }
  EXPECT_EQ(offsets.size(), 99u);
  EXPECT_EQ(std::ranges::count(offsets, 10), 0);
}

// A start found it in the journal; the segment is the active one, and part of it is in the journal.
TEST_F(GiveUpTest, a_quarantined_range_of_the_active_segment) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  const std::string journal = world.journal_path(world.generation());
  const auto bytes = world.sim().disk().content(journal);
  for (uint64_t at = journal::kRecordsBegin; at < bytes.size(); at += io::kBlockSize) {
    if (base::load_le<uint64_t>(bytes.data() + at) != journal::kRecordMagic ||
        base::load_le<uint64_t>(bytes.data() + at + 40) != 3) {
      continue;
    }
    world.sim().disk().corrupt(journal, at + 1'000, std::byte{1});
  }
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_EQ(error_at(2), ErrorCode::kafka_storage_error);
  ASSERT_NO_FATAL_FAILURE(fill(3, 700));
  prove_and_kill();
  ASSERT_EQ(give_up(2, 3), "");
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].kind, Damage::Kind::quarantined);
  for (int life = 0; life < 3; ++life) {
    ASSERT_TRUE(world.start()) << world.failure();
    ASSERT_NO_FATAL_FAILURE(check({2}));
    ASSERT_NO_FATAL_FAILURE(check_goes_on());
    prove_and_kill();
  }
}

TEST_F(GiveUpTest, straight_from_the_journal_before_any_start_saw_it) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  const std::string journal = world.journal_path(world.generation());
  world.sim().disk().corrupt(journal, journal::kRecordsBegin + 2 * 4096 + 1'000, std::byte{1});
  ASSERT_EQ(give_up(2, 3), "");
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({2}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(GiveUpTest, the_end_of_a_segment_and_a_whole_one) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  const auto names = world.files();
  ASSERT_TRUE(names.contains(segment(28)));
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 27));  // the last batch
  // The second one is cut short; no byte of it is left.
  io::Op op;
  struct Nothing {
    void on_done(io::Op&) {}
  } nothing;
  op.bind<&Nothing::on_done>(nothing);
  io::CoreIo& core = world.sim().core(0);
  core.disk.open(op, segment(28).c_str(), {});
  core.loop.run_until(op);
  const io::FileId file(op.result());
  core.disk.truncate(op, file, 100);
  core.loop.run_until(op);
  core.disk.sync(op, file);
  core.loop.run_until(op);
  core.disk.close(op, file);
  core.loop.run_until(op);
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(error_at(27), ErrorCode::kafka_storage_error);
  EXPECT_EQ(error_at(28), ErrorCode::kafka_storage_error);
  EXPECT_EQ(error_at(55), ErrorCode::kafka_storage_error);
  EXPECT_EQ(error_at(56), ErrorCode::none);
  prove_and_kill();
  ASSERT_EQ(give_up(27, 56), "") << "one range over two segments";
  EXPECT_EQ(given.size(), 2u);
  std::vector<int64_t> gone;
  for (int64_t offset = 27; offset < 56; ++offset) gone.push_back(offset);
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check(gone));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(GiveUpTest, only_what_is_damaged_and_all_that_is_damaged_together) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  EXPECT_EQ(give_up(3, 4), "nothing is damaged at offsets 3..3");
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 11));
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 20));
  const auto damaged = world.files();
  EXPECT_EQ(give_up(10, 11), "offsets 10..11 are lost together: name all of them");
  EXPECT_EQ(give_up(9, 12),
            "offsets 9..9 can be read: only what is damaged can be given up");
  EXPECT_EQ(give_up(10, 13),
            "offsets 12..12 can be read: only what is damaged can be given up");
  EXPECT_EQ(give_up(10, 12),
            "offsets 20..20 in the same segment are damaged, too: a segment is repaired as a "
            "whole, so name them as well");
  EXPECT_EQ(give_up(12, 12), "a range from 12 to 11 holds nothing");
  EXPECT_EQ(give_up(99, 101), "offsets 99..100 are not in the log, which has 0..99");
  EXPECT_TRUE(world.files() == damaged) << "refused is not half done";
  EXPECT_EQ(give_up({{Offset(20), Offset(21)}, {Offset(10), Offset(12)}}), "");
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({10, 11, 20}));
}

// Each event of it is the last one once.
TEST_F(GiveUpTest, interrupted_anywhere_it_happened_or_it_did_not) {
  ASSERT_NO_FATAL_FAILURE(fill(60, 9'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  const auto files = world.files();
  const uint64_t generation = world.generation();
  int before = 0;
  int after = 0;
  bool finished = false;
  for (uint64_t events = 1; !finished; ++events) {
    PartitionWorld life(events, options());
    life.adopt(generation, files);
    std::map<model::PartitionKey, Recovered> found;
    life.sim().crash_at_event(life.sim().event_count() + events,
                              events % 2 == 0 ? CrashKind::power_cut : CrashKind::process_kill);
    const OffsetRange range{Offset(10), Offset(11)};
    if (life.recover(found)) {
      GiveUp give_up(life.sim().core(0), life.directory());
      finished = give_up.run(found.at(key_of(0)), std::span(&range, 1)).has_value();
    }
    life.sim().crash_at_event(UINT64_MAX, CrashKind::process_kill);
    if (!life.sim().crashed()) life.sim().crash(CrashKind::power_cut);
    found.clear();
    life.restart();
    ASSERT_TRUE(life.start()) << life.failure();
    Read first(0, Offset(8), 1);
    ASSERT_TRUE(life.read(first));
    const bool repaired = first.item.error == ErrorCode::none;
    ASSERT_TRUE(repaired || !finished) << "done is durable";
    ++(repaired ? after : before);
    for (int64_t offset = 8; offset < 16; ++offset) {
      Read read(0, Offset(offset), 1);
      ASSERT_TRUE(life.read(read));
      ASSERT_EQ(read.item.error,
                repaired ? ErrorCode::none : ErrorCode::kafka_storage_error) << offset;
      if (!repaired) continue;
      ASSERT_EQ(log::BatchView(read.bytes).base_offset().value(), offset == 10 ? 11 : offset);
    }
    ASSERT_EQ(life.partition().high_watermark().value(), 60);
    for (const auto& path : life.sim().disk().files()) {
      ASSERT_FALSE(path.ends_with(".cleaning")) << path;
    }
  }
  EXPECT_GT(before, 20);
  EXPECT_GT(after, 1) << "between the rename and the end";
}

TEST_F(GiveUpTest, a_full_disk_costs_the_repair_only) {
  ASSERT_NO_FATAL_FAILURE(fill(60, 9'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  world.sim().faults().write_error = 1;
  EXPECT_NE(give_up(10, 11).find("cannot write"), std::string::npos);
  world.sim().faults().write_error = 0;
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(error_at(10), ErrorCode::kafka_storage_error);
  prove_and_kill();
  EXPECT_EQ(give_up(10, 11), "");
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({10}));
}

TEST_F(GiveUpTest, retention_lets_it_go_like_any_other) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(damage(segment(0), 10));
  ASSERT_EQ(give_up(10, 11), "");
  ASSERT_TRUE(world.start());
  Call<DeleteRecordsRequest> call;
  call.key = key_of(0);
  call.offset = Offset(40);
  ASSERT_TRUE(world.ask(call, model::ports::kDeleteRecords));
  ASSERT_EQ(call.error, ErrorCode::none);
  prove_and_kill();
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.partition().log_start_offset(), Offset(40));
  EXPECT_EQ(error_at(40), ErrorCode::none);
}

// A compacted log whose pass stopped in front of the damage is cleaned to its end again.
TEST(GiveUpCompacted, compaction_goes_on_behind_it) {
  CleanerWorld world(5);
  ASSERT_TRUE(world.start());
  base::RandomStream random(5);
  ASSERT_TRUE(world.fill(random, 300));
  ASSERT_TRUE(world.run_until([&] { return world.partition().quiet(); }));
  const auto names = world.names();
  ASSERT_GT(names.size(), 6u);
  world.sim().run_for(200'000'000);
  const auto path = log::segment_file(world.directory(), names[4], log::kLogSuffix);
  world.sim().disk().corrupt(path, 20'000, std::byte{1});
  world.table().start_cleaner();
  ASSERT_TRUE(world.run_until([&] { return world.metrics().cleaner_passes > 0; }));
  ASSERT_EQ(world.partition().log().clean_end(), names[4].base_offset);
  world.sim().run_for(200'000'000);
  world.crash();
  std::map<model::PartitionKey, Recovered> found;
  ASSERT_TRUE(world.recover(found)) << world.failure();
  const Recovered& partition = found.at(key_of(0));
  auto damage = Inspection(world.sim().core(0), world.directory()).find_damage(partition);
  ASSERT_TRUE(damage) << damage.error().detail;
  ASSERT_EQ(damage->size(), 1u);
  const OffsetRange range{damage->front().base_offset, damage->front().next_offset};
  GiveUp give_up(world.sim().core(0), world.directory());
  const auto given_up = give_up.run(partition, std::span(&range, 1));
  ASSERT_TRUE(given_up) << given_up.error().detail;
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.partition().log().clean_end(), names[4].base_offset) << "no more than before";
  auto expected = world.read_map();
  ASSERT_TRUE(expected.sound);
  world.table().start_cleaner();
  ASSERT_TRUE(world.clean());
  EXPECT_GT(world.partition().log().clean_end(), names[4].base_offset);
  const auto cleaned = world.read_map();
  EXPECT_TRUE(cleaned.sound);
  EXPECT_EQ(cleaned.map, expected.map);
}

}  // namespace
}  // namespace weir::partition
