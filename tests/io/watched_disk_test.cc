// WatchedDisk on the simulated disk, where some calls take very long: results are those of the disk
// behind it, a call that hangs is counted while it does and begins one episode, a quick disk raises
// no alarm, and nothing goes on when nothing is under way.

#include "io/watched_disk.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "io/base/logging.h"
#include "tests/io/sim_support.h"

namespace weir::io::sim {
namespace {

constexpr int64_t kStuck_ms = 100;
constexpr int64_t kMs = 1'000'000;  // ns
// Of calls that take a second at least, and of such that are over at once.
constexpr int64_t kHangs_ns = 100'000 * kMs;
constexpr int64_t kQuick_ns = 1'000;

class WatchedDiskTest : public ::testing::Test {
 protected:
  void start(int64_t latency_ns, int64_t stuck_ms = kStuck_ms) {
    base::set_log_level(base::LogLevel::off);
    SimOptions options;
    options.faults.disk_latency_ns = latency_ns;
    world_ = std::make_unique<SimWorld>(1, options);
    disk_ = std::make_unique<WatchedDisk>(world_->core(0).disk, loop(), stuck_ms);
    op_.bind<&WatchedDiskTest::on_done>(*this);
    sleep_op_.bind<&WatchedDiskTest::on_slept>(*this);
    timer_.bind<&WatchedDiskTest::on_time>(*this);
  }
  Loop& loop() { return world_->core(0).loop; }
  int32_t wait() {
    loop().run_until(op_);
    return op_.result();
  }
  void pass(int64_t ms) {
    sleep_op_.arm();
    loop().timers().arm_after(timer_, ms * kMs);
    loop().run_until(sleep_op_);
  }

  std::unique_ptr<SimWorld> world_;
  std::unique_ptr<WatchedDisk> disk_;
  Op op_;
  uint64_t stuck_at_end_ = 0;

 private:
  void on_done(Op&) { stuck_at_end_ = disk_->stuck_count(); }
  void on_slept(Op&) {}
  void on_time() { loop().finish(sleep_op_, 0); }
  Op sleep_op_;
  Timer timer_;
};

TEST_F(WatchedDiskTest, passes_calls_and_results_on) {
  start(kQuick_ns);
  disk_->open(op_, "/file", {.create = true});
  const FileId file(wait());
  ASSERT_GE(file.value(), 0);
  EXPECT_EQ(disk_->path_of(file), "/file");
  const std::string text = "twelve bytes";
  const Slice piece{bytes_of(text).data(), text.size()};
  disk_->write(op_, file, {&piece, 1}, 0, Durability::on_completion);
  EXPECT_EQ(wait(), 12);
  std::string back(12, ' ');
  disk_->read(op_, file, {reinterpret_cast<std::byte*>(back.data()), back.size()}, 0);
  EXPECT_EQ(wait(), 12);
  EXPECT_EQ(back, text);
  disk_->sync(op_, file);
  EXPECT_EQ(wait(), 0);
  disk_->allocate(op_, file, 0, 100);
  EXPECT_EQ(wait(), 0);
  disk_->truncate(op_, file, 5);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(disk_->info("/file")->size, 5u);
  disk_->close(op_, file);
  EXPECT_EQ(wait(), 0);
  disk_->rename(op_, "/file", "/other");
  EXPECT_EQ(wait(), 0);
  disk_->make_directory(op_, "/directory");
  EXPECT_EQ(wait(), 0);
  disk_->sync_directory(op_, "/");
  EXPECT_EQ(wait(), 0);
  disk_->open(op_, "/file", {});
  EXPECT_EQ(wait(), -ENOENT);
  disk_->remove(op_, "/other");
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(disk_->info("/other"));
  EXPECT_TRUE(disk_->info("/directory")->is_directory);
  EXPECT_EQ(disk_->list("/directory")->size(), 0u);
  EXPECT_EQ(disk_->episodes(), 0u);
}

TEST_F(WatchedDiskTest, a_call_is_stuck_from_its_time_to_its_end) {
  start(kHangs_ns);
  disk_->open(op_, "/file", {.create = true});
  pass(kStuck_ms - 1);
  EXPECT_EQ(disk_->stuck_count(), 0u);
  pass(kStuck_ms / 4);
  ASSERT_EQ(disk_->stuck_count(), 1u);
  ASSERT_TRUE(op_.armed());
  EXPECT_EQ(disk_->episodes(), 1u);
  EXPECT_GE(wait(), 0);
  EXPECT_EQ(stuck_at_end_, 0u) << "whoever hears of the end must not find it stuck";
  EXPECT_EQ(disk_->episodes(), 1u);
}

TEST_F(WatchedDiskTest, calls_that_are_stuck_together_are_one_episode) {
  start(kHangs_ns);
  Waiter other;
  disk_->open(op_, "/a", {.create = true});
  pass(kStuck_ms / 2);
  disk_->open(other.op, "/b", {.create = true});
  pass(kStuck_ms);
  EXPECT_EQ(disk_->stuck_count(), 1u) << "the second is not late yet";
  pass(kStuck_ms);
  ASSERT_EQ(disk_->stuck_count(), 2u);
  EXPECT_EQ(disk_->episodes(), 1u);
  wait();
  loop().run_until(other.op);
  EXPECT_EQ(disk_->stuck_count(), 0u);
  disk_->open(op_, "/c", {.create = true});
  pass(2 * kStuck_ms);
  ASSERT_EQ(disk_->stuck_count(), 1u);
  EXPECT_EQ(disk_->episodes(), 2u);
  wait();
}

// The second call is made while the first is stuck, and gets its memory back and forth.
TEST_F(WatchedDiskTest, quick_calls_beside_one_that_hangs_raise_nothing) {
  start(kHangs_ns);
  Waiter hangs;
  disk_->open(hangs.op, "/a", {.create = true});
  pass(2 * kStuck_ms);
  ASSERT_EQ(disk_->stuck_count(), 1u);
  world_->faults().disk_latency_ns = kQuick_ns;
  for (int i = 0; i < 1'000; ++i) {
    disk_->make_directory(op_, "/b");
    EXPECT_EQ(wait(), i == 0 ? 0 : -EEXIST);
    EXPECT_EQ(disk_->stuck_count(), 1u);
  }
  loop().run_until(hangs.op);
  EXPECT_EQ(disk_->stuck_count(), 0u);
  EXPECT_EQ(disk_->episodes(), 1u);
}

// A busy disk whose every call is quick, for much longer than one call may take.
TEST_F(WatchedDiskTest, a_busy_disk_is_not_a_stuck_one) {
  start(2 * kMs);
  const Instant begin = loop().timers().clock().now();
  while (loop().timers().clock().now() - begin < 20 * kStuck_ms * kMs) {
    disk_->make_directory(op_, "/a");
    wait();
  }
  EXPECT_EQ(disk_->episodes(), 0u);
}

TEST_F(WatchedDiskTest, an_idle_disk_lets_the_core_sleep) {
  start(kQuick_ns);
  disk_->make_directory(op_, "/a");
  EXPECT_EQ(wait(), 0);
  pass(kStuck_ms);
  EXPECT_EQ(loop().timers().armed_count(), 0u);
}

TEST_F(WatchedDiskTest, nothing_is_stuck_where_nobody_asked) {
  start(kHangs_ns, 0);
  disk_->open(op_, "/file", {.create = true});
  pass(2 * kStuck_ms);
  EXPECT_TRUE(op_.armed());
  EXPECT_EQ(loop().timers().armed_count(), 0u);
  EXPECT_GE(wait(), 0);
  EXPECT_EQ(disk_->episodes(), 0u);
}

}  // namespace
}  // namespace weir::io::sim
