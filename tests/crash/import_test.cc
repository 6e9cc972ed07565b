// `weir import`: topics of an Apache Kafka's log directory are there with the same records at the
// same offsets, whatever gaps compaction left; what is old, damaged or there already is refused
// before anything is made; an import that was interrupted has not happened.
//
// How: a writer lays out the directory as Kafka does, batch by batch; consumers read from the
// broker that starts on what was imported.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <memory>

#include "engine/log/record_batch.h"
#include "engine/log/transaction_marker.h"
#include "tests/crash/broker_process.h"
#include "tests/crash/command.h"
#include "tests/crash/sample.h"

namespace weir::crashtest {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTime_ms = 1'700'000'000'000;
constexpr const char* kTopicId = "AAAAAAAAQACAAAAAAAAABw";

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A log directory of Kafka, and what its records are.
class KafkaDirectory {
 public:
  explicit KafkaDirectory(std::string path) : path_(std::move(path)) {
    fs::create_directories(path_);
    write_whole(path_ + "/meta.properties", "version=1\nnode.id=1\n");
  }
  const std::string& path() const { return path_; }
  std::string segment(const std::string& partition, int64_t base) const {
    return fmt::format("{}/{}/{:020}.log", path_, partition, base);
  }

  void add_partition(const std::string& partition, const char* topic_id = kTopicId) {
    fs::create_directory(path_ + "/" + partition);
    write_whole(path_ + "/" + partition + "/partition.metadata",
                fmt::format("version: 0\ntopic_id: {}", topic_id));
    write_whole(path_ + "/" + partition + "/leader-epoch-checkpoint", "0\n1\n0 0\n");
  }
  // Records at these offsets, one batch of them at the end of the segment.
  void add_batch(const std::string& partition, int64_t base, int64_t first, int32_t count,
                 log::BatchOptions options = {}) {
    options.base_offset = model::Offset(first);
    options.leader_epoch = 7;
    log::BatchBuilder builder(options);
    for (int32_t i = 0; i < count; ++i) {
      const std::string key = fmt::format("key{}", first + i);
      const std::string value = fmt::format("{} {}", partition, first + i);
      builder.append(base::as_bytes(key), base::as_bytes(value), kTime_ms + first + i);
      lines[partition] += fmt::format("{} {} {} {}\n", first + i, kTime_ms + first + i, key, value);
    }
    auto bytes = text_of(builder.finish());
    add_bytes(partition, base, bytes);
  }
  void add_bytes(const std::string& partition, int64_t base, const std::string& bytes) {
    const std::string file = segment(partition, base);
    write_whole(file, (fs::exists(file) ? read_whole(file) : "") + bytes);
  }

  std::map<std::string, std::string> lines;

 private:
  std::string path_;
};

// Gaps inside a segment, in front of one, and at its end; an empty newest one; another partition
// with a torn end; one in the middle that is not here.
void write_orders(KafkaDirectory& kafka) {
  kafka.add_partition("orders-0");
  kafka.add_batch("orders-0", 0, 0, 5);
  kafka.add_batch("orders-0", 0, 9, 1);
  kafka.add_batch("orders-0", 20, 23, 4);
  kafka.add_batch("orders-0", 20, 27, 4, {.producer_id = model::ProducerId(4000),
                                          .producer_epoch = model::ProducerEpoch(0),
                                          .base_sequence = model::Sequence(0)});
  kafka.add_bytes("orders-0", 40, "");
  kafka.add_partition("orders-2");
  kafka.add_batch("orders-2", 1000, 1000, 3);
  kafka.add_bytes("orders-2", 1000, std::string(50, 'x'));
}

struct Import : testing::Test {
  TempDirectory directory;
  KafkaDirectory kafka{directory.path() + "/kafka"};
  std::string data = directory.path() + "/data";

  Outcome import() { return run_weir({"import", kafka.path(), "--data", data}); }
  BrokerOptions options() const {
    return {.data = data, .more = {"--set", "weir.disk.reserve.bytes=0"}};
  }
  void expect_log(const BrokerProcess& broker, const char* topic, int32_t partition,
                  const std::string& head, const std::string& lines) {
    EXPECT_EQ(read_log(broker.bootstrap(), {topic, partition}, "read_committed"),
              fmt::format("# {}-{} {} read_committed\n", topic, partition, head) + lines);
  }
  void expect_nothing_made(const std::string& words) {
    const Outcome refused = import();
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.text.find(words), std::string::npos) << refused.text;
    EXPECT_FALSE(fs::exists(data));
  }
};

TEST_F(Import, RecordsAreThereAtTheirOffsets) {
  write_orders(kafka);
  for (const char* own : {"__transaction_state-3", "__cluster_metadata-0",
                          "gone-0.5bd2-delete"}) {
    kafka.add_partition(own);
  }
  const Outcome done = import();
  ASSERT_EQ(done.code, 0) << done.text;
  for (const char* line :
       {"orders-0: offsets 0..39\n", "orders-2: offsets 1000..1002\n",
        "cut: 50 bytes of a torn end",
        "__transaction_state skipped", "1 topics imported"}) {
    EXPECT_NE(done.text.find(line), std::string::npos) << line << "\n" << done.text;
  }
  EXPECT_NE(run_weir({"dump", data + "/catalog.log"}).text.find(kTopicId), std::string::npos);
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    expect_log(broker, "orders", 0, "0..40", kafka.lines["orders-0"]);
    expect_log(broker, "orders", 1, "0..0", "");
    expect_log(broker, "orders", 2, "1000..1003", kafka.lines["orders-2"]);
    broker.kill();
  }
}

TEST_F(Import, LogStartsStay) {
  write_orders(kafka);
  write_whole(kafka.path() + "/log-start-offset-checkpoint", "0\n2\norders 0 24\norders 2 1003\n");
  ASSERT_EQ(import().code, 0);
  EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
  BrokerProcess broker(options());
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  const std::string& lines = kafka.lines["orders-0"];
  expect_log(broker, "orders", 0, "24..40", lines.substr(lines.find("24 ")));
  expect_log(broker, "orders", 2, "1003..1003", "");
}

TEST_F(Import, TransactionsAreWhatTheyWere) {
  kafka.add_partition("moved-0");
  const auto transactional = [](int64_t id) {
    return log::BatchOptions{.producer_id = model::ProducerId(id),
                             .producer_epoch = model::ProducerEpoch(0),
                             .base_sequence = model::Sequence(0),
                             .transactional = true};
  };
  const auto end = [&](int64_t offset, int64_t id, bool commit) {
    log::MarkerBatch marker;
    log::encode_marker({.commit = commit, .coordinator_epoch = 0}, model::ProducerId(id),
                       model::ProducerEpoch(0), kTime_ms, marker);
    log::set_base_offset(marker, model::Offset(offset));
    log::set_leader_epoch(marker, 7);
    kafka.add_bytes("moved-0", 0, text_of(marker));
  };
  kafka.add_batch("moved-0", 0, 0, 3, transactional(1));
  end(3, 1, true);
  const std::string committed = kafka.lines["moved-0"];
  kafka.add_batch("moved-0", 0, 4, 3, transactional(2));
  end(7, 2, false);
  kafka.add_batch("moved-0", 0, 8, 3, transactional(3));
  const Outcome done = import();
  ASSERT_EQ(done.code, 0) << done.text;
  EXPECT_NE(done.text.find("1 transactions are open"), std::string::npos) << done.text;
  BrokerProcess broker(options());
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  expect_log(broker, "moved", 0, "0..8", committed);
}

// As Kafka writes a commit: a key of type 1, a value of version 3.
std::string commit_batch(int64_t at, const std::string& group, const std::string& topic,
                         int32_t partition, int64_t offset) {
  std::string key;
  std::string value;
  const auto put = [](std::string& to, auto number) {
    std::byte bytes[sizeof number];
    base::store_be(bytes, number);
    to += text_of(bytes);
  };
  const auto put_text = [&](std::string& to, const std::string& text) {
    put(to, static_cast<int16_t>(text.size()));
    to += text;
  };
  put(key, int16_t{1});
  put_text(key, group);
  put_text(key, topic);
  put(key, partition);
  put(value, int16_t{3});
  put(value, offset);
  put(value, int32_t{-1});
  put_text(value, "");
  put(value, kTime_ms);
  log::BatchBuilder builder({.base_offset = model::Offset(at), .leader_epoch = 7});
  builder.append(base::as_bytes(key), base::as_bytes(value), kTime_ms);
  return text_of(builder.finish());
}

TEST_F(Import, GroupsGoOnWhereTheyWere) {
  write_orders(kafka);
  kafka.add_partition("__consumer_offsets-0", "AAAAAAAAQACAAAAAAAAACQ");
  const std::string own = "__consumer_offsets-0";
  kafka.add_bytes(own, 0, commit_batch(0, "analytics", "orders", 0, 23));
  kafka.add_bytes(own, 0, commit_batch(4, "analytics", "orders", 0, 29));
  kafka.add_bytes(own, 0, commit_batch(5, "audit", "orders", 2, 1001));
  const Outcome done = import();
  ASSERT_EQ(done.code, 0) << done.text;
  BrokerOptions with = options();
  with.more.insert(with.more.end(), {"--set", "offsets.retention.minutes=2147483647"});
  BrokerProcess broker(with);
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  const Outcome analytics =
      run_weir({"group", "describe", "analytics", "--bootstrap", broker.bootstrap()});
  EXPECT_NE(analytics.text.find("lag 11 records"), std::string::npos) << analytics.text;
  const Outcome audit =
      run_weir({"group", "describe", "audit", "--bootstrap", broker.bootstrap()});
  EXPECT_NE(audit.text.find("lag 2 records"), std::string::npos) << audit.text;
}

TEST_F(Import, NextToTopicsThatAreThere) {
  write_orders(kafka);
  const BrokerOptions writing{.data = data, .more = kSampleSettings};
  BrokerOptions with = writing;
  with.more.insert(with.more.end(), {"--set", "log.cleaner.enable=false"});
  std::string sample;
  {
    BrokerProcess broker(writing);
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    write_sample(broker.bootstrap(), data);
    broker.kill();
    BrokerProcess reading(with);
    ASSERT_TRUE(reading.wait_ready()) << reading.log();
    sample = read_sample(reading.bootstrap());
    EXPECT_EQ(import().code, 2) << "a broker runs";
    reading.kill();
  }
  const Outcome done = import();
  ASSERT_EQ(done.code, 0) << done.text;
  EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
  BrokerProcess broker(with);
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  EXPECT_EQ(read_sample(broker.bootstrap()), sample);
  expect_log(broker, "orders", 0, "0..40", kafka.lines["orders-0"]);
  broker.kill();
  const Outcome again = import();
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.text.find("topic orders exists"), std::string::npos) << again.text;
}

TEST_F(Import, WhatIsOldOrDamagedIsRefused) {
  kafka.add_partition("old-0");
  // Offset 0, size 14 + 4, checksum, magic 1, the rest of a message.
  std::string message(12, '\0');
  message[11] = 18;
  message += std::string("\1\2\3\4\1", 5) + std::string(13, 'm');
  kafka.add_bytes("old-0", 0, message);
  expect_nothing_made("00000000000000000000.log at position 0: messages of format 1");
  fs::remove_all(kafka.path() + "/old-0");

  write_orders(kafka);
  const std::string path = kafka.segment("orders-0", 20);
  const std::string sound = read_whole(path);
  std::string damaged = sound;
  damaged[100] = static_cast<char>(damaged[100] ^ 1);
  write_whole(path, damaged);
  expect_nothing_made("00000000000000000020.log at position 0: damaged");
  write_whole(path, sound + std::string(4096, '\0'));
  expect_nothing_made("zeros where a batch should begin");
  write_whole(path, sound + sound);
  expect_nothing_made("offset 23 where 31 or more is due");
  write_whole(path, sound);
  write_whole(kafka.path() + "/orders-0/partition.metadata", "version: 0\ntopic_id: nonsense");
  expect_nothing_made("not a topic id");
  fs::remove(kafka.path() + "/meta.properties");
  EXPECT_EQ(import().code, 2);
}

// The size of a file is limited, so that the kernel kills it in the middle of a segment.
TEST_F(Import, InterruptedItHasNotHappened) {
  kafka.add_partition("large-0");
  for (int64_t i = 0; i < 40; ++i) kafka.add_batch("large-0", 0, i * 1000, 1000);
  kafka.add_partition("aaa-0", "AAAAAAAAQACAAAAAAAAACQ");
  kafka.add_batch("aaa-0", 0, 0, 10);
  const std::string command = fmt::format("ulimit -f 1000; exec {} import {} --data {}",
                                          std::getenv("WEIR_PROGRAM"), kafka.path(), data);
  ASSERT_NE(std::system(("bash -c '" + command + "' > /dev/null 2>&1").c_str()), 0);
  ASSERT_TRUE(fs::exists(data + "/topics/aaa-0.1")) << "it had begun";
  {
    BrokerProcess broker(options());
    ASSERT_TRUE(broker.wait_ready()) << broker.log();
    EXPECT_EQ(run_weir({"topic", "list", "--bootstrap", broker.bootstrap(), "--json"}).text,
              "[]\n");
    broker.send(SIGTERM);
    ASSERT_EQ(broker.wait_end(20'000), 0) << broker.log();
  }
  const Outcome done = import();
  ASSERT_EQ(done.code, 0) << done.text;
  EXPECT_EQ(run_weir({"dump", "--verify", data}).text, "0 findings\n");
  BrokerProcess broker(options());
  ASSERT_TRUE(broker.wait_ready()) << broker.log();
  expect_log(broker, "aaa", 0, "0..10", kafka.lines["aaa-0"]);
  expect_log(broker, "large", 0, "0..40000", kafka.lines["large-0"]);
}

}  // namespace
}  // namespace weir::crashtest
