// No more descriptors, while the program serves: files that are open go on, a segment that would
// have to be opened is refused, for its partition and for the time being, and nothing that was
// acknowledged is lost. The limit is taken away and given back from outside (prlimit).

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "tests/crash/broker_process.h"
#include "tests/crash/load.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;
using Clock = std::chrono::steady_clock;

constexpr int kDescriptorsRate = 5;
constexpr int kStorageError = codes::kStorageError;

// The descriptor that the process would get next.
rlim_t lowest_free_descriptor(pid_t pid) {
  std::set<std::string> taken;
  const std::filesystem::path all = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(all)) {
    taken.insert(entry.path().filename().string());
  }
  rlim_t lowest = 0;
  while (taken.contains(std::to_string(lowest))) ++lowest;
  return lowest;
}

void allow(pid_t pid, rlim_t count) {
  rlimit limit{};
  ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), 0);
  limit.rlim_cur = count;
  ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr), 0);
}

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    broker_ = std::make_unique<BrokerProcess>(
        BrokerOptions{.data = directory_.path() + "/data",
                      .more = {"--cores", "1", "--set", "num.partitions=4", "--set",
                               "log.segment.bytes=1048576"}});
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
  }

  size_t sealed_segments() const {
    size_t ledgers = 0;
    const std::filesystem::path topics = directory_.path() + "/data/topics";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(topics)) {
      if (entry.path().extension() == ".ledger") ++ledgers;
    }
    return ledgers;
  }

  // One answer for the first record of partition 0 and the last of partition 1.
  std::map<TopicPartition, FetchResult> fetch_old_and_new(WireConnection& connection,
                                                          int64_t last) {
    const std::vector<FetchPart> parts = {{.where = old_, .offset = 0},
                                          {.where = new_, .offset = last}};
    answer_ = connection.ask(Api::fetch, 11, fetch_request({}, parts)).value_or(ByteString());
    Reader body(answer_);
    return read_fetch(body);
  }

  const TempDirectory directory_;
  const TopicPartition old_{kTopic, 0};
  const TopicPartition new_{kTopic, 1};
  std::unique_ptr<BrokerProcess> broker_;
  ByteString answer_;
};

TEST_F(Descriptors, NoneLeftForSegmentsIsNotTheEnd) {
  Load load(broker_->bootstrap(), kDescriptorsRate);
  const auto give_up = Clock::now() + std::chrono::minutes(1);
  while (sealed_segments() < 8) {
    ASSERT_LT(Clock::now(), give_up) << load.error() << broker_->log();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  WireConnection connection(broker_->port());
  // Answered: accepted.
  ASSERT_TRUE(connection.ask(Api::metadata, 4, metadata_request({}, false)));
  // What is open for a moment only must not count: it would be free again at once.
  load.set_paused(true);
  auto lowest = lowest_free_descriptor(broker_->pid());
  for (int same = 0; same < 25;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto now = lowest_free_descriptor(broker_->pid());
    same = now == lowest ? same + 1 : 0;
    lowest = now;
  }
  const auto acked = load.acked();
  const int64_t last = std::prev(acked.lower_bound({2, 0}))->first.second;
  allow(broker_->pid(), lowest);
  auto results = fetch_old_and_new(connection, last);
  EXPECT_EQ(results[old_].error, kStorageError);
  EXPECT_EQ(results[new_].error, 0);
  EXPECT_FALSE(results[new_].records.empty());
  load.set_paused(false);
  // Until segments are full, and one that would have to be made is not.
  while (broker_->count_in_log("no room for log") < 4) {
    ASSERT_LT(Clock::now(), give_up) << load.error() << broker_->log();
    ASSERT_EQ(broker_->wait_end(0), std::nullopt) << broker_->log();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT(load.acked_count(), acked.size());
  allow(broker_->pid(), 1000);
  results = fetch_old_and_new(connection, last);
  EXPECT_EQ(results[old_].error, 0);
  EXPECT_FALSE(results[old_].records.empty());
  EXPECT_TRUE(load.wait_acked(load.acked_count() + 500)) << load.error() << broker_->log();
  EXPECT_TRUE(load.finish()) << load.error() << broker_->log();
  std::string fault;
  EXPECT_EQ(compare(load.acked(), read_all(broker_->bootstrap(), fault)), "") << broker_->log();
  EXPECT_EQ(fault, "");
}

// Connections may take what there is, but for what files need.
TEST_F(Descriptors, ConnectionsLeaveSomeForFiles) {
  broker_ = std::make_unique<BrokerProcess>(BrokerOptions{.data = directory_.path() + "/few",
                                                          .descriptors = 200,
                                                          .more = kLoadSettings});
  ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
  EXPECT_EQ(broker_->count_in_log("max.connections=136 instead of 10000"), 1) << broker_->log();
  std::vector<WireConnection> crowd;
  for (int i = 0; i < 150; ++i) crowd.emplace_back(broker_->port());
  size_t served = 0;
  for (WireConnection& one : crowd) {
    if (one.ask(Api::metadata, 4, metadata_request({}, false))) ++served;
  }
  EXPECT_LE(served, 136u);
  EXPECT_GE(served, 68u) << "the share of one core";
  size_t made = 0;
  for (WireConnection& one : crowd) {
    if (create_topic(one, "topic-" + std::to_string(made), 1) != "") continue;
    const ByteString batch = batch_of("x");
    const ProducePart part{.where = {"topic-" + std::to_string(made), 0}, .batch = batch};
    const auto answer = one.ask(Api::produce, 7, produce_request(7, -1, 30'000, {&part, 1}));
    ASSERT_TRUE(answer) << broker_->log();
    Reader body(*answer);
    EXPECT_EQ(read_produce(7, body)[part.where].error, 0) << "topic " << made;
    if (++made == 10) break;
  }
  EXPECT_EQ(made, 10u);
}

}  // namespace
}  // namespace weir::crashtest
