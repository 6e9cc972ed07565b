// librdkafka as a transactional producer against a broker that is killed in between. Steps, each a
// run of this program, so that every one is a new client:
//
//   begin     commits one transaction with offsets, aborts one, leaves one open and says where
//   resume    a new producer of the same id: what was open is gone; commits again
//   zombie    two producers of one id: the older one is fenced
//   read N    read_committed sees exactly the records of N committed transactions
//
// Prints one line per step; exit code 1 at the first that does not hold.

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kTimeout_ms = 30'000;
constexpr int kRecordsEach = 50;
const char* const kTopic = "transactions";
const char* const kGroup = "transactions-group";
using Settings = std::vector<std::pair<std::string, std::string>>;

void expect(const std::string& what, bool holds, const std::string& detail = {}) {
  fmt::print("{}: {}{}{}\n", holds ? "ok" : "FAILED", what, detail.empty() ? "" : ": ", detail);
  std::fflush(stdout);
  if (!holds) std::exit(1);
}

void expect_ok(const std::string& what, rd_kafka_error_t* error) {
  expect(what, error == nullptr, error ? rd_kafka_error_string(error) : "");
  if (error) rd_kafka_error_destroy(error);
}

rd_kafka_t* make(rd_kafka_type_t type, const Settings& settings) {
  char error[256] = {};
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) !=
        RD_KAFKA_CONF_OK) {
      expect("setting " + name, false, error);
    }
  }
  rd_kafka_t* const client = rd_kafka_new(type, conf, error, sizeof error);
  if (client == nullptr) expect("client", false, error);
  return client;
}

rd_kafka_t* producer(const std::string& bootstrap, const std::string& id) {
  rd_kafka_t* const client = make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap},
                                                      {"transactional.id", id},
                                                      {"transaction.timeout.ms", "60000"},
                                                      {"linger.ms", "0"}});
  expect_ok("init_transactions " + id, rd_kafka_init_transactions(client, kTimeout_ms));
  return client;
}

void produce(rd_kafka_t* client, const std::string& value) {
  for (int i = 0; i < kRecordsEach; ++i) {
    const std::string key = fmt::format("{}-{}", value, i);
    const auto error = rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(kTopic), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) expect("produce", false, rd_kafka_err2str(error));
  }
  rd_kafka_flush(client, kTimeout_ms);
}

void send_offset(rd_kafka_t* client, const std::string& bootstrap, int64_t offset) {
  rd_kafka_t* const consumer = make(
      RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap}, {"group.id", kGroup}});
  rd_kafka_consumer_group_metadata_t* const group = rd_kafka_consumer_group_metadata(consumer);
  rd_kafka_topic_partition_list_t* const offsets = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(offsets, kTopic, 0)->offset = offset;
  expect_ok("send_offsets", rd_kafka_send_offsets_to_transaction(client, offsets, group,
                                                                 kTimeout_ms));
  rd_kafka_topic_partition_list_destroy(offsets);
  rd_kafka_consumer_group_metadata_destroy(group);
  rd_kafka_destroy(consumer);
}

void expect_committed(const std::string& bootstrap, int64_t wanted) {
  rd_kafka_t* const consumer = make(
      RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap}, {"group.id", kGroup}});
  rd_kafka_topic_partition_list_t* const offsets = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(offsets, kTopic, 0);
  const auto error = rd_kafka_committed(consumer, offsets, kTimeout_ms);
  expect("committed", error == RD_KAFKA_RESP_ERR_NO_ERROR && offsets->elems[0].offset == wanted,
         fmt::format("{} {}", rd_kafka_err2str(error), offsets->elems[0].offset));
  rd_kafka_topic_partition_list_destroy(offsets);
  rd_kafka_destroy(consumer);
}

void begin(const std::string& bootstrap) {
  rd_kafka_t* const client = producer(bootstrap, "copier");
  expect_ok("begin", rd_kafka_begin_transaction(client));
  produce(client, "commit");
  send_offset(client, bootstrap, 11);
  expect_ok("commit", rd_kafka_commit_transaction(client, kTimeout_ms));
  expect_committed(bootstrap, 11);
  expect_ok("begin", rd_kafka_begin_transaction(client));
  produce(client, "abort");
  send_offset(client, bootstrap, 22);
  expect_ok("abort", rd_kafka_abort_transaction(client, kTimeout_ms));
  expect_committed(bootstrap, 11);
  expect_ok("begin", rd_kafka_begin_transaction(client));
  produce(client, "open");
  fmt::print("open\n");
  std::fflush(stdout);
  std::_Exit(0);  // as a producer that dies
}

void resume(const std::string& bootstrap) {
  rd_kafka_t* const client = producer(bootstrap, "copier");
  expect_ok("begin", rd_kafka_begin_transaction(client));
  produce(client, "commit");
  send_offset(client, bootstrap, 33);
  expect_ok("commit", rd_kafka_commit_transaction(client, kTimeout_ms));
  expect_committed(bootstrap, 33);
  rd_kafka_destroy(client);
}

void zombie(const std::string& bootstrap) {
  rd_kafka_t* const old_one = producer(bootstrap, "twice");
  expect_ok("begin", rd_kafka_begin_transaction(old_one));
  produce(old_one, "zombie");
  rd_kafka_t* const new_one = producer(bootstrap, "twice");
  rd_kafka_error_t* const error = rd_kafka_commit_transaction(old_one, kTimeout_ms);
  expect("the older producer is fenced", error != nullptr && rd_kafka_error_is_fatal(error),
         error ? rd_kafka_error_string(error) : "it committed");
  rd_kafka_error_destroy(error);
  expect_ok("begin", rd_kafka_begin_transaction(new_one));
  produce(new_one, "commit");
  expect_ok("commit", rd_kafka_commit_transaction(new_one, kTimeout_ms));
  rd_kafka_destroy(new_one);
  rd_kafka_destroy(old_one);
}

// Until every partition is at its end: that it gets there shows that no transaction is open.
void read(const std::string& bootstrap, int transactions) {
  rd_kafka_t* const client = make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                                      {"group.id", "reader"},
                                                      {"isolation.level", "read_committed"},
                                                      {"auto.offset.reset", "earliest"},
                                                      {"enable.auto.commit", "false"},
                                                      {"enable.partition.eof", "true"}});
  rd_kafka_poll_set_consumer(client);
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, kTopic, RD_KAFKA_PARTITION_UA);
  rd_kafka_subscribe(client, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  int records = 0;
  std::set<int32_t> ended;
  for (int quiet = 0; ended.size() < 3 && quiet < 60;) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(client, 500);
    if (message == nullptr) {
      ++quiet;
      continue;
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      ended.insert(message->partition);
    } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const std::string value(static_cast<const char*>(message->payload), message->len);
      if (value != "commit") expect("only committed records", false, value);
      ++records;
    }
    rd_kafka_message_destroy(message);
  }
  expect("every partition read to its end", ended.size() == 3);
  expect("committed records", records == transactions * kRecordsEach, fmt::format("{}", records));
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string bootstrap = arguments[1];
  const std::string step = arguments[2];
  if (step == "begin") begin(bootstrap);
  if (step == "resume") resume(bootstrap);
  if (step == "zombie") zombie(bootstrap);
  if (step == "read") read(bootstrap, std::atoi(arguments[3]));
  return 0;
}
