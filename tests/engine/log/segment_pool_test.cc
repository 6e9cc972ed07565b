// Proves that dead segments' files become segments again: which sizes are taken in, which file is
// given for which wish, that old ones go when there are too many and all go when the disk is full;
// that at no moment of the two moves a power cut leaves two names of one file in use; and that a
// move that fails leaves nothing behind.
#include "engine/log/segment_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/log/segment_recycler.h"
#include "tests/engine/log/segment_support.h"
#include "tests/io/sim_support.h"

namespace weir::log {
namespace {

using io::sim::CrashKind;

constexpr const char* kPool = "/data/pool";

class SegmentPoolTest : public testing::Test {
 protected:
  explicit SegmentPoolTest(uint64_t seed = 1) : world(seed) {
    world.sim().disk().install_directory(kPool);
    world.sim().disk().install_directory(LogWorld::kDirectory);
    pool.start();
  }
  // A file of `size` bytes that are not zeros, durable, as a sealed segment is.
  void make_file(const std::string& path, uint64_t size) {
    io::Disk& disk = world.core().disk;
    const io::FileId file = io::sim::open_file(world.sim(), path.c_str());
    const std::vector<std::byte> bytes(size, std::byte{7});
    const io::Slice all{bytes.data(), bytes.size()};
    io::sim::wait(world.sim(), [&](io::Op& op) {
      disk.write(op, file, std::span(&all, 1), 0, io::Durability::on_completion);
    });
    io::sim::wait(world.sim(), [&](io::Op& op) { disk.close(op, file); });
    const std::string parent = path.substr(0, path.rfind('/'));
    io::sim::wait(world.sim(), [&](io::Op& op) { disk.sync_directory(op, parent.c_str()); });
  }
  void add(uint64_t size) {
    const std::string path = pool.new_path();
    make_file(path, size);
    pool.add({path, size});
  }
  std::vector<uint64_t> sizes_on_disk() {
    std::vector<uint64_t> sizes;
    for (const auto& path : world.sim().disk().files()) {
      if (path.starts_with(kPool)) sizes.push_back(world.sim().disk().content(path).size());
    }
    std::ranges::sort(sizes);
    return sizes;
  }
  void settle() { world.sim().run_until([&] { return pool.idle(); }, 10 * kSecond_ns); }

  LogWorld world;
  SegmentPool pool{world.core(), kPool, {.bytes_max = 100'000, .file_bytes_min = 8'192}};
};

TEST_F(SegmentPoolTest, both_sides_of_its_limits) {
  EXPECT_FALSE(pool.wants(8'191));
  EXPECT_TRUE(pool.wants(8'192));
  EXPECT_TRUE(pool.wants(100'000));
  EXPECT_FALSE(pool.wants(100'001));
  SegmentPool off(world.core(), kPool, {.bytes_max = 0});
  off.start();
  EXPECT_FALSE(off.wants(1 << 20));
}

TEST_F(SegmentPoolTest, is_never_more_than_a_part_of_the_disk) {
  world.sim().disk().set_size_bytes(SegmentPool::kShareOfDisk * 10'000);
  SegmentPool small(world.core(), kPool, {.bytes_max = 100'000, .file_bytes_min = 8'192});
  small.start();
  EXPECT_TRUE(small.wants(10'000));
  EXPECT_FALSE(small.wants(10'001));
}

TEST_F(SegmentPoolTest, the_largest_that_is_not_too_large_is_given) {
  for (const uint64_t size : {8'192u, 20'000u, 12'288u}) add(size);
  EXPECT_EQ(pool.bytes(), 8'192u + 16'384u + 12'288u) << "whole blocks count";
  EXPECT_FALSE(pool.take(16'385, 100'000));
  EXPECT_FALSE(pool.take(0, 8'191));
  EXPECT_EQ(pool.take(1, 16'383)->size, 12'288u);
  EXPECT_EQ(pool.take(1, 100'000)->size, 16'384u);
  EXPECT_EQ(pool.take(8'192, 8'192)->size, 8'192u);
  EXPECT_FALSE(pool.take(0, 100'000));
  EXPECT_EQ(pool.bytes(), 0u);
}

TEST_F(SegmentPoolTest, the_oldest_go_when_there_are_too_many) {
  for (const uint64_t size : {40'960u, 36'864u, 20'480u}) add(size);
  settle();
  EXPECT_EQ(sizes_on_disk(), (std::vector<uint64_t>{20'480, 36'864, 40'960}));
  add(8'192);
  settle();
  EXPECT_EQ(sizes_on_disk(), (std::vector<uint64_t>{8'192, 20'480, 36'864}));
  EXPECT_EQ(pool.bytes(), 8'192u + 20'480u + 36'864u);
}

TEST_F(SegmentPoolTest, a_full_disk_gets_one_file_after_another_and_then_none_is_taken_in) {
  for (const uint64_t size : {8'192u, 12'288u}) add(size);
  pool.give(world.op());
  EXPECT_EQ(world.wait(), 0);
  EXPECT_EQ(sizes_on_disk(), (std::vector<uint64_t>{12'288}));
  EXPECT_FALSE(pool.wants(20'000));
  pool.give(world.op());
  EXPECT_EQ(world.wait(), 0);
  EXPECT_TRUE(pool.empty());
  pool.give(world.op());
  EXPECT_EQ(world.wait(), 0) << "who asks looks for himself";
  world.sim().run_for(SegmentPool::kPauseWhenFull_ns - 1'000'000);
  EXPECT_FALSE(pool.wants(20'000));
  world.sim().run_for(2'000'000);
  EXPECT_TRUE(pool.wants(20'000));
}

TEST_F(SegmentPoolTest, all_go_when_somebody_else_finds_no_room) {
  for (const uint64_t size : {8'192u, 12'288u, 16'384u}) add(size);
  pool.on_no_room();
  EXPECT_EQ(pool.bytes(), 0u);
  settle();
  EXPECT_TRUE(sizes_on_disk().empty());
  add(8'192);
  settle();
  EXPECT_TRUE(sizes_on_disk().empty()) << "what was under way is not kept";
}

TEST_F(SegmentPoolTest, after_a_stop_files_stay_where_they_are) {
  add(8'192);
  pool.stop();
  EXPECT_FALSE(pool.wants(8'192));
  pool.discard({pool.new_path(), 1});
  EXPECT_TRUE(pool.idle());
}

TEST_F(SegmentPoolTest, a_file_that_is_not_there_stays_an_error_of_its_owner) {
  SegmentRecycler recycler(world.core(), pool);
  recycler.start(LogWorld::kDirectory, world.path(5, kLogSuffix), 10'000, world.op());
  EXPECT_EQ(world.wait(), -ENOENT);
  EXPECT_EQ(pool.size(), 0u);
}

TEST_F(SegmentPoolTest, a_name_that_may_come_back_is_not_given_out) {
  make_file(world.path(5, kLogSuffix), 10'000);
  world.sim().faults().sync_error = 1;
  SegmentRecycler recycler(world.core(), pool);
  recycler.start(LogWorld::kDirectory, world.path(5, kLogSuffix), 10'000, world.op());
  EXPECT_EQ(world.wait(), 0);
  EXPECT_EQ(pool.size(), 0u);
  settle();
  EXPECT_TRUE(sizes_on_disk().empty());
}

TEST_F(SegmentPoolTest, a_segment_is_made_of_it) {
  add(20'000);
  SegmentMaker maker(world.core());
  maker.start("/data/topics", LogWorld::kDirectory, false, model::Offset(9), 10'000, world.op(),
              pool.take(10'000, 100'000));
  EXPECT_EQ(world.wait(), 0);
  EXPECT_TRUE(maker.reused());
  EXPECT_EQ(maker.allocated(), 16'384u);
  EXPECT_TRUE(sizes_on_disk().empty());
  EXPECT_EQ(world.sim().disk().content(world.path(9, kLogSuffix)).size(), 20'000u);
}

TEST_F(SegmentPoolTest, where_the_file_is_gone_a_new_one_is_made) {
  SegmentMaker maker(world.core());
  maker.start("/data/topics", LogWorld::kDirectory, false, model::Offset(9), 10'000, world.op(),
              SegmentPool::Spare{pool.new_path(), 20'480});
  EXPECT_EQ(world.wait(), 0);
  EXPECT_FALSE(maker.reused());
  EXPECT_EQ(maker.allocated(), allocation_step(0));
}

TEST_F(SegmentPoolTest, a_segment_that_cannot_be_made_leaves_neither_name) {
  add(20'000);
  world.sim().faults().sync_error = 1;
  SegmentMaker maker(world.core());
  maker.start("/data/topics", LogWorld::kDirectory, false, model::Offset(9), 10'000, world.op(),
              pool.take(10'000, 100'000));
  EXPECT_EQ(world.wait(), -EIO);
  EXPECT_TRUE(world.sim().disk().files().empty());
}

// From a segment into the pool and into the next segment, cut at every moment.
class RecyclingCut : public SegmentPoolTest, public testing::WithParamInterface<uint64_t> {
 protected:
  RecyclingCut() : SegmentPoolTest(GetParam()) {}
};

TEST_P(RecyclingCut, one_file_has_one_name) {
  const std::string dead = world.path(5, kLogSuffix);
  const std::string next = world.path(9, kLogSuffix);
  make_file(dead, 20'480);
  SegmentRecycler recycler(world.core(), pool);
  recycler.start(LogWorld::kDirectory, dead, 20'480, world.op());
  const int64_t moment_ns = static_cast<int64_t>(GetParam() % 40) * 20'000;
  SegmentMaker maker(world.core());
  bool making = false;
  bool made = false;
  world.sim().run_until(
      [&] {
        if (!making && !world.op().armed() && pool.size() == 1) {
          making = true;
          maker.start("/data/topics", LogWorld::kDirectory, false, model::Offset(9), 10'000,
                      world.op(), pool.take(10'000, 100'000));
        }
        made = making && !maker.busy();
        return false;
      },
      moment_ns);
  world.sim().crash(CrashKind::power_cut);
  if (world.op().armed()) world.op().abandon();
  world.sim().restart(1);
  size_t names = 0;
  for (const auto& path : world.sim().disk().files()) {
    EXPECT_EQ(world.sim().disk().content(path), std::vector<std::byte>(20'480, std::byte{7}));
    ++names;
  }
  EXPECT_EQ(names, 1u);
  EXPECT_TRUE(!made || world.sim().disk().exists(next));
  EXPECT_TRUE(!making || !world.sim().disk().exists(dead));
}

INSTANTIATE_TEST_SUITE_P(moments, RecyclingCut, testing::Range<uint64_t>(0, 200));

}  // namespace
}  // namespace weir::log
