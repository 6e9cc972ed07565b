// The program as a process among others: signals in every order, a processor that is taken away for
// a while, crash after crash, no more descriptors, a directory it may not write.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"

namespace weir::crashtest {
namespace {

constexpr int kRecordsPerMs = 5;

uint64_t bytes_below(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void expect_everything(const BrokerProcess& broker, const Load& load) {
  const auto acked = load.acked();  // it may go on meanwhile
  std::string fault;
  const auto read = read_all(broker.bootstrap(), fault);
  EXPECT_EQ(fault, "") << broker.log();
  EXPECT_EQ(compare(acked, read), "") << broker.log();
}

class Process : public ::testing::Test {
 protected:
  void start(std::vector<std::string> more = kLoadSettings) {
    options_.more = std::move(more);
    options_.data = directory_.path() + "/data";
    broker_ = std::make_unique<BrokerProcess>(options_);
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
    options_.port = broker_->port();
  }

  const TempDirectory directory_;
  BrokerOptions options_;
  std::unique_ptr<BrokerProcess> broker_;
};

TEST_F(Process, ASecondSigtermChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(start());
  Load load(broker_->bootstrap(), kRecordsPerMs);
  ASSERT_TRUE(load.wait_acked(1000)) << load.error();
  broker_->send(SIGTERM);
  broker_->send(SIGTERM);
  EXPECT_EQ(broker_->wait_end(10'000), 0) << broker_->log();
  ASSERT_NO_FATAL_FAILURE(start());
  expect_everything(*broker_, load);
}

TEST_F(Process, KilledWhileItStopsIsJustACrash) {
  ASSERT_NO_FATAL_FAILURE(start());
  Load load(broker_->bootstrap(), kRecordsPerMs);
  for (int cycle = 0; cycle < 5; ++cycle) {
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 500)) << load.error();
    broker_->send(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(cycle));
    broker_->kill();
    ASSERT_NO_FATAL_FAILURE(start());
    expect_everything(*broker_, load);
  }
}

// Stopped and continued, as when a virtual machine is moved: clients reconnect or wait, nothing is
// lost, nothing is there twice.
TEST_F(Process, GoesOnAfterItStoodStill) {
  ASSERT_NO_FATAL_FAILURE(start());
  Load load(broker_->bootstrap(), kRecordsPerMs);
  ASSERT_TRUE(load.wait_acked(500)) << load.error();
  for (const int pause_ms : {100, 3000}) {
    broker_->send(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    broker_->send(SIGCONT);
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 500)) << load.error() << broker_->log();
  }
  EXPECT_TRUE(load.finish()) << load.error();
  expect_everything(*broker_, load);
}

// Ten crashes without work in between: the directory does not grow with them.
TEST_F(Process, CrashAfterCrashTakesNoSpace) {
  ASSERT_NO_FATAL_FAILURE(start());
  Load load(broker_->bootstrap(), kRecordsPerMs);
  ASSERT_TRUE(load.wait_acked(500)) << load.error();
  load.set_paused(true);
  broker_->kill();
  ASSERT_NO_FATAL_FAILURE(start());
  broker_->kill();
  const uint64_t before = bytes_below(options_.data);
  for (int crash = 0; crash < 10; ++crash) {
    ASSERT_NO_FATAL_FAILURE(start());
    broker_->kill();
  }
  EXPECT_LE(bytes_below(options_.data), before + before / 10);
  ASSERT_NO_FATAL_FAILURE(start());
  expect_everything(*broker_, load);
}

// Few descriptors: what cannot be opened is refused for now, and nothing that was is lost.
TEST_F(Process, LivesWithFewDescriptors) {
  options_.descriptors = 48;
  ASSERT_NO_FATAL_FAILURE(start());
  Load load(broker_->bootstrap(), kRecordsPerMs);
  ASSERT_TRUE(load.wait_acked(500)) << load.error() << broker_->log();
  {
    std::vector<std::unique_ptr<Load>> many;
    for (int i = 0; i < 40; ++i) many.push_back(std::make_unique<Load>(broker_->bootstrap(), 0));
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  ASSERT_TRUE(load.wait_acked(load.acked_count() + 500)) << load.error() << broker_->log();
  EXPECT_TRUE(load.finish()) << load.error() << broker_->log();
  expect_everything(*broker_, load);
}

TEST_F(Process, ADirectoryThatCannotBeMadeIsRefused) {
  const std::string data = "/proc/weir-data";
  BrokerProcess broker({.data = data, .logs = directory_.path()});
  EXPECT_EQ(broker.wait_end(30'000), 1) << broker.log();
  EXPECT_GE(broker.count_in_log(data), 1) << broker.log();
}

}  // namespace
}  // namespace weir::crashtest
