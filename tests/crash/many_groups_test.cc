// 10,000 groups that commit, 100,000 producers that each write a batch: found again after kill -9,
// offsets and sequences both; what they take is printed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/process_figures.h"
#include "tests/crash/wire_connection.h"

namespace weir::crashtest {
namespace {

using namespace simtest;

constexpr int kGroups = 10'000;
constexpr int kRequests = 20'000;  // each with a batch of another producer for each partition
constexpr int32_t kPartitionsEach = 5;
constexpr int kWindow = 50;  // requests on their way
constexpr const char* kTopicName = "crowd";

class Many : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_EQ(create_topic(*connection_, kTopicName, kPartitionsEach), "");
  }

  void start() {
    broker_ = std::make_unique<BrokerProcess>(BrokerOptions{.data = directory_.path() + "/data"});
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
    connection_ = std::make_unique<WireConnection>(broker_->port());
  }

  void ask_many(int count, Api api, int version, const std::function<ByteString(int)>& request,
                const std::function<void(int, Reader&)>& answered) {
    int asked = 0;
    for (int i = 0; i < count; ++i) {
      while (asked < count && asked < i + kWindow) {
        ASSERT_TRUE(connection_->send(api, version, request(asked++))) << broker_->log();
      }
      const auto answer = connection_->receive();
      ASSERT_TRUE(answer) << "request " << i << "\n" << broker_->log();
      Reader body(*answer);
      answered(i, body);
      ASSERT_FALSE(HasFailure()) << "request " << i;
    }
  }

  void print_memory(const char* when) const {
    fmt::print("memory {}: {:.1f} MiB\n", when,
               static_cast<double>(resident_bytes(broker_->pid())) / (1 << 20));
  }

  const TempDirectory directory_;
  std::unique_ptr<BrokerProcess> broker_;
  std::unique_ptr<WireConnection> connection_;
};

std::string group_name(int i) { return fmt::format("group-{}", i); }

TEST_F(Many, GroupsKeepTheirOffsets) {
  const TopicPartition where{kTopicName, 1};
  const auto find = [](int i) { return find_coordinator_request(group_name(i)); };
  const auto coordinator = connection_->ask(Api::find_coordinator, 0, find(0));
  ASSERT_TRUE(coordinator);
  ask_many(
      kGroups, Api::offset_commit, 2,
      [&](int i) {
        const CommitPart part{.where = where, .offset = i, .metadata = ""};
        return offset_commit_request(group_name(i), {&part, 1});
      },
      [&](int, Reader& body) { EXPECT_EQ(read_offset_commit(body)[where], 0); });
  print_memory("of 10,000 groups");
  broker_->kill();
  ASSERT_NO_FATAL_FAILURE(start());
  ask_many(
      kGroups, Api::offset_fetch, 1,
      [&](int i) { return offset_fetch_request(group_name(i), {&where, 1}); },
      [&](int i, Reader& body) {
        const CommittedResult result = read_offset_fetch(body)[where];
        EXPECT_EQ(result.error, 0);
        EXPECT_EQ(result.offset, i);
      });
  print_memory("after kill -9 and restart");
}

TEST_F(Many, ProducersAreKnownAgain) {
  // Offsets as they were given, by producer.
  std::vector<int64_t> offsets(kRequests * kPartitionsEach, -1);
  const auto request = [&](int i) {
    std::vector<ByteString> batches;
    std::vector<ProducePart> parts;
    for (int32_t p = 0; p < kPartitionsEach; ++p) {
      Record record;
      record.timestamp = 1;
      record.value = "x";
      batches.push_back(encode_batch({i * kPartitionsEach + p, 0, 0}, {&record, 1}));
    }
    for (int32_t p = 0; p < kPartitionsEach; ++p) {
      parts.push_back({.where = {kTopicName, p}, .batch = batches[static_cast<size_t>(p)]});
    }
    return produce_request(7, -1, 60'000, parts);
  };
  const auto answered = [&](int i, Reader& body) {
    for (const auto& [where, result] : read_produce(7, body)) {
      EXPECT_EQ(result.error, 0) << to_string(where);
      int64_t& offset = offsets[static_cast<size_t>(i * kPartitionsEach + where.partition)];
      if (offset < 0) offset = result.base_offset;
      EXPECT_EQ(result.base_offset, offset) << "a retry was written again";
    }
  };
  ask_many(kRequests, Api::produce, 7, request, answered);
  print_memory("of 100,000 producers");
  ask_many(kRequests, Api::produce, 7, request, answered);
  broker_->kill();
  ASSERT_NO_FATAL_FAILURE(start());
  ask_many(kRequests, Api::produce, 7, request, answered);
  print_memory("after kill -9 and restart");
}

}  // namespace
}  // namespace weir::crashtest
