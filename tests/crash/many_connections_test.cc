// 10,000 connections to the real program: idle, all active at once, all gone at once. What is
// bounded is bounded (memory, descriptors), and everybody is answered. Times are printed, never
// asserted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
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

constexpr size_t kCount = 10'000;
constexpr size_t kDescriptors = kCount + 2'000;
constexpr uint64_t kIdleMemoryMax = 64 * kMiB;
constexpr auto kQuiet = std::chrono::seconds(2);
constexpr const char* kCrowdTopic = "crowd";
constexpr int32_t kCrowdPartitions = 4;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class ManyConnections : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!allow_descriptors(kDescriptors)) {
      GTEST_SKIP() << "SKIPPED: this process may not have " << kDescriptors << " descriptors";
    }
    broker_ = std::make_unique<BrokerProcess>(BrokerOptions{
        .data = directory_.path() + "/data",
        .metrics = true,
        .more = {"--set", "max.connections=20000", "--set", "max.connections.per.ip=20000"}});
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
    WireConnection first(broker_->port());
    ASSERT_EQ(create_topic(first, kCrowdTopic, kCrowdPartitions), "");
  }

  // Until the broker says so of a metric; false after a minute.
  bool wait_for(const std::string& metric, double value) {
    const auto give_up = Clock::now() + std::chrono::minutes(1);
    while (broker_->metric(metric).value_or(-1) < value) {
      if (Clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  void open_all() {
    const double opened = broker_->metric("weir_connections_opened_total").value();
    const auto start = Clock::now();
    crowd_.reserve(kCount);
    for (size_t i = 0; i < kCount; ++i) crowd_.emplace_back(broker_->port());
    ASSERT_TRUE(wait_for("weir_connections_opened_total", opened + kCount)) << broker_->log();
    const double took = seconds_since(start);
    fmt::print("opened {} connections in {:.2f} s, {:.0f} a second\n", kCount, took,
               kCount / took);
  }

  // Each connection sends, then each reads its answer.
  template <class Body, class Answer>
  void ask_all(const char* what, Api api, int version, const Body& body, const Answer& on_answer) {
    const auto start = Clock::now();
    for (size_t i = 0; i < crowd_.size(); ++i) {
      ASSERT_TRUE(crowd_[i].send(api, version, body(i))) << what << " of connection " << i;
    }
    for (size_t i = 0; i < crowd_.size(); ++i) {
      const auto answer = crowd_[i].receive();
      ASSERT_TRUE(answer) << what << " of connection " << i << "\n" << broker_->log();
      Reader reader(*answer);
      on_answer(i, reader);
    }
    fmt::print("{}: {} answers in {:.2f} s\n", what, crowd_.size(), seconds_since(start));
  }

  std::string memory() const {
    return fmt::format("{:.1f} MiB",
                       static_cast<double>(resident_bytes(broker_->pid())) / double{kMiB});
  }

  const TempDirectory directory_;
  std::unique_ptr<BrokerProcess> broker_;
  std::vector<WireConnection> crowd_;
};

TopicPartition place_of(size_t connection) {
  return {kCrowdTopic, static_cast<int32_t>(connection % kCrowdPartitions)};
}

TEST_F(ManyConnections, IdleOnesCostMemoryWithinABoundAndNoTime) {
  const uint64_t before = resident_bytes(broker_->pid());
  ASSERT_NO_FATAL_FAILURE(open_all());
  const uint64_t taken = resident_bytes(broker_->pid()) - before;
  fmt::print("{} idle connections: {:.1f} MiB, {} bytes each, {} in all\n", kCount,
             static_cast<double>(taken) / double{kMiB}, taken / kCount, memory());
  EXPECT_LE(taken, kIdleMemoryMax);
  // One tick of the clock that counts is 1/2 % of the time.
  const uint64_t ticks = cpu_ticks(broker_->pid());
  std::this_thread::sleep_for(kQuiet);
  const uint64_t used = cpu_ticks(broker_->pid()) - ticks;
  fmt::print("idle for {} s: {} ticks of processor time\n", kQuiet.count(), used);
  EXPECT_LE(used, 4u);
}

TEST_F(ManyConnections, AllActiveThenAllGone) {
  const size_t descriptors = descriptor_count(broker_->pid());
  ASSERT_NO_FATAL_FAILURE(open_all());
  std::vector<int64_t> offsets(kCount, -1);
  std::vector<std::set<int64_t>> taken(kCrowdPartitions);
  ASSERT_NO_FATAL_FAILURE(ask_all(
      "produce", Api::produce, 7,
      [&](size_t i) {
        const ByteString batch = batch_of(std::to_string(i));
        const ProducePart part{.where = place_of(i), .batch = batch};
        return produce_request(7, -1, 30'000, {&part, 1});
      },
      [&](size_t i, Reader& body) {
        const auto result = read_produce(7, body)[place_of(i)];
        EXPECT_EQ(result.error, 0) << "connection " << i;
        EXPECT_TRUE(taken[i % kCrowdPartitions].insert(result.base_offset).second)
            << "offset " << result.base_offset << " was given twice";
        offsets[i] = result.base_offset;
      }));
  fmt::print("after the produce of all: {}\n", memory());
  ASSERT_NO_FATAL_FAILURE(ask_all(
      "fetch", Api::fetch, 11,
      [&](size_t i) {
        const FetchPart part{.where = place_of(i), .offset = offsets[i]};
        return fetch_request({.partition_size_max = 1}, {&part, 1});  // the first batch comes whole
      },
      [&](size_t i, Reader& body) {
        const auto result = read_fetch(body)[place_of(i)];
        EXPECT_EQ(result.error, 0) << "connection " << i;
        ByteSpan bytes = result.records;
        const auto batch = take_batch(bytes);
        ASSERT_TRUE(batch && batch->base_offset == offsets[i]) << "connection " << i;
        const auto records = read_records(*batch);
        ASSERT_TRUE(records) << "connection " << i;
        EXPECT_EQ(records->begin()->second.value, std::to_string(i));
      }));
  fmt::print("after the fetch of all: {}\n", memory());

  const double closed = broker_->metric("weir_connections_closed_total").value();
  const auto start = Clock::now();
  for (size_t i = 0; i < kCount; ++i) i % 2 == 0 ? crowd_[i].close() : crowd_[i].reset();
  ASSERT_TRUE(wait_for("weir_connections_closed_total", closed + kCount)) << broker_->log();
  fmt::print("closed {} connections in {:.2f} s; {} left\n", kCount, seconds_since(start),
             memory());
  // Segment files of the topic, and the connection of whoever asked for the metric.
  EXPECT_LE(descriptor_count(broker_->pid()), descriptors + kCrowdPartitions + 4);
  crowd_.clear();
  WireConnection late(broker_->port());
  const TopicPartition where = place_of(0);
  const auto answer = late.ask(Api::list_offsets, 2, list_offsets_request(2, kLatest, {&where, 1}));
  ASSERT_TRUE(answer) << broker_->log();
  Reader body(*answer);
  EXPECT_EQ(read_list_offsets(2, body)[where].offset, int64_t{kCount} / kCrowdPartitions);
}

}  // namespace
}  // namespace weir::crashtest
