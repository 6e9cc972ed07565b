// Proves that an acknowledgement survives SIGKILL of the process, and that SIGTERM ends it in good
// order: real program, real disk, real client under load all the while. After each kill everything
// is read back and compared with what the client was told; at the end nothing may be missing or
// there twice.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"

namespace weir::crashtest {
namespace {

constexpr int kCycles = 10;
constexpr int kRecordsPerMs = 10;


void kill_under_load(bool forbid_rings) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data",
                        .forbid_rings = forbid_rings,
                        .more = kLoadSettings};
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  options.port = broker->port();  // the client knows this address
  Load load(broker->bootstrap(), kRecordsPerMs);
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

TEST(Stop, SigtermUnderLoadExitsCleanlyWithinTenSeconds) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  options.port = broker->port();
  Load load(broker->bootstrap(), kRecordsPerMs);
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
