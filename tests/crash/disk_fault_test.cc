// The real program on a disk that fails: writes, flushes and reads that are refused, a slow disk, a
// full one. Whatever happens, nothing that was acknowledged is lost, and what can go on goes on.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "tests/crash/damage_audit.h"
#include "tests/crash/disk_fixture.h"

namespace weir::crashtest {
namespace {

constexpr int kExitDeviceFailed = 74;
constexpr int kRate = 4;  // records a millisecond
constexpr int kPatience_ms = 60'000;

constexpr int64_t kStep = 50;  // records, where nothing can be read
constexpr int kStall_ms = 3000;
constexpr uint64_t kReserve = 16 << 20;  // as shipped

// All of one partition that can be read: where nothing comes any more, reading goes on a few
// records further.
std::map<Load::Place, uint64_t> read_around_damage(const std::string& bootstrap,
                                                   int32_t partition, int64_t end) {
  std::map<Load::Place, uint64_t> all;
  for (int64_t at = 0; at < end;) {
    std::string stalled;
    const auto read = read_ranges(
        bootstrap, {{.partition = partition, .from = at, .to = end}}, kStall_ms, stalled);
    all.insert(read.begin(), read.end());
    at = read.empty() ? at + kStep : read.rbegin()->first.second + 1;
    if (stalled.empty()) break;
  }
  return all;
}

class DiskFault : public DiskFixture {
 protected:
  // The device fails in mid-load: the program ends with its exit code, and all that it acknowledged
  // is there on what a power cut leaves of the disk at that moment.
  void fail_device(const DiskFaults& faults) {
    const DiskImage formatted = disk_->image();
    ASSERT_TRUE(disk_->mount());
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    Load load(broker.bootstrap(), kRate);
    ASSERT_TRUE(load.wait_acked(500)) << load.error() << broker.log();
    disk_->set_faults(faults);
    EXPECT_EQ(broker.wait_end(30'000), kExitDeviceFailed) << broker.log();
    const size_t moment = disk_->op_count();
    load.set_paused(true);
    const auto acked = load.acked();
    disk_->set_faults({});
    disk_->unmount();
    const std::vector<DiskOp> ops = disk_->take_recording();
    std::mt19937_64 random(1);
    disk_->set_image(RecordingCutter(formatted, ops).cut(moment, kSectorSize, random).image);
    ASSERT_TRUE(disk_->mount());
    BrokerProcess next(options());
    ASSERT_TRUE(next.wait_ready()) << next.log();
    EXPECT_EQ(compare_all(next, acked), "") << next.log();
    next.kill();
    disk_->unmount();
  }
};

TEST_F(DiskFault, AFailedFlushEndsAcknowledging) { fail_device({.fail_flushes = true}); }

TEST_F(DiskFault, AFailedWriteEndsAcknowledging) { fail_device({.fail_writes = true}); }

TEST_F(DiskFault, ASlowDiskLosesNothingWhenKilledWithWritesInFlight) {
  ASSERT_TRUE(disk_->mount());
  auto broker = std::make_unique<BrokerProcess>(options());
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  Load load(broker->bootstrap(), kRate);
  ASSERT_TRUE(load.wait_acked(500)) << load.error() << broker->log();
  disk_->set_faults({.write_delay_ms = 5, .flush_delay_ms = 100});
  for (int cycle = 0; cycle < 3; ++cycle) {
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 200)) << load.error() << broker->log();
    const uint16_t port = broker->port();
    broker->kill();
    const auto acked = load.acked();
    broker = std::make_unique<BrokerProcess>(options(port));
    ASSERT_TRUE(broker->wait_ready()) << broker->log();
    EXPECT_EQ(compare_all(*broker, acked), "") << broker->log();
  }
  disk_->set_faults({});
  EXPECT_TRUE(load.finish()) << load.error() << broker->log();
  EXPECT_EQ(compare_all(*broker, load.acked()), "") << broker->log();
  broker->kill();
  disk_->unmount();
}

// A disk that hangs for a while: said once, with a name, and once when it is over.
TEST_F(DiskFault, AStuckDiskIsSaidWhileItIsStuck) {
  ASSERT_TRUE(disk_->mount());
  BrokerOptions watched = options();
  watched.metrics = true;
  for (const char* more : {"--set", "weir.io.stuck.ms=500"}) watched.more.emplace_back(more);
  BrokerProcess broker(watched);
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  Load load(broker.bootstrap(), kRate);
  ASSERT_TRUE(load.wait_acked(500)) << load.error() << broker.log();
  EXPECT_EQ(broker.metric("weir_io_stuck_episodes_total"), 0) << broker.log();
  const auto wait_for = [&](auto met) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience_ms);
    while (!met() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return met();
  };
  disk_->set_faults({.write_delay_ms = 3000});
  EXPECT_TRUE(wait_for([&] { return broker.metric("weir_io_stuck") > 0; })) << broker.log();
  EXPECT_EQ(broker.count_in_log("io: disk is stuck call="), 1) << broker.log();
  disk_->set_faults({});
  EXPECT_TRUE(wait_for([&] { return broker.metric("weir_io_stuck") == 0; })) << broker.log();
  EXPECT_TRUE(load.finish()) << load.error() << broker.log();
  const double episodes = broker.metric("weir_io_stuck_episodes_total").value_or(0);
  EXPECT_GE(episodes, 1) << broker.log();
  EXPECT_EQ(broker.count_in_log("io: disk is stuck call="), episodes) << broker.log();
  EXPECT_EQ(broker.count_in_log("io: disk answers again"), episodes) << broker.log();
  EXPECT_GE(broker.count_in_log("file=" + watched.data + "/"), 2 * episodes) << broker.log();
  EXPECT_EQ(compare_all(broker, load.acked()), "") << broker.log();
  broker.kill();
  disk_->unmount();
}

// For a while the disk takes nothing and says that it did, in the middle of a load: what was lost
// is refused, what is there is right; or the file system or the start refuses all of it.
TEST_F(DiskFault, ADiskThatDropsWritesIsContained) {
  ASSERT_TRUE(disk_->mount());
  std::map<Load::Place, uint64_t> acked;
  {
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    Load load(broker.bootstrap(), kRate);
    ASSERT_TRUE(load.wait_acked(2000)) << load.error() << broker.log();
    disk_->set_faults({.drop_writes = true});
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 500)) << load.error() << broker.log();
    disk_->set_faults({});
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 2000)) << load.error() << broker.log();
    ASSERT_TRUE(load.finish()) << load.error() << broker.log();
    broker.kill();
    acked = load.acked();
  }
  disk_->unmount();
  if (!disk_->mount()) return;  // its own metadata was among what was lost
  BrokerProcess next(options());
  if (!next.wait_ready()) {
    EXPECT_EQ(next.wait_end(10'000), 1) << next.log();
    EXPECT_GE(next.count_in_log("error broker:"), 1) << next.log();
    return;
  }
  const Audit found = audit(next.port());
  EXPECT_EQ(compare(acked, found), "") << next.log();
  // Nothing is refused where all that was dropped had been written once more, to its segment.
  fmt::print("{} records refused\n", found.refused.size());
  next.kill();
  disk_->unmount();
}

class BadPage : public DiskFixture {
 protected:
  static constexpr int32_t kVictim = 1;  // partition

  // A good load and a clean stop; then the disk cannot read one page that holds a record of the
  // victim, an early or a late one, in a file whose path has `part` in it. How many records of the
  // victim are gone then?
  void lose_page(const std::string& part, bool late, size_t& missing) {
    ASSERT_NO_FATAL_FAILURE(write_all());
    ASSERT_TRUE(disk_->mount());
    const auto record = acked_.lower_bound({kVictim, late ? end_of(kVictim) - 200 : 200});
    ASSERT_TRUE(record != acked_.end() && record->first.first == kVictim);
    const auto place = find(part, content(record->second));
    ASSERT_TRUE(place) << "record " << record->second << " stands in no file " << part;
    disk_->unmount();
    disk_->set_faults({.unreadable = std::pair{*place / kPageSize * kPageSize, kPageSize}});
    ASSERT_TRUE(disk_->mount());
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    for (int32_t other = 0; other < kPartitions; ++other) {
      if (other == kVictim) continue;
      std::string fault;
      read_ranges(broker.bootstrap(), {{.partition = other, .from = 0, .to = end_of(other)}},
                  kPatience_ms, fault);
      EXPECT_EQ(fault, "") << "partition " << other << "\n" << broker.log();
    }
    const auto read = read_around_damage(broker.bootstrap(), kVictim, end_of(kVictim));
    missing = 0;
    for (auto at = acked_.lower_bound({kVictim, 0}); at != acked_.end(); ++at) {
      if (at->first.first != kVictim) break;
      const auto found = read.find(at->first);
      if (found == read.end()) {
        ++missing;
      } else {
        EXPECT_EQ(found->second, at->second);
      }
    }
    if (missing > kGroupRecords) ADD_FAILURE() << broker.log();
    broker.kill();
    disk_->unmount();
  }

  // More than a write group of 64 KiB and the batch of 100 records that overhangs it can hold, and
  // what one step of reading around it may miss.
  static constexpr size_t kGroupRecords = 400;

 private:
  void write_all() {
    ASSERT_TRUE(disk_->mount());
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    Load load(broker.bootstrap(), kRate);
    ASSERT_TRUE(load.wait_acked(20'000)) << load.error() << broker.log();
    ASSERT_TRUE(load.finish()) << load.error() << broker.log();
    broker.send(SIGTERM);
    ASSERT_EQ(broker.wait_end(20'000), 0) << broker.log();
    acked_ = load.acked();
    disk_->unmount();
  }

  int64_t end_of(int32_t partition) const {
    return std::prev(acked_.lower_bound({partition + 1, 0}))->first.second + 1;
  }

  std::optional<uint64_t> find(const std::string& part, const std::string& text) const {
    using Files = std::filesystem::recursive_directory_iterator;
    for (const auto& entry : Files(disk_->mount_point() + "/data")) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.find(part) == std::string::npos) continue;
      std::ifstream file(path, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      const size_t at = bytes.find(text);
      if (at != std::string::npos) return RecordedDisk::place_of(path, at);
    }
    return std::nullopt;
  }

  std::map<Load::Place, uint64_t> acked_;
};

TEST_F(BadPage, InASegmentCostsItsGroupOnly) {
  size_t missing = 0;
  ASSERT_NO_FATAL_FAILURE(lose_page("topics/load-1", false, missing));
  EXPECT_GT(missing, 0u) << "the bad page was served";
  EXPECT_LE(missing, kGroupRecords);
}

// After a clean stop segments hold everything; the journal is read, but nothing depends on it.
TEST_F(BadPage, InTheJournalCostsNothingAfterACleanStop) {
  size_t missing = 0;
  ASSERT_NO_FATAL_FAILURE(lose_page("/journal/", true, missing));
  EXPECT_EQ(missing, 0u);
}

class FullDisk : public DiskFixture {
 protected:
  uint64_t disk_size() const override { return 96 << 20; }

  // Takes all the space that is left, as a user's file would.
  void fill() {
    const int file = ::open(filler().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    off_t at = 0;
    for (off_t step = 1 << 20; step >= 4096; step /= 2) {
      while (::fallocate(file, 0, at, step) == 0) at += step;
    }
    ::close(file);
  }
  // Until the program has put its reserve aside.
  void wait_for_reserve() const {
    const std::string path = disk_->mount_point() + "/data/reserve.core-0";
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience_ms);
    std::error_code missing;
    while (std::filesystem::file_size(path, missing) != kReserve || missing) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void make_room() { std::filesystem::remove(filler()); }

 private:
  std::string filler() const { return disk_->mount_point() + "/filler"; }
};

// Producing waits for room; reading, committing and the room itself do not.
TEST_F(FullDisk, StopsProducingAndNothingElse) {
  ASSERT_TRUE(disk_->mount());
  BrokerProcess broker(options());
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  Load load(broker.bootstrap(), kRate);
  ASSERT_TRUE(load.wait_acked(2000)) << load.error() << broker.log();
  ASSERT_NO_FATAL_FAILURE(wait_for_reserve());
  fill();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience_ms);
  while (broker.count_in_log("disk is full") == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << broker.log();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(compare_all(broker, load.acked()), "") << broker.log();
  EXPECT_EQ(commit(broker.bootstrap(), 0, 7), "") << broker.log();
  make_room();
  EXPECT_TRUE(load.finish()) << load.error() << broker.log();
  EXPECT_EQ(compare_all(broker, load.acked()), "") << broker.log();
  broker.send(SIGTERM);
  EXPECT_EQ(broker.wait_end(20'000), 0) << broker.log();
  disk_->unmount();
}

// Filled up, killed, started while there is still no room: it starts, and what it had is there.
TEST_F(FullDisk, StartsWithoutRoom) {
  ASSERT_TRUE(disk_->mount());
  auto broker = std::make_unique<BrokerProcess>(options());
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  Load load(broker->bootstrap(), kRate);
  ASSERT_TRUE(load.wait_acked(2000)) << load.error() << broker->log();
  ASSERT_NO_FATAL_FAILURE(wait_for_reserve());
  fill();
  load.set_paused(true);
  const uint16_t port = broker->port();
  broker->kill();
  const auto acked = load.acked();
  broker = std::make_unique<BrokerProcess>(options(port));
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  EXPECT_EQ(compare_all(*broker, acked), "") << broker->log();
  make_room();
  EXPECT_TRUE(load.finish()) << load.error() << broker->log();
  EXPECT_EQ(compare_all(*broker, load.acked()), "") << broker->log();
  broker->kill();
  disk_->unmount();
}

}  // namespace
}  // namespace weir::crashtest
