// A heap that refuses: the program ends at once, with a line and a code of its own, and nothing
// that was acknowledged is lost. What it lacks memory for is another thing each time.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;

constexpr int kExitOutOfMemory = 71;

ByteString large_batch(char fill) { return batch_of(std::string(900'000, fill)); }

uint64_t address_space(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/statm", pid));
  uint64_t pages = 0;
  in >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Memory, AHeapThatRefusesEndsItAndLosesNothing) {
  const TempDirectory directory;
  BrokerOptions options{.data = directory.path() + "/data", .more = kLoadSettings};
  auto broker = std::make_unique<BrokerProcess>(options);
  ASSERT_TRUE(broker->wait_ready()) << broker->log();
  options.port = broker->port();
  Load load(broker->bootstrap(), 4);
  int ended = 0;
  // The more it may take first, the later and elsewhere it is refused.
  for (int life = 0; life < 12; ++life) {
    ASSERT_TRUE(load.wait_acked(load.acked_count() + 300)) << load.error() << broker->log();
    const rlimit most{.rlim_cur = address_space(broker->pid()) +
                                  (life == 0 ? 0 : uint64_t{16'384} << life),
                      .rlim_max = RLIM_INFINITY};
    ASSERT_EQ(::prlimit(broker->pid(), RLIMIT_AS, &most, nullptr), 0);
    // Requests that come whole take memory.
    std::vector<WireConnection> crowd;
    const ByteString batch = large_batch('y');
    const ProducePart part{.where = {"heap", 0}, .batch = batch};
    const auto request = produce_request(7, -1, 60'000, {&part, 1});
    try {
      for (int i = 0; i < 100 && !broker->wait_end(0); ++i) {
        crowd.emplace_back(broker->port());
        if (i == 0) create_topic(crowd[0], "heap", 1);
        crowd.back().send(Api::produce, 7, request);
      }
    } catch (const std::runtime_error&) {
      // Nobody takes connections: it is on its way.
    }
    if (broker->count_in_log("weir: out of memory") > 0) {
      ++ended;
      EXPECT_EQ(broker->wait_end(10'000), kExitOutOfMemory) << broker->log();
    } else {
      EXPECT_EQ(broker->wait_end(0), std::nullopt) << broker->log();
    }
    broker->kill();
    const auto acked = load.acked();
    broker = std::make_unique<BrokerProcess>(options);
    ASSERT_TRUE(broker->wait_ready()) << broker->log();
    std::string fault;
    EXPECT_EQ(compare(acked, read_all(broker->bootstrap(), fault)), "") << broker->log();
    EXPECT_EQ(fault, "");
  }
  fmt::print("ended {} times\n", ended);
  EXPECT_GT(ended, 0) << "it was never refused";
  EXPECT_TRUE(load.finish()) << load.error() << broker->log();
}

}  // namespace
}  // namespace weir::crashtest
