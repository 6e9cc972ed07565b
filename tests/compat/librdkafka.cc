// librdkafka against a broker: admin (create, describe, delete a topic), idempotent produce with
// keys, headers and every codec, consume as a group, commit, resume, seek by time. Prints one line
// per step; exit code 1 at the first that does not hold.

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kTimeout_ms = 30'000;
constexpr int kPartitions = 3;
constexpr int kRecordsPerCodec = 200;
const char* const kTopic = "compat";
const std::vector<std::string> kCodecs = {"none", "gzip", "snappy", "lz4", "zstd"};

using Settings = std::vector<std::pair<std::string, std::string>>;

void expect(const std::string& what, bool holds, const std::string& detail = {}) {
  fmt::print("{}: {}{}{}\n", holds ? "ok" : "FAILED", what, detail.empty() ? "" : ": ", detail);
  std::fflush(stdout);
  if (!holds) std::exit(1);
}

void expect_ok(const std::string& what, rd_kafka_resp_err_t error) {
  expect(what, error == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(error));
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

// Waits for the answer of an admin request; the caller destroys the event.
rd_kafka_event_t* answer(rd_kafka_queue_t* queue, const std::string& what) {
  rd_kafka_event_t* const event = rd_kafka_queue_poll(queue, kTimeout_ms);
  expect(what, event != nullptr);
  expect_ok(what, rd_kafka_event_error(event));
  return event;
}

void create_topic(rd_kafka_t* client, const char* name) {
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name, kPartitions, 1, nullptr, 0);
  rd_kafka_NewTopic_set_config(topic, "retention.ms", "3600000");
  rd_kafka_CreateTopics(client, &topic, 1, nullptr, queue);
  rd_kafka_event_t* const event = answer(queue, "create topic");
  size_t count = 0;
  const auto* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  expect_ok("topic created", rd_kafka_topic_result_error(results[0]));
  rd_kafka_event_destroy(event);
  rd_kafka_NewTopic_destroy(topic);
  rd_kafka_queue_destroy(queue);
}

void describe_topic(rd_kafka_t* client) {
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_ConfigResource_t* resource =
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, kTopic);
  rd_kafka_DescribeConfigs(client, &resource, 1, nullptr, queue);
  rd_kafka_event_t* const event = answer(queue, "describe configs");
  size_t count = 0;
  const auto* resources = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event), &count);
  const auto* entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  std::string retention;
  for (size_t i = 0; i < count; ++i) {
    if (std::string(rd_kafka_ConfigEntry_name(entries[i])) == "retention.ms") {
      retention = rd_kafka_ConfigEntry_value(entries[i]);
    }
  }
  expect("retention.ms as set", retention == "3600000", retention);
  rd_kafka_event_destroy(event);
  rd_kafka_ConfigResource_destroy(resource);
  rd_kafka_queue_destroy(queue);
}

void delete_topic(rd_kafka_t* client, const char* name) {
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name);
  rd_kafka_DeleteTopics(client, &topic, 1, nullptr, queue);
  rd_kafka_event_t* const event = answer(queue, "delete topic");
  size_t count = 0;
  const auto* results =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
  expect_ok("topic deleted", rd_kafka_topic_result_error(results[0]));
  rd_kafka_event_destroy(event);
  rd_kafka_DeleteTopic_destroy(topic);
  rd_kafka_queue_destroy(queue);
}

void produce(const std::string& bootstrap, const std::string& codec) {
  rd_kafka_t* const producer = make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap},
                                                        {"enable.idempotence", "true"},
                                                        {"compression.type", codec}});
  for (int i = 0; i < kRecordsPerCodec; ++i) {
    const std::string key = fmt::format("user{}", i % 20);
    const std::string value = fmt::format("{}-{}", codec, i);
    const auto error = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC(kTopic), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
        RD_KAFKA_V_HEADER("codec", codec.data(), static_cast<ssize_t>(codec.size())),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) expect_ok("queue a record", error);
  }
  expect_ok("produced with " + codec, rd_kafka_flush(producer, kTimeout_ms));
  rd_kafka_destroy(producer);
}

// Reads `count` records as a member of the group and commits; the values.
std::set<std::string> consume(const std::string& bootstrap, const std::string& group,
                              size_t count) {
  rd_kafka_t* const consumer = make(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                                        {"group.id", group},
                                                        {"auto.offset.reset", "earliest"},
                                                        {"enable.auto.commit", "false"},
                                                        {"check.crcs", "true"}});
  rd_kafka_poll_set_consumer(consumer);
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, kTopic, RD_KAFKA_PARTITION_UA);
  expect_ok("subscribe", rd_kafka_subscribe(consumer, topics));
  std::set<std::string> values;
  for (int quiet = 0; values.size() < count && quiet < kTimeout_ms / 100;) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(consumer, 100);
    if (message == nullptr) {
      ++quiet;
      continue;
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      values.emplace(static_cast<const char*>(message->payload), message->len);
    }
    rd_kafka_message_destroy(message);
  }
  expect_ok("commit", rd_kafka_commit(consumer, nullptr, 0));
  rd_kafka_topic_partition_list_destroy(topics);
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
  return values;
}

void offsets_for_time(rd_kafka_t* client) {
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, kTopic, 0)->offset = 1;  // a time long ago
  expect_ok("offsets for times", rd_kafka_offsets_for_times(client, list, kTimeout_ms));
  expect("the first record since then", list->elems[0].offset == 0);
  rd_kafka_topic_partition_list_destroy(list);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string bootstrap = argv[1];
  rd_kafka_t* const client = make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}});
  create_topic(client, kTopic);
  create_topic(client, "gone");
  delete_topic(client, "gone");
  describe_topic(client);
  const size_t total = kCodecs.size() * kRecordsPerCodec;
  for (const std::string& codec : kCodecs) produce(bootstrap, codec);
  expect("group reads everything once", consume(bootstrap, "compat", total).size() == total);
  produce(bootstrap, "none");  // the same values again: only they may come
  expect("group resumes at its commit",
         consume(bootstrap, "compat", kRecordsPerCodec).size() == kRecordsPerCodec);
  expect("another group replays", consume(bootstrap, "replay", total).size() == total);
  offsets_for_time(client);
  rd_kafka_destroy(client);
  return 0;
}
