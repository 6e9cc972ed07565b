// Settings of compaction, changed by a client while the program runs: what it was started with was
// far too slow, and after kill -9 the change still holds.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/crash/broker_process.h"
#include "tests/crash/command.h"

namespace weir::crashtest {
namespace {

constexpr int kAnswerTimeout_ms = 60'000;

class CleanerSettings : public ::testing::Test {
 protected:
  void start() {
    broker_ = std::make_unique<BrokerProcess>(BrokerOptions{
        .data = directory_.path() + "/data",
        .metrics = true,
        .more = {"--set", "num.cores=1", "--set", "log.cleaner.backoff.ms=10", "--set",
                 "log.cleaner.io.max.bytes.per.second=1"}});
    ASSERT_TRUE(broker_->wait_ready()) << broker_->log();
  }

  rd_kafka_t* client() {
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    char error[256] = {};
    rd_kafka_conf_set(conf, "bootstrap.servers", broker_->bootstrap().c_str(), error, sizeof error);
    rd_kafka_conf_set(conf, "linger.ms", "0", error, sizeof error);
    return rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  }

  // Segments roll by the records' times: many are sealed at once.
  void fill(int first) {
    rd_kafka_t* const producer = client();
    for (int i = first; i < first + 64; ++i) {
      const std::string key = fmt::format("key{}", i % 4);
      const std::string value(2000, 'v');
      rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("compacted"), RD_KAFKA_V_PARTITION(0),
                        RD_KAFKA_V_TIMESTAMP(int64_t{1'700'000'000'000} + i * int64_t{2000}),
                        RD_KAFKA_V_KEY(key.data(), key.size()),
                        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
      EXPECT_EQ(rd_kafka_flush(producer, kAnswerTimeout_ms), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    rd_kafka_destroy(producer);
  }

  // AlterConfigs of this broker; the error.
  std::string alter(const char* name, const char* value) {
    rd_kafka_t* const admin = client();
    rd_kafka_ConfigResource_t* resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, "1");
    rd_kafka_ConfigResource_set_config(resource, name, value);
    rd_kafka_queue_t* const queue = rd_kafka_queue_new(admin);
    rd_kafka_AlterConfigs(admin, &resource, 1, nullptr, queue);
    rd_kafka_event_t* const event = rd_kafka_queue_poll(queue, kAnswerTimeout_ms);
    std::string fault = event == nullptr ? "no answer" : "";
    if (event != nullptr) {
      size_t count = 0;
      const auto* const result = rd_kafka_event_AlterConfigs_result(event);
      const auto* const resources = rd_kafka_AlterConfigs_result_resources(result, &count);
      const char* const text =
          count == 1 ? rd_kafka_ConfigResource_error_string(resources[0]) : "no result";
      if (text != nullptr) fault = text;
      rd_kafka_event_destroy(event);
    }
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(admin);
    return fault;
  }

  bool wait_metric(const std::string& name) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (broker_->metric(name).value_or(0) == 0) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  const TempDirectory directory_;
  std::unique_ptr<BrokerProcess> broker_;
};

// With one byte a second the 128 KiB would take a day and a half; a minute is waited.
TEST_F(CleanerSettings, HoldAtOnceAndAfterACrash) {
  ASSERT_NO_FATAL_FAILURE(start());
  const Outcome made =
      run_weir({"topic", "create", "compacted", "--bootstrap", broker_->bootstrap(), "--config",
                "cleanup.policy=compact", "--config", "segment.ms=1000", "--config",
                "min.cleanable.dirty.ratio=0.01"});
  ASSERT_EQ(made.code, 0) << made.text;
  fill(0);
  EXPECT_TRUE(wait_metric("weir_cleaner_read_bytes_total"));
  EXPECT_NE(alter("log.cleaner.threads", "2"), "") << "that one does not change";
  EXPECT_NE(alter("log.cleaner.io.max.bytes.per.second", "0"), "") << "out of range";
  ASSERT_EQ(alter("log.cleaner.io.max.bytes.per.second", "100000000"), "");
  EXPECT_TRUE(wait_metric("weir_cleaner_passes_total")) << broker_->log();
  broker_->kill();

  ASSERT_NO_FATAL_FAILURE(start());
  fill(64);
  EXPECT_TRUE(wait_metric("weir_cleaner_passes_total")) << broker_->log();
  EXPECT_EQ(broker_->metric("weir_cleaner_stuck_partitions"), 0);
  EXPECT_TRUE(broker_->metric("weir_cleaner_since_last_run_ms"));
}

}  // namespace
}  // namespace weir::crashtest
