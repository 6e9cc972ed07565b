// Proves: the reserve is made soon after the start, given in steps to those who ask, made whole
// again when there is room, and only then users get new space.
//
// How: a reserve on the simulated disk, whose size changes while virtual time goes on.
#include "engine/partition/space_reserve.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "io/base/logging.h"
#include "io/base/units.h"
#include "io/sim/sim_world.h"

namespace weir::partition {
namespace {

using base::operator""_MiB;

constexpr uint64_t kReserve = 4_MiB;
constexpr int64_t kSecond = 1'000'000'000;
constexpr const char* kFile = "/data/reserve.core-0";

class SpaceReserveTest : public testing::Test {
 protected:
  SpaceReserveTest() : reserve(world.core(0), config, metrics, pool, "/data") {
    base::set_log_level(base::LogLevel::off);
    world.disk().install_directory("/data");
    config.reserve_bytes = kReserve;
    op.bind<&SpaceReserveTest::on_done>(*this);
  }
  ~SpaceReserveTest() override {
    if (!reserve.closed()) {
      reserve.stop();
      EXPECT_TRUE(world.run_until([&] { return reserve.closed(); }, kSecond));
    }
  }

  void on_done(io::Op&) { done = true; }
  void start() {
    reserve.start();
    EXPECT_TRUE(world.run_until([&] { return reserve.held() == kReserve; }, kSecond));
  }
  int32_t give() {
    done = false;
    reserve.give(op);
    EXPECT_TRUE(world.run_until([&] { return done; }, kSecond));
    return op.result();
  }
  void pass(int64_t duration_ns) {
    world.run_until([] { return false; }, duration_ns);
  }
  uint64_t file_size() { return world.disk().content(kFile).size(); }
  void fill_disk() { world.disk().set_size_bytes(world.disk().used_bytes()); }
  void make_room(uint64_t size) { world.disk().set_size_bytes(world.disk().used_bytes() + size); }

  io::sim::SimWorld world{1, {}};
  Config config;
  Metrics metrics;
  log::SegmentPool pool{world.core(0), "/data/pool", {}};
  SpaceReserve reserve;
  io::Op op;
  bool done = false;
};

TEST_F(SpaceReserveTest, is_made_soon_after_the_start) {
  EXPECT_TRUE(reserve.plenty());
  EXPECT_EQ(give(), -ENOSPC);
  start();
  EXPECT_EQ(file_size(), kReserve);
  EXPECT_TRUE(reserve.plenty());
  EXPECT_EQ(metrics.disk_full, 0u);
}

TEST_F(SpaceReserveTest, gives_in_steps_until_nothing_is_left) {
  start();
  fill_disk();
  for (uint64_t left = kReserve; left > 0; left -= SpaceReserve::kStep) {
    EXPECT_EQ(give(), 0);
    EXPECT_EQ(reserve.held(), left - SpaceReserve::kStep);
    EXPECT_EQ(file_size(), reserve.held());
    EXPECT_FALSE(reserve.plenty());
    fill_disk();  // whoever asked took it
  }
  EXPECT_EQ(give(), -ENOSPC);
  EXPECT_EQ(metrics.disk_full, 1u);
}

TEST_F(SpaceReserveTest, users_wait_until_it_is_whole_and_there_is_room_besides) {
  start();
  fill_disk();
  EXPECT_EQ(give(), 0);
  fill_disk();
  pass(5 * kSecond);
  EXPECT_FALSE(reserve.plenty());
  EXPECT_EQ(reserve.held(), kReserve - SpaceReserve::kStep);
  make_room(SpaceReserve::kStep);  // just what is missing
  pass(kSecond);
  EXPECT_EQ(reserve.held(), kReserve);
  EXPECT_FALSE(reserve.plenty());
  make_room(SpaceReserve::kStep - 1);
  pass(kSecond);
  EXPECT_FALSE(reserve.plenty());
  make_room(SpaceReserve::kStep);
  pass(kSecond);
  EXPECT_TRUE(reserve.plenty());
  EXPECT_EQ(metrics.disk_full, 0u);
  EXPECT_EQ(file_size(), kReserve);  // what it tried to take besides is free again
}

TEST_F(SpaceReserveTest, a_user_who_finds_no_room_makes_all_wait_until_there_is_some) {
  start();
  fill_disk();
  reserve.on_no_room();
  EXPECT_FALSE(reserve.plenty());
  pass(5 * kSecond);
  EXPECT_FALSE(reserve.plenty());
  make_room(2_MiB);
  pass(kSecond);
  EXPECT_TRUE(reserve.plenty());
}

TEST_F(SpaceReserveTest, a_disk_without_room_for_it_counts_as_full) {
  world.disk().set_size_bytes(kReserve / 2);
  reserve.start();
  pass(2 * kSecond);
  EXPECT_FALSE(reserve.plenty());
  EXPECT_LE(reserve.held(), kReserve / 2);
  EXPECT_EQ(file_size(), reserve.held());
  world.disk().set_size_bytes(4 * kReserve);
  pass(kSecond);
  EXPECT_TRUE(reserve.plenty());
}

TEST_F(SpaceReserveTest, nothing_is_given_after_the_stop) {
  start();
  reserve.stop();
  EXPECT_TRUE(world.run_until([&] { return reserve.closed(); }, kSecond));
  EXPECT_EQ(give(), -ENOSPC);
  EXPECT_EQ(file_size(), kReserve);
}

TEST_F(SpaceReserveTest, of_no_size_it_only_looks_for_room) {
  config.reserve_bytes = 0;
  reserve.start();
  pass(kSecond);
  fill_disk();
  EXPECT_EQ(give(), -ENOSPC);
  EXPECT_FALSE(reserve.plenty());
  make_room(2_MiB);
  pass(kSecond);
  EXPECT_TRUE(reserve.plenty());
}

}  // namespace
}  // namespace weir::partition
