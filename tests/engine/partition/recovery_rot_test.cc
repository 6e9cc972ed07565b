// Proves P7 and the right column of RELIABILITY 3.5: rot in what was acknowledged costs what it
// hits and no more, is never served, never silently cut, and never keeps a start from succeeding;
// and derived files (ledger, snapshot) cost nothing at all (L8).
//
// How: a partition is filled and its process killed when all is proved durable; then bytes of one
// file are changed.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/waiter.h"
#include "tests/engine/partition/filled_partition.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

class RecoveryRot : public FilledPartition {
 protected:
  // Where the journal has record `sequence`.
  uint64_t record_position(uint64_t sequence) {
    const auto bytes = world.sim().disk().content(journal());
    for (uint64_t at = journal::kRecordsBegin; at < bytes.size(); at += io::kBlockSize) {
      if (base::load_le<uint64_t>(bytes.data() + at) == journal::kRecordMagic &&
          base::load_le<uint64_t>(bytes.data() + at + 40) == sequence) {
        return at;
      }
    }
    ADD_FAILURE() << "no record " << sequence;
    return 0;
  }
  void overwrite(const std::string& path, uint64_t position, std::span<const std::byte> bytes) {
    io::Waiter waiter;
    io::Op& op = waiter.op;
    io::CoreIo& core = world.sim().core(0);
    core.disk.open(op, path.c_str(), {});
    core.loop.run_until(op);
    const io::FileId file(op.result());
    const io::Slice slice{bytes.data(), bytes.size()};
    core.disk.write(op, file, std::span(&slice, 1), position, io::Durability::on_completion);
    core.loop.run_until(op);
    ASSERT_EQ(op.result(), static_cast<int32_t>(bytes.size()));
    core.disk.close(op, file);
    core.loop.run_until(op);
  }
  std::string journal() const { return world.journal_path(world.generation()); }

  // In the segment's file, where the batch with this offset will be; all are of one size.
  void leave_foreign_batch(int64_t offset) {
    std::vector<std::byte> foreign(batches[0].begin(), batches[0].end());
    foreign[foreign.size() - 2] ^= std::byte{1};
    log::set_base_offset(foreign, model::Offset(offset));
    log::set_leader_epoch(foreign, 1);
    base::store_be(foreign.data() + log::batch_position::kCrc,
                   log::BatchView(foreign).computed_crc());
    overwrite(world.segment_path(0, log::kLogSuffix),
              static_cast<uint64_t>(offset) * foreign.size(), foreign);
  }
  // Header, table and payload.
  void lose_record(uint64_t sequence) {
    const uint64_t position = record_position(sequence);
    world.sim().disk().corrupt(journal(), position + 60, std::byte{1});
    world.sim().disk().corrupt(journal(), position + 1'000, std::byte{1});
  }

  // Offsets in `lost` answer 56; all others give their batch.
  void check(std::vector<int64_t> lost) {
    ASSERT_EQ(world.partition().high_watermark().value(), next_);
    for (int64_t offset = 0; offset < next_; ++offset) {
      Read read(0, model::Offset(offset), 1);
      ASSERT_TRUE(world.read(read));
      if (std::ranges::count(lost, offset) > 0) {
        EXPECT_EQ(read.item.error, ErrorCode::kafka_storage_error) << offset;
        EXPECT_TRUE(read.bytes.empty());
        continue;
      }
      ASSERT_EQ(read.item.error, ErrorCode::none) << offset;
      const auto& batch = batches[static_cast<size_t>(offset)];
      ASSERT_EQ(read.bytes.size(), batch.size()) << offset;
      ASSERT_TRUE(std::equal(batch.begin() + 16, batch.end(), read.bytes.begin() + 16)) << offset;
    }
  }
};

TEST_F(RecoveryRot, a_journal_record_that_is_gone_costs_its_offsets) {
  // Record 1: offset 0, and so on; all of it in the journal only.
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(3) + 60, std::byte{1});
  world.sim().disk().corrupt(journal(), record_position(3) + 1'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.recovery_stats().damaged_records, 1u);
  EXPECT_EQ(world.recovery_stats().quarantined_groups, 1u);
  ASSERT_NO_FATAL_FAILURE(check({2}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
  // The verdict is durable.
  prove_and_kill();
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({2}));
}

// The file had a life before: another log's sound batch stands where the lost record's would be.
TEST_F(RecoveryRot, what_an_earlier_life_left_does_not_stand_in_for_a_lost_record) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(leave_foreign_batch(2));
  lose_record(3);
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({2}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, nor_where_nobody_knows_what_was_lost) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  ASSERT_NO_FATAL_FAILURE(leave_foreign_batch(2));
  lose_record(3);
  lose_record(4);
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({2, 3}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, a_damaged_table_costs_nothing) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(3) + 60, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.recovery_stats().damaged_records, 1u);
  EXPECT_EQ(world.recovery_stats().quarantined_groups, 0u);
  ASSERT_NO_FATAL_FAILURE(check({}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, offsets_of_a_last_record_that_is_gone_are_not_given_out_again) {
  // Nothing but the echo in the empty record behind it names the partition.
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(6) + 60, std::byte{1});
  world.sim().disk().corrupt(journal(), record_position(6) + 1'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({5}));
}

TEST_F(RecoveryRot, a_damaged_payload_costs_its_offsets) {
  ASSERT_NO_FATAL_FAILURE(fill(6, 3'000));
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(4) + 1'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.recovery_stats().damaged_entries, 1u);
  ASSERT_NO_FATAL_FAILURE(check({3}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, the_first_record_may_be_the_one_that_is_gone) {
  ASSERT_NO_FATAL_FAILURE(fill(4, 3'000));
  prove_and_kill();
  const uint64_t position = record_position(1);
  world.sim().disk().corrupt(journal(), position, std::byte{1});
  world.sim().disk().corrupt(journal(), position + 1'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({0}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, what_was_flushed_needs_no_journal) {
  ASSERT_NO_FATAL_FAILURE(fill(30, 3'000));  // flush_bytes is 64 KiB
  ASSERT_GT(world.partition().log().active().written, 30'000u);
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(2) + 60, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, an_extent_is_found_without_its_record) {
  ASSERT_NO_FATAL_FAILURE(fill(2, 3'000));
  ASSERT_NO_FATAL_FAILURE(fill(1, 90'000));
  ASSERT_NO_FATAL_FAILURE(fill(3, 3'000));
  prove_and_kill();
  world.sim().disk().corrupt(journal(), record_position(3) + 60, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  // The last part of the large batch, less than a block, is where the echo says.
  ASSERT_NO_FATAL_FAILURE(check({}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

// An extent also writes older bytes that the journal has: when they did not land, the record was
// never acknowledged, and what the journal has of them is all there is.
TEST_F(RecoveryRot, an_extent_that_did_not_land_whole_is_cut_and_nothing_before_it) {
  ASSERT_NO_FATAL_FAILURE(fill(3, 6'000));
  ASSERT_NO_FATAL_FAILURE(fill(1, 90'000));
  world.crash();  // before anything proves the last record
  const auto path = world.segment_path(0, log::kLogSuffix);
  world.sim().disk().corrupt(path, 5'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  EXPECT_EQ(world.recovery_stats().dropped_records, 1u);
  next_ = 3;
  ASSERT_NO_FATAL_FAILURE(check({}));
}

TEST_F(RecoveryRot, an_extent_that_did_not_land_is_cut) {
  ASSERT_NO_FATAL_FAILURE(fill(3, 6'000));
  ASSERT_NO_FATAL_FAILURE(fill(1, 90'000));
  world.crash();
  world.sim().disk().corrupt(world.segment_path(0, log::kLogSuffix), 60'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  next_ = 3;
  ASSERT_NO_FATAL_FAILURE(check({}));
}

TEST_F(RecoveryRot, rot_in_a_proved_extent_costs_its_batch) {
  ASSERT_NO_FATAL_FAILURE(fill(3, 6'000));
  ASSERT_NO_FATAL_FAILURE(fill(1, 90'000));
  ASSERT_NO_FATAL_FAILURE(fill(3, 6'000));
  prove_and_kill();
  world.sim().disk().corrupt(world.segment_path(0, log::kLogSuffix), 60'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({3}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, rot_in_a_sealed_segment_costs_one_group) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  const auto path = world.segment_path(0, log::kLogSuffix);
  world.sim().disk().corrupt(path, 80'000, std::byte{1});
  ASSERT_TRUE(world.start()) << world.failure();
  // Groups of 64 KiB: the second, 8 batches of about 9 KB.
  ASSERT_NO_FATAL_FAILURE(check({8, 9, 10, 11, 12, 13, 14, 15}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, ledgers_and_snapshots_are_made_up_for) {
  ASSERT_NO_FATAL_FAILURE(fill(100, 9'000));
  prove_and_kill();
  int damaged = 0;
  for (const auto& path : world.sim().disk().files()) {
    if (!path.ends_with(".ledger") && !path.ends_with(".snapshot")) continue;
    const auto size = world.sim().disk().content(path).size();
    for (size_t at = 0; at < size; at += 40) {
      world.sim().disk().corrupt(path, at, std::byte{1});
    }
    ++damaged;
  }
  ASSERT_GE(damaged, 3);
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, a_snapshot_ahead_of_the_log_is_not_believed) {
  ASSERT_NO_FATAL_FAILURE(fill(60, 9'000));
  prove_and_kill();
  const auto path = world.directory() + "/producers.snapshot";
  ASSERT_TRUE(world.sim().disk().exists(path));
  ProducerState state;
  overwrite(path, 0, state.encode(model::Offset(1'000'000), {}));
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check({}));
  ASSERT_NO_FATAL_FAILURE(check_goes_on());
}

TEST_F(RecoveryRot, two_damaged_superblocks_are_survived_and_three_are_not) {
  ASSERT_NO_FATAL_FAILURE(fill(3, 3'000));
  prove_and_kill();
  for (uint64_t copy = 0; copy < 2; ++copy) {
    world.sim().disk().corrupt(journal(), copy * 4096 + 30, std::byte{1});
  }
  std::map<model::PartitionKey, Recovered> found;
  ASSERT_TRUE(world.recover(found)) << world.failure();
  EXPECT_EQ(found.at(key_of(0)).log_end.value(), 3);
  world.sim().disk().corrupt(journal(), 2 * 4096 + 30, std::byte{1});
  EXPECT_FALSE(world.recover(found));
  EXPECT_NE(world.failure().find("superblock"), std::string::npos) << world.failure();
}

}  // namespace
}  // namespace weir::partition
