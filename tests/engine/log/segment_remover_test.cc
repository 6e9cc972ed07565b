// Proves that files of dead segments go when their time has come and not before, large ones in
// steps, that a file which cannot be removed does not hold up the others, and that a stop leaves
// nothing under way.
#include "engine/log/segment_remover.h"

#include <gtest/gtest.h>

#include "tests/engine/log/segment_support.h"
#include "tests/io/sim_support.h"

namespace weir::log {
namespace {


class SegmentRemoverTest : public testing::Test {
 protected:
  SegmentRemoverTest() {
    world.sim().disk().install_directory(LogWorld::kDirectory);
    world.sim().disk().install_directory("/data/pool");
  }
  void make(int64_t base_offset, uint64_t size) {
    for (const auto suffix : {kLogSuffix, kLedgerSuffix}) {
      const auto path = world.path(base_offset, suffix);
      const io::FileId file = io::sim::open_file(world.sim(), path.c_str());
      io::Disk& disk = world.core().disk;
      ASSERT_EQ(io::sim::wait(world.sim(), [&](io::Op& op) { disk.allocate(op, file, 0, size); }),
                0);
      ASSERT_EQ(io::sim::wait(world.sim(), [&](io::Op& op) { disk.close(op, file); }), 0);
    }
  }
  void remove(int64_t base_offset, uint64_t size, int64_t delay_ns) {
    remover.remove(LogWorld::kDirectory, SegmentName(model::Offset(base_offset)), size,
                   world.core().clock.now() + delay_ns);
  }
  size_t files() { return world.sim().disk().files().size(); }
  LogWorld world;
  SegmentPool pool{world.core(), "/data/pool", {.bytes_max = 1 << 20, .file_bytes_min = 4'096}};
  SegmentRemover remover{world.core(), pool};
};

TEST_F(SegmentRemoverTest, files_go_in_their_time) {
  for (const int64_t base : {0, 10, 20}) make(base, 5'000);
  remove(0, 5'000, 10 * kSecond_ns);
  remove(10, 5'000, 5 * kSecond_ns);
  remove(20, 5'000, 0);
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(files(), 4u);
  world.sim().run_for(3 * kSecond_ns);
  EXPECT_EQ(files(), 4u);
  world.sim().run_for(2 * kSecond_ns);
  EXPECT_EQ(files(), 2u);
  world.sim().run_for(5 * kSecond_ns);
  EXPECT_EQ(files(), 0u);
  EXPECT_TRUE(remover.idle());
  EXPECT_EQ(remover.waiting(), 0u);
}

TEST_F(SegmentRemoverTest, a_large_file_goes_in_steps) {
  constexpr uint64_t kSize = 3 * FileCutter::kStep + 1;
  make(0, kSize);
  remove(0, kSize, 0);
  std::vector<uint64_t> seen;
  const auto path = world.path(0, kLogSuffix);
  world.sim().run_until(
      [&] {
        const auto info = world.core().disk.info(path);
        const uint64_t size = info ? info->size : 0;
        if (seen.empty() || seen.back() != size) seen.push_back(size);
        return files() == 0 && remover.idle();
      },
      60 * kSecond_ns);
  EXPECT_EQ(seen, (std::vector<uint64_t>{kSize, kSize - FileCutter::kStep,
                                         kSize - 2 * FileCutter::kStep,
                                         kSize - 3 * FileCutter::kStep, 0}));
}

TEST_F(SegmentRemoverTest, what_is_not_there_holds_nobody_up) {
  make(10, 5'000);
  remove(0, FileCutter::kStep * 2, 0);
  remove(10, 5'000, 0);
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(files(), 0u);
}

TEST_F(SegmentRemoverTest, a_stop_ends_it_between_two_steps) {
  constexpr uint64_t kSize = 20 * FileCutter::kStep;
  make(0, kSize);
  make(10, 5'000);
  remove(0, kSize, 0);
  remove(10, 5'000, 10 * kSecond_ns);
  ASSERT_TRUE(world.sim().run_until([&] { return !remover.idle(); }, kSecond_ns));
  remover.stop();
  ASSERT_TRUE(world.sim().run_until([&] { return remover.idle(); }, kSecond_ns));
  EXPECT_EQ(files(), 4u);
  remove(10, 5'000, 0);
  world.sim().run_for(kSecond_ns);
  EXPECT_EQ(files(), 4u);
}

}  // namespace
}  // namespace weir::log
