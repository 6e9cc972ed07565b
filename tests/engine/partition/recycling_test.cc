// Proves that files of segments that retention, DeleteRecords and the deletion of a partition let
// go become the next segments; that nothing of their earlier life is ever seen, not by readers, not
// by a recovery after a kill or a power cut, not in the file after a clean stop; that a segment
// which is still read is left alone; and that a full disk has the pool's space at once.
//
// How: two partitions whose batches are alike to the byte but for their content, so that what one
// leaves in a file would be taken for the other's.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/log/segment_files.h"
#include "io/base/units.h"
#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;


WorldOptions small_recycled_segments() {
  WorldOptions options;
  options.partition_count = 2;
  options.settings.segment_bytes = 64_KiB;
  options.partition.tail_cache_bytes = 0;
  options.partition.pool_file_bytes_min = io::kBlockSize;
  return options;
}

class Recycling : public testing::Test {
 protected:
  Recycling() : world(1, small_recycled_segments()) {}
  void SetUp() override { ASSERT_TRUE(world.start()); }

  // Batches of one size; their content tells partition and offset.
  void fill(int32_t index, int count, size_t size = 7'000) {
    for (int i = 0; i < count; ++i) {
      auto& all = sent[static_cast<size_t>(index)];
      const auto id = static_cast<int64_t>(all.size());
      auto batch = log::make_batch(1, 1'000'000 * (index + 1) + id, size);
      ASSERT_EQ(world.append(batch, index), id);
      all.push_back(std::move(batch));
    }
    world.sim().run_for(kSecond_ns / 10);
  }
  void drop_below(int32_t index, int64_t offset) {
    Call<DeleteRecordsRequest> call;
    call.key = key_of(index);
    call.offset = model::Offset(offset);
    ASSERT_TRUE(world.ask(call, model::ports::kDeleteRecords));
    ASSERT_EQ(call.error, ErrorCode::none);
    // The files follow once a snapshot holds the producers.
    world.sim().run_for(kSecond_ns / 10);
    world.partition(index).drop_until(model::Offset(offset));
    world.sim().run_for(kSecond_ns);
  }
  void check(int32_t index) {
    ErrorCode error{};
    const auto bytes = world.read_all(index, error);
    ASSERT_EQ(error, ErrorCode::none);
    const auto& all = sent[static_cast<size_t>(index)];
    auto offset = static_cast<size_t>(world.partition(index).log_start_offset().value());
    for (std::span<const std::byte> left = bytes; !left.empty(); ++offset) {
      ASSERT_LT(offset, all.size());
      const auto& batch = all[offset];
      ASSERT_GE(left.size(), batch.size());
      ASSERT_TRUE(std::equal(batch.begin() + 16, batch.end(), left.begin() + 16)) << offset;
      left = left.subspan(batch.size());
    }
    EXPECT_EQ(offset, all.size());
    EXPECT_EQ(world.partition(index).high_watermark().value(), static_cast<int64_t>(all.size()));
  }

  PartitionWorld world;
  std::vector<log::Buffer> sent[2];
};

TEST_F(Recycling, a_dropped_segment_becomes_the_next_one) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 28));
  const size_t pooled = world.segment_pool().size();
  ASSERT_GT(pooled, 1u);
  ASSERT_NO_FATAL_FAILURE(fill(0, 20));
  EXPECT_LT(world.segment_pool().size(), pooled);
  EXPECT_GE(world.metrics().segments_reused, 2u);
  EXPECT_TRUE(world.partition().log().active().reused);
  ASSERT_NO_FATAL_FAILURE(check(0));
}

TEST_F(Recycling, a_log_that_begins_needs_no_large_file) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 28));
  ASSERT_NO_FATAL_FAILURE(fill(1, 1));
  EXPECT_EQ(world.metrics().segments_reused, 0u);
  ASSERT_NO_FATAL_FAILURE(fill(1, 9));
  EXPECT_EQ(world.metrics().segments_reused, 1u);
}

TEST_F(Recycling, what_another_partition_left_is_never_seen) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 40));
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 38));
  // Offset and place of each batch are what they were in partition 0.
  ASSERT_NO_FATAL_FAILURE(fill(1, 13));
  ASSERT_GE(world.metrics().segments_reused, 1u);
  for (const auto kind : {CrashKind::process_kill, CrashKind::power_cut}) {
    world.crash(kind);
    ASSERT_TRUE(world.start()) << world.failure();
    for (int32_t index : {0, 1}) ASSERT_NO_FATAL_FAILURE(check(index));
    ASSERT_NO_FATAL_FAILURE(fill(1, 1));
  }
}

TEST_F(Recycling, after_a_clean_stop_a_file_holds_its_batches_and_no_more) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 28));
  ASSERT_NO_FATAL_FAILURE(fill(0, 8));
  const log::Segment& active = world.partition().log().active();
  ASSERT_TRUE(active.reused);
  const uint64_t end = active.end;
  const auto path = world.segment_path(active.base_offset.value(), log::kLogSuffix);
  ASSERT_GT(world.sim().disk().content(path).size(), base::round_up(end, io::kBlockSize));
  world.table().prepare_stop();
  ASSERT_TRUE(world.run_until([&] { return world.table().quiet(); }));
  const auto bytes = world.sim().disk().content(path);
  ASSERT_EQ(bytes.size(), base::round_up(end, io::kBlockSize));
  EXPECT_TRUE(std::ranges::all_of(std::span(bytes).subspan(end),
                                  [](std::byte b) { return b == std::byte{0}; }));
  world.crash();
  ASSERT_TRUE(world.start()) << world.failure();
  ASSERT_NO_FATAL_FAILURE(check(0));
  ASSERT_NO_FATAL_FAILURE(fill(0, 9));
  ASSERT_NO_FATAL_FAILURE(check(0));
}

TEST_F(Recycling, a_segment_that_is_read_is_left_alone) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  log::Segment& oldest = *world.partition().log().segments().front();
  ASSERT_TRUE(oldest.sealed);
  const size_t segments = world.partition().log().segments().size();
  world.partition().begin_read();
  ++oldest.users;
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 28));
  EXPECT_EQ(world.segment_pool().size(), segments - 2);
  EXPECT_TRUE(world.sim().disk().exists(world.segment_path(0, log::kLogSuffix)));
  --oldest.users;
  world.partition().end_read();
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(world.segment_pool().size(), segments - 1);
  EXPECT_FALSE(world.sim().disk().exists(world.segment_path(0, log::kLogSuffix)));
}

TEST_F(Recycling, a_deleted_partition_leaves_its_sealed_segments) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  const size_t segments = world.partition().log().segments().size();
  world.table().remove(key_of(0));
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(world.segment_pool().size(), segments - 1) << "the last one was not full";
  for (const auto& path : world.sim().disk().files()) {
    EXPECT_EQ(path.find("/data/topics/"), std::string::npos) << path;
  }
  ASSERT_NO_FATAL_FAILURE(fill(1, 30));
  EXPECT_EQ(world.segment_pool().size(), 0u);
  ASSERT_NO_FATAL_FAILURE(check(1));
}

TEST_F(Recycling, a_full_disk_has_the_pools_space_first) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 60));
  ASSERT_NO_FATAL_FAILURE(drop_below(0, 58));
  ASSERT_GT(world.segment_pool().bytes(), log::allocation_step(0));
  world.sim().disk().set_size_bytes(world.sim().disk().used_bytes());
  // A log that begins takes none of its files.
  ASSERT_NO_FATAL_FAILURE(fill(1, 1));
  EXPECT_TRUE(world.reserve().plenty());
  ASSERT_NO_FATAL_FAILURE(check(1));
}

class RecyclingSeeds : public Recycling, public testing::WithParamInterface<uint64_t> {};

// At any moment of a life with much recycling.
TEST_P(RecyclingSeeds, survives_a_power_cut_at_any_moment) {
  for (int round = 0; round < 6; ++round) {
    ASSERT_NO_FATAL_FAILURE(fill(round % 2, 14));
    Call<DeleteRecordsRequest> call;
    const int32_t index = round % 2;
    call.key = key_of(index);
    call.offset = model::Offset(static_cast<int64_t>(sent[index].size()) - 2);
    world.send(call, model::ports::kDeleteRecords);
    world.sim().run_for(static_cast<int64_t>((GetParam() * 7 + static_cast<uint64_t>(round)) % 23) *
                        200'000);
    if (call.done) world.partition(index).drop_until(call.offset);
    Call<AppendRequest> last;
    const auto batch = log::make_batch(1, 1'000'000 * (index + 1), 60'000);
    world.send_append(last, batch, index);
    world.sim().run_for(static_cast<int64_t>((GetParam() + static_cast<uint64_t>(round)) % 31) *
                        100'000);
    if (last.done) sent[index].push_back(batch);
    world.crash(round % 3 == 2 ? CrashKind::process_kill : CrashKind::power_cut);
    ASSERT_TRUE(world.start()) << world.failure();
    // It may be there although nobody was told.
    const int64_t end = world.partition(index).high_watermark().value();
    if (end == static_cast<int64_t>(sent[index].size()) + 1) sent[index].push_back(batch);
    for (int32_t i : {0, 1}) ASSERT_NO_FATAL_FAILURE(check(i)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, RecyclingSeeds, testing::Range<uint64_t>(0, 40));

}  // namespace
}  // namespace weir::partition
