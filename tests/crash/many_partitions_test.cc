// Thousands of partitions in the real program: made, written, read, found again after kill -9,
// deleted. Memory and descriptors stay within what the documents say of one partition. Times are
// printed, never asserted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/process_figures.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;
using Clock = std::chrono::steady_clock;

constexpr const char* kWide = "wide";
constexpr int32_t kPerRequest = 1000;
constexpr int64_t kPartitionBytes = 10 << 10;

int32_t partition_count() {
  const char* const text = std::getenv("WEIR_MANY_PARTITIONS");
  return text == nullptr ? 10'000 : std::atoi(text);
}

std::string value_of(int32_t partition, int round) {
  return fmt::format("partition {} round {}", partition, round);
}

// Prints how long it lived.
class Step {
 public:
  explicit Step(std::string name) : name_(std::move(name)) {}
  ~Step() {
    fmt::print("{}: {:.2f} s\n", name_,
               std::chrono::duration<double>(Clock::now() - start_).count());
  }

 private:
  const std::string name_;
  const Clock::time_point start_ = Clock::now();
};

class ManyPartitions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!allow_descriptors(static_cast<size_t>(count_) + 2'000)) {
      GTEST_SKIP() << "SKIPPED: this process may not have a descriptor for each of " << count_
                   << " partitions";
    }
    ASSERT_NO_FATAL_FAILURE(start());
  }

  void start() {
    const Step step("start");
    broker_ = std::make_unique<BrokerProcess>(
        BrokerOptions{.data = directory_.path() + "/data", .metrics = true});
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
    connection_ = std::make_unique<WireConnection>(broker_->port());
  }

  // One batch to each partition, a thousand of them a request.
  void produce_all(int round) {
    const Step step("produce to all");
    for (int32_t first = 0; first < count_; first += kPerRequest) {
      std::vector<ByteString> batches;
      for (int32_t p = first; p < std::min(count_, first + kPerRequest); ++p) {
        batches.push_back(batch_of(value_of(p, round)));
      }
      std::vector<ProducePart> parts;
      for (size_t i = 0; i < batches.size(); ++i) {
        parts.push_back({.where = {kWide, first + static_cast<int32_t>(i)}, .batch = batches[i]});
      }
      const auto answer = connection_->ask(Api::produce, 7, produce_request(7, -1, 60'000, parts));
      ASSERT_TRUE(answer) << broker_->log();
      Reader body(*answer);
      const auto results = read_produce(7, body);
      ASSERT_EQ(results.size(), parts.size());
      for (const auto& [where, result] : results) {
        ASSERT_EQ(result.error, 0) << to_string(where);
        ASSERT_EQ(result.base_offset, round) << to_string(where);
      }
    }
  }

  // The record of `round` of each partition, as it was written.
  void fetch_all(int round) {
    const Step step("fetch from all");
    for (int32_t first = 0; first < count_; first += kPerRequest) {
      std::vector<FetchPart> parts;
      for (int32_t p = first; p < std::min(count_, first + kPerRequest); ++p) {
        parts.push_back({.where = {kWide, p}, .offset = round});
      }
      const auto answer = connection_->ask(Api::fetch, 11, fetch_request({}, parts));
      ASSERT_TRUE(answer) << broker_->log();
      Reader body(*answer);
      auto results = read_fetch(body);
      ASSERT_EQ(results.size(), parts.size());
      for (auto& [where, result] : results) {
        ASSERT_EQ(result.error, 0) << to_string(where);
        const auto batch = take_batch(result.records);
        ASSERT_TRUE(batch && batch->checksum_matches()) << to_string(where);
        const auto records = read_records(*batch);
        ASSERT_TRUE(records && !records->empty()) << to_string(where);
        ASSERT_EQ(records->front().first, round) << to_string(where);
        ASSERT_EQ(records->front().second.value, value_of(where.partition, round));
      }
    }
  }

  // Against what docs/ARCHITECTURE.md says of a partition; of few of them other things are more.
  void check_memory(const char* when, uint64_t before) const {
    const uint64_t now = resident_bytes(broker_->pid());
    const int64_t each = (static_cast<int64_t>(now) - static_cast<int64_t>(before)) / count_;
    fmt::print("memory {}: {:.1f} MiB, {} bytes a partition more\n", when,
               static_cast<double>(now) / (1 << 20), each);
    EXPECT_LE(each, count_ < 10 * kPerRequest ? INT64_MAX : kPartitionBytes) << when;
  }

  size_t directories() const {
    const std::filesystem::directory_iterator all(directory_.path() + "/data/topics");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  const int32_t count_ = partition_count();
  const TempDirectory directory_;
  std::unique_ptr<BrokerProcess> broker_;
  std::unique_ptr<WireConnection> connection_;
};

TEST_F(ManyPartitions, AreMadeWrittenFoundAgainAndDeleted) {
  fmt::print("{} partitions\n", count_);
  const uint64_t empty = resident_bytes(broker_->pid());
  const size_t descriptors = descriptor_count(broker_->pid());
  {
    const Step step("create");
    ASSERT_EQ(create_topic(*connection_, kWide, count_), "") << broker_->log();
  }
  check_memory("after creation", empty);
  ASSERT_NO_FATAL_FAILURE(produce_all(0));
  ASSERT_NO_FATAL_FAILURE(fetch_all(0));
  check_memory("after the first batch", empty);
  ASSERT_NO_FATAL_FAILURE(produce_all(1));
  check_memory("after the second batch", empty);

  broker_->kill();
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(fetch_all(0));
  ASSERT_NO_FATAL_FAILURE(fetch_all(1));
  check_memory("after kill -9 and restart", empty);
  ASSERT_NO_FATAL_FAILURE(produce_all(2));
  ASSERT_NO_FATAL_FAILURE(fetch_all(2));

  {
    const Step step("delete");
    ASSERT_EQ(delete_topic(*connection_, kWide), "") << broker_->log();
  }
  {
    const Step step("files gone");
    const auto give_up = Clock::now() + std::chrono::minutes(1);
    while (directories() > 0 || descriptor_count(broker_->pid()) > descriptors + 4) {
      ASSERT_LT(Clock::now(), give_up) << directories() << " directories are left";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  check_memory("after deletion", empty);
  ASSERT_EQ(create_topic(*connection_, "next", 1), "") << broker_->log();
  broker_->send(SIGTERM);
  EXPECT_EQ(broker_->wait_end(20'000), 0) << broker_->log();
}

}  // namespace
}  // namespace weir::crashtest
