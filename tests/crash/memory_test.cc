// Memory that is short. What the program takes under load is bounded by its settings, so that a
// limit a little above them never ends it. And a heap that refuses all the same: the program ends
// at once, with a line and a code of its own, and nothing that was acknowledged is lost; what it
// lacks memory for is another thing each time.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"
#include "tests/crash/process_figures.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;

namespace fs = std::filesystem;

constexpr int kExitOutOfMemory = 71;
// Small budgets, so that they are soon used up.
const std::vector<std::string> kSettings = {
    "--cores", "1", "--set", "num.partitions=4", "--set", "request.memory.max.bytes=67108864",
    "--set", "fetch.memory.max.bytes=67108864", "--set", "log.cleaner.dedupe.buffer.size=1048576"};

ByteString large_batch(char fill) { return batch_of(std::string(900'000, fill)); }

// A group of processes that may have only so much memory together; whatever needs more is killed.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes) {
    for (const auto& [top, file] : {std::pair("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                                    std::pair("/sys/fs/cgroup", "memory.max")}) {
      path_ = fs::path(top) / fmt::format("weir-test-{}", ::getpid());
      std::error_code refused;
      if (!fs::create_directory(path_, refused)) continue;
      // Only where there is such a controller: otherwise this would make a file.
      if (fs::exists(path_ / file, refused)) {
        std::ofstream limit(path_ / file);
        limit << bytes << std::flush;
        works_ = limit.good();
      }
      if (works_) return;
      fs::remove(path_, refused);
    }
  }
  ~MemoryLimit() {
    std::error_code busy;
    if (works_) fs::remove(path_, busy);
  }
  MemoryLimit(const MemoryLimit&) = delete;
  [[nodiscard]] bool works() const { return works_; }
  [[nodiscard]] std::string group() const { return works_ ? path_.string() : std::string(); }

 private:
  fs::path path_;
  bool works_ = false;
};

// What docs/ARCHITECTURE.md says of a process with these settings: requests twice, fetches, 80 for
// the core, 32 for the process, the cleaner.
constexpr uint64_t kBudget = (2 * 64 + 64 + 80 + 32 + 1) * kMiB;
constexpr int kConnections = 64;  // that produce, and as many that fetch
constexpr int kDeep = 4;          // requests of each at once
constexpr int kRounds = 4;
constexpr int32_t kPartitions = 4;

// All at once, again and again: everybody who reads asks for all there is, from the first record
// on, and takes none of it before everybody who produces has sent large batches and has its
// answers.
void produce_and_fetch(const BrokerProcess& broker) {
  std::vector<WireConnection> producers;
  std::vector<WireConnection> readers;
  for (int i = 0; i < kConnections; ++i) {
    producers.emplace_back(broker.port());
    readers.emplace_back(broker.port());
  }
  ASSERT_EQ(create_topic(producers[0], "wide", kPartitions), "");
  const ByteString batch = large_batch('x');
  std::vector<FetchPart> everything;
  for (int32_t p = 0; p < kPartitions; ++p) everything.push_back({.where = {"wide", p}});
  const ByteString fetch =
      fetch_request({.size_max = 50 << 20, .partition_size_max = 50 << 20}, everything);
  size_t fetched = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (WireConnection& reader : readers) {
      for (int i = 0; i < kDeep; ++i) ASSERT_TRUE(reader.send(Api::fetch, 11, fetch));
    }
    for (int deep = 0; deep < kDeep; ++deep) {
      for (int i = 0; i < kConnections; ++i) {
        const ProducePart part{.where = {"wide", i % kPartitions}, .batch = batch};
        const auto request = produce_request(7, -1, 60'000, {&part, 1});
        ASSERT_TRUE(producers[static_cast<size_t>(i)].send(Api::produce, 7, request));
      }
    }
    for (WireConnection& producer : producers) {
      for (int i = 0; i < kDeep; ++i) ASSERT_TRUE(producer.receive()) << broker.log();
    }
    for (WireConnection& reader : readers) {
      for (int i = 0; i < kDeep; ++i) {
        const auto answer = reader.receive();
        ASSERT_TRUE(answer) << broker.log();
        fetched += answer->size();
      }
    }
  }
  fmt::print("fetched {} MiB, buffers {} MiB\n", fetched / kMiB,
             broker.metric("weir_buffer_bytes").value_or(0) / kMiB);
  EXPECT_GT(fetched, 0u);
  EXPECT_GT(broker.metric("weir_network_memory_waits_total"), 0) << "requests had room enough";
  EXPECT_GT(broker.metric("weir_read_memory_waits_total"), 0) << "fetches had room enough";
}

TEST(Memory, ALimitALittleAboveItsBudgetsIsNeverMet) {
  const TempDirectory directory;
  const MemoryLimit limit(kBudget + kBudget / 20);
  if (!limit.works()) {
    fmt::print("NOTE: no group of processes can be limited here; its size is looked at instead\n");
  }
  BrokerProcess broker({.data = directory.path() + "/data", .metrics = true,
                        .group = limit.group(), .more = kSettings});
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  const uint64_t begin = resident_bytes_max(broker.pid());
  ASSERT_NO_FATAL_FAILURE(produce_and_fetch(broker));
  const uint64_t most = resident_bytes_max(broker.pid());
  fmt::print("begin {} MiB, most {} MiB of {} MiB\n", begin / kMiB, most / kMiB, kBudget / kMiB);
  EXPECT_LE(most, kBudget + kBudget / 20) << broker.log();
  broker.send(SIGTERM);
  EXPECT_EQ(broker.wait_end(20'000), 0) << broker.log();
}

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
