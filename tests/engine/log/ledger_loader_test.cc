// Proves L8 for ledgers: whatever of the file is missing, cut off or damaged, the loaded ledger
// speaks of the same offsets and bytes as the one that was written, and only damaged batches are
// entered as quarantined.
#include "engine/log/ledger_loader.h"

#include "io/base/crc32c.h"
#include "tests/engine/log/segment_support.h"

namespace weir::log {
namespace {

class LedgerLoaderTest : public testing::Test {
 protected:
  void SetUp() override {
    Segment& segment = world.roll(1 << 20);
    for (int i = 0; i < 30; ++i) world.append(make_batch(2, 1000 + i, 5'000));
    ASSERT_EQ(world.seal(segment), 0);
    groups = segment.ledger.groups();
    ASSERT_GE(groups.size(), 4u);
    segment.ledger = Ledger(segment.base_offset);
    segment.ledger_loaded = false;
    segment.gathered_offset = world.log().end_offset();
  }
  Segment& segment() { return world.log().active(); }

  int32_t load(bool use_file = true) {
    LedgerLoader loader(world.core().disk, world.core().loop);
    loader.start(LogWorld::kDirectory, segment(), segment().end, use_file, world.op());
    const int32_t result = world.wait();
    scanned = loader.scanned_bytes();
    return result;
  }
  // Every byte and offset is spoken of, with right checksums.
  void check_all() {
    ASSERT_TRUE(segment().ledger_loaded);
    const Ledger& ledger = segment().ledger;
    ASSERT_EQ(ledger.end(), segment().end);
    ASSERT_EQ(ledger.next_offset(), world.log().end_offset());
    for (const Group& group : ledger.groups()) {
      if (group.flags & Group::kQuarantined) continue;
      const auto bytes = std::span(world.bytes()).subspan(group.position, group.size);
      ASSERT_EQ(group.checksum, base::crc32c(bytes));
    }
  }
  std::string ledger_path() const { return world.path(0, kLedgerSuffix); }
  void write_ledger(std::span<const std::byte> bytes, bool truncate) {
    io::Disk& disk = world.core().disk;
    disk.open(world.op(), ledger_path().c_str(), {.create = true});
    const io::FileId file(world.wait());
    if (truncate) {
      disk.truncate(world.op(), file, bytes.size());
      world.wait();
    }
    const io::Slice slice{bytes.data(), bytes.size()};
    if (!bytes.empty()) {
      disk.write(world.op(), file, std::span(&slice, 1), 0, io::Durability::on_completion);
      world.wait();
    }
    disk.close(world.op(), file);
    world.wait();
  }

  LogWorld world;
  std::vector<Group> groups;
  uint64_t scanned = 0;
};

TEST_F(LedgerLoaderTest, a_whole_file_is_all_that_is_read) {
  ASSERT_EQ(load(), 0);
  EXPECT_EQ(segment().ledger.groups(), groups);
  EXPECT_EQ(scanned, 0u);
}

TEST_F(LedgerLoaderTest, a_missing_file_is_made_up_for) {
  world.core().disk.remove(world.op(), ledger_path().c_str());
  world.wait();
  ASSERT_EQ(load(), 0);
  ASSERT_NO_FATAL_FAILURE(check_all());
  EXPECT_EQ(segment().ledger.groups(), groups);
}

TEST_F(LedgerLoaderTest, on_request_the_file_is_not_looked_at) {
  ASSERT_EQ(load(false), 0);
  EXPECT_EQ(segment().ledger.groups(), groups);
}

TEST_F(LedgerLoaderTest, a_file_cut_off_anywhere) {
  const auto whole = world.sim().disk().content(ledger_path());
  for (size_t size = 0; size < whole.size(); size += 13) {
    write_ledger(std::span(whole).first(size), true);
    segment().ledger = Ledger(segment().base_offset);
    segment().ledger_loaded = false;
    ASSERT_EQ(load(), 0) << size;
    ASSERT_NO_FATAL_FAILURE(check_all()) << size;
    ASSERT_EQ(segment().ledger.groups(), groups) << size;
  }
}

TEST_F(LedgerLoaderTest, a_file_damaged_anywhere) {
  const auto whole = world.sim().disk().content(ledger_path());
  for (size_t at = 0; at < whole.size(); at += 7) {
    auto damaged = whole;
    damaged[at] ^= std::byte{0x21};
    write_ledger(damaged, true);
    segment().ledger = Ledger(segment().base_offset);
    segment().ledger_loaded = false;
    ASSERT_EQ(load(), 0) << at;
    ASSERT_NO_FATAL_FAILURE(check_all()) << at;
  }
}

TEST_F(LedgerLoaderTest, entries_ahead_of_the_log_are_not_believed) {
  LedgerLoader loader(world.core().disk, world.core().loop);
  const uint64_t end = groups[1].end();
  segment().gathered_offset = groups[1].next_offset;
  loader.start(LogWorld::kDirectory, segment(), end, true, world.op());
  ASSERT_EQ(world.wait(), 0);
  EXPECT_EQ(segment().ledger.end(), end);
}

TEST_F(LedgerLoaderTest, damage_that_the_ledger_file_knows_is_for_readers_to_find) {
  world.sim().disk().corrupt(world.path(0, kLogSuffix), groups[1].position + 200, std::byte{1});
  ASSERT_EQ(load(), 0);
  EXPECT_EQ(segment().ledger.groups(), groups);
}

TEST_F(LedgerLoaderTest, damage_without_a_ledger_is_quarantined) {
  world.sim().disk().corrupt(world.path(0, kLogSuffix), groups[2].position + 200, std::byte{1});
  ASSERT_EQ(load(false), 0);
  ASSERT_NO_FATAL_FAILURE(check_all());
  const Group& last = segment().ledger.groups().back();
  EXPECT_TRUE(last.flags & Group::kQuarantined);
  EXPECT_EQ(last.position, groups[2].position);
  EXPECT_EQ(segment().ledger.groups()[1], groups[1]) << "what lies before stays";
}

// Cut short where a group ends, so nothing in the file is wrong.
TEST_F(LedgerLoaderTest, offsets_that_the_file_ends_before_are_quarantined) {
  for (const bool with_file : {true, false}) {
    segment().ledger = Ledger(segment().base_offset);
    segment().ledger_loaded = false;
    LedgerLoader loader(world.core().disk, world.core().loop);
    loader.start(LogWorld::kDirectory, segment(), groups[1].end(), with_file, world.op());
    ASSERT_EQ(world.wait(), 0);
    const Group& last = segment().ledger.groups().back();
    EXPECT_TRUE(last.flags & Group::kQuarantined);
    EXPECT_EQ(last.base_offset, groups[1].next_offset);
    EXPECT_EQ(last.next_offset, segment().gathered_offset);
    EXPECT_EQ(last.size, 0u);
  }
}

TEST_F(LedgerLoaderTest, a_missing_segment_is_an_error) {
  world.core().disk.remove(world.op(), world.path(0, kLogSuffix).c_str());
  world.wait();
  EXPECT_EQ(load(false), -ENOENT);
  EXPECT_FALSE(segment().ledger_loaded);
}

TEST_F(LedgerLoaderTest, two_at_once_end_with_one_ledger) {
  struct Second {
    void on_done(io::Op&) { done = true; }
    bool done = false;
  };
  int rounds = 0;
  // The second starts ever later, until the first is over before that.
  for (int64_t lead_ns = 0;; lead_ns += 5'000, ++rounds) {
    segment().ledger = Ledger(segment().base_offset);
    segment().ledger_loaded = false;
    LedgerLoader first(world.core().disk, world.core().loop);
    LedgerLoader second(world.core().disk, world.core().loop);
    first.start(LogWorld::kDirectory, segment(), segment().end, rounds % 2 == 0, world.op());
    world.sim().run_for(lead_ns);
    if (segment().ledger_loaded) {
      ASSERT_EQ(world.wait(), 0);
      break;
    }
    Second ended;
    io::Op second_op;
    second_op.bind<&Second::on_done>(ended);
    second.start(LogWorld::kDirectory, segment(), segment().end, rounds % 2 == 1, second_op);
    ASSERT_EQ(world.wait(), 0);
    ASSERT_TRUE(world.sim().run_until([&] { return ended.done; }, 1'000'000'000));
    ASSERT_EQ(second_op.result(), 0);
    ASSERT_NO_FATAL_FAILURE(check_all());
    ASSERT_EQ(segment().ledger.groups(), groups);
  }
  EXPECT_GT(rounds, 5);
}

TEST(LedgerLoaderLarge, batches_larger_than_the_window_are_walked_over) {
  LogWorld world;
  Segment& segment = world.roll(6 << 20);
  for (const size_t size : {100u, 3u << 20, 2'000'000u, 50u}) {
    world.append(make_batch(1, 1000, size));
  }
  ASSERT_EQ(world.seal(segment), 0);
  const auto groups = segment.ledger.groups();
  segment.ledger = Ledger(segment.base_offset);
  segment.ledger_loaded = false;
  LedgerLoader loader(world.core().disk, world.core().loop);
  loader.start(LogWorld::kDirectory, segment, segment.end, false, world.op());
  ASSERT_EQ(world.wait(), 0);
  EXPECT_EQ(segment.ledger.groups(), groups);
}

}  // namespace
}  // namespace weir::log
