// Proves rule 8 for one file: a new process gets it only when the last write of the dead one has
// landed; what cannot be opened at all is reported at once.
#include "io/locked_open.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "io/base/logging.h"
#include "tests/io/sim_support.h"

namespace weir::io {
namespace {

class LockedOpen : public testing::Test {
 protected:
  void SetUp() override { base::set_log_level(base::LogLevel::off); }
};

TEST_F(LockedOpen, opens_what_nobody_writes) {
  sim::SimWorld world(1);
  const auto file = open_locked(world.core(0).loop, world.core(0).disk, "/data/file",
                                {.create = true});
  ASSERT_TRUE(file);
  EXPECT_EQ(sim::write_file(world, *file, "text", 0), 4);
}

TEST_F(LockedOpen, reports_what_is_missing) {
  sim::SimWorld world(1);
  const auto file = open_locked(world.core(0).loop, world.core(0).disk, "/data/none", {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ENOENT);
}

TEST_F(LockedOpen, waits_until_the_writes_of_a_dead_process_have_landed) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    sim::SimOptions options;
    options.faults.disk_latency_ns = 20'000'000;
    sim::SimWorld world(seed, options);
    const FileId file = sim::open_file(world, "/data/file", {.create = true, .locked = true});
    ASSERT_EQ(sim::sync_directory(world, "/data"), 0);
    sim::Waiter waiter;
    const std::string text(5'000, 'x');
    const Slice slice{sim::bytes_of(text).data(), text.size()};
    world.core(0).disk.write(waiter.op, file, std::span(&slice, 1), 0, Durability::none);
    world.run_for(static_cast<int64_t>(seed) * 100'000);
    const bool landed = waiter.ran;
    world.crash(sim::CrashKind::process_kill);
    world.restart(1);
    const auto again = open_locked(world.core(0).loop, world.core(0).disk, "/data/file", {});
    ASSERT_TRUE(again) << "seed " << seed;
    EXPECT_EQ(world.disk().landing_count(), 0u);
    EXPECT_EQ(sim::read_file(world, *again, 0, 10'000), text) << "seed " << seed << " " << landed;
  }
}

TEST_F(LockedOpen, ends_when_the_world_does) {
  sim::SimOptions options;
  options.faults.disk_latency_ns = 200'000'000;
  sim::SimWorld world(3, options);
  const FileId file = sim::open_file(world, "/data/file", {.create = true, .locked = true});
  sim::Waiter waiter;
  const std::string text(5'000, 'x');
  const Slice slice{sim::bytes_of(text).data(), text.size()};
  world.core(0).disk.write(waiter.op, file, std::span(&slice, 1), 0, Durability::none);
  world.crash(sim::CrashKind::process_kill);
  world.restart(1);
  world.crash_at_event(world.event_count() + 6, sim::CrashKind::power_cut);
  EXPECT_FALSE(open_locked(world.core(0).loop, world.core(0).disk, "/data/file", {}));
}

}  // namespace
}  // namespace weir::io
