#pragma once
// DiskFixture: tests of the program on a RecordedDisk of its own; skipped, with the reason, where
// no such disk can be made.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"
#include "tests/crash/recorded_disk.h"

namespace weir::crashtest {

class DiskFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    static const std::string kReason = why_not();
    if (!kReason.empty()) GTEST_SKIP() << "SKIPPED: no disk of our own can be made: " << kReason;
    disk_ = std::make_unique<RecordedDisk>(directory_.path(), disk_size());
    ASSERT_TRUE(disk_->format());
  }

  virtual uint64_t disk_size() const { return 512 << 20; }

  // Small files, so that segments roll, journals wrap and blocks are written again and again.
  virtual std::vector<std::string> settings() const {
    return {"--cores", "1", "--set", "num.partitions=4", "--set", "log.segment.bytes=2097152",
            "--set", "journal.size.bytes=16777216"};
  }

  // `port` 0: a free one.
  BrokerOptions options(uint16_t port = 0) const {
    return {.data = disk_->mount_point() + "/data",
            .logs = directory_.path(),
            .port = port,
            .more = settings()};
  }

  // Reads everything back; empty, or what is wrong.
  std::string compare_all(const BrokerProcess& broker,
                          const std::map<Load::Place, uint64_t>& acked) const {
    std::string fault;
    const auto read = read_all(broker.bootstrap(), fault, patience_ms_);
    return fault.empty() ? compare(acked, read) : fault;
  }

  int patience_ms_ = 60'000;  // with a partition that gives nothing
  const TempDirectory directory_;
  std::unique_ptr<RecordedDisk> disk_;
};

}  // namespace weir::crashtest
