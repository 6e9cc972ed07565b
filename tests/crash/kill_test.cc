// Proves that an acknowledgement survives SIGKILL of the process, and that SIGTERM ends it in good
// order: real program, real disk, real client under load all the while. After each kill everything
// is read back and compared with what the client was told; at the end nothing may be missing or
// there twice.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <thread>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"

namespace weir::crashtest {
namespace {

constexpr int kCycles = 10;
constexpr int kKillRate = 10;


void kill_under_load(bool forbid_rings) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data",
                        .forbid_rings = forbid_rings,
                        .more = kLoadSettings};
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  options.port = broker->port();  // the client knows this address
  Load load(broker->bootstrap(), kKillRate);
  std::mt19937 random(20'260'729);
  size_t acked_before = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    ASSERT_TRUE(load.wait_acked(acked_before + 500)) << load.error() << broker->log();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    broker->kill();
    const auto acked = load.acked();
    acked_before = acked.size();
    broker = std::make_unique<BrokerProcess>(options);
    ASSERT_TRUE(broker->wait_ready()) << broker->log();
    std::string fault;
    const auto read = read_all(broker->bootstrap(), fault);
    ASSERT_EQ(fault, "") << "cycle " << cycle << "\n" << broker->log();
    ASSERT_EQ(compare(acked, read), "") << "cycle " << cycle << "\n" << broker->log();
  }
  ASSERT_TRUE(load.finish()) << load.error() << broker->log();
  std::string fault;
  const auto read = read_all(broker->bootstrap(), fault);
  ASSERT_EQ(fault, "");
  EXPECT_EQ(compare(load.acked(), read), "");
  EXPECT_EQ(read.size(), load.sent_count());
  broker->send(SIGTERM);
  EXPECT_EQ(broker->wait_end(10'000), 0) << broker->log();
}

TEST(Kill, AcknowledgedRecordsAreThereOnceAndUnchanged) { kill_under_load(false); }

TEST(Kill, TheSameWithoutRings) { kill_under_load(true); }

uint32_t big_endian(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Records in the segment files of the load's topic, as any reader of Kafka segments counts them.
uint64_t records_in_segments(const std::string& data) {
  constexpr size_t kLengthAt = 8;
  constexpr size_t kLengthEnd = 12;
  constexpr size_t kCountAt = 57;
  constexpr size_t kHeaderSize = 61;
  uint64_t records = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data + "/topics")) {
    const bool of_load = entry.path().parent_path().filename().string().starts_with(kTopic);
    if (!of_load || entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = 0; at + kHeaderSize <= bytes.size();) {
      const uint32_t length = big_endian(bytes, at + kLengthAt);
      if (length == 0) break;
      records += big_endian(bytes, at + kCountAt);
      at += kLengthEnd + length;
    }
  }
  return records;
}

TEST(Stop, SegmentFilesHoldEverythingAfterACleanStop) {
  const TempDirectory directory;
  const BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  BrokerProcess broker(options);
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  Load load(broker.bootstrap(), 1);
  ASSERT_TRUE(load.wait_acked(50)) << load.error();
  ASSERT_TRUE(load.finish()) << load.error();
  broker.send(SIGTERM);
  ASSERT_EQ(broker.wait_end(10'000), 0) << broker.log();
  EXPECT_EQ(records_in_segments(options.data), load.acked_count());
}

TEST(Stop, SigtermUnderLoadExitsCleanlyWithinTenSeconds) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  options.port = broker->port();
  Load load(broker->bootstrap(), kKillRate);
  ASSERT_TRUE(load.wait_acked(2000)) << load.error();
  broker->send(SIGTERM);
  EXPECT_EQ(broker->wait_end(10'000), 0) << broker->log();
  const auto acked = load.acked();
  broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  std::string fault;
  const auto read = read_all(broker->bootstrap(), fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(compare(acked, read), "");
}

}  // namespace
}  // namespace weir::crashtest
