#include "tests/crash/sample.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "tests/crash/command.h"

namespace weir::crashtest {

const std::vector<std::string> kSampleSettings = {
    "--set", "offsets.topic.num.partitions=2", "--set", "transaction.state.log.num.partitions=2",
    "--set", "weir.disk.reserve.bytes=0",      "--set", "log.cleaner.backoff.ms=50",
    "--set", "log.retention.ms=-1",            "--set", "num.cores=1"};

namespace {

constexpr int kTimeout_ms = 60'000;
constexpr int64_t kFirstTime_ms = 1'700'000'000'000;

using Settings = std::vector<std::pair<const char*, std::string>>;

void check(rd_kafka_resp_err_t code, const char* what) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  throw std::runtime_error(fmt::format("{}: {}", what, rd_kafka_err2str(code)));
}

void check(rd_kafka_error_t* error, const char* what) {
  if (error == nullptr) return;
  const std::string text = fmt::format("{}: {}", what, rd_kafka_error_string(error));
  rd_kafka_error_destroy(error);
  throw std::runtime_error(text);
}

class Client {
 public:
  Client(rd_kafka_type_t type, const std::string& bootstrap, Settings settings) {
    settings.emplace_back("bootstrap.servers", bootstrap);
    settings.emplace_back("log_level", "0");
    rd_kafka_conf_t* const conf = rd_kafka_conf_new();
    char error[256] = {};
    for (const auto& [name, value] : settings) {
      if (rd_kafka_conf_set(conf, name, value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) {
        throw std::runtime_error(error);
      }
    }
    handle_ = rd_kafka_new(type, conf, error, sizeof error);
    if (handle_ == nullptr) throw std::runtime_error(error);
    if (type == RD_KAFKA_CONSUMER) rd_kafka_poll_set_consumer(handle_);
  }
  ~Client() { rd_kafka_destroy(handle_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  operator rd_kafka_t*() const { return handle_; }

 private:
  rd_kafka_t* handle_;
};

struct Row {
  const char* topic;
  int32_t partition;
  int64_t time_ms;
  std::string key;
  std::string value;  // empty: null
};

void produce(rd_kafka_t* client, const Row& row) {
  void* const value = row.value.empty() ? nullptr : const_cast<char*>(row.value.data());
  check(rd_kafka_producev(client, RD_KAFKA_V_TOPIC(row.topic), RD_KAFKA_V_PARTITION(row.partition),
                          RD_KAFKA_V_TIMESTAMP(row.time_ms),
                          RD_KAFKA_V_KEY(row.key.data(), row.key.size()),
                          RD_KAFKA_V_VALUE(value, row.value.size()),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        "produce");
}

void flush(rd_kafka_t* client) { check(rd_kafka_flush(client, kTimeout_ms), "flush"); }

void make_topic(const std::string& bootstrap, const std::string& name, int partitions,
                const std::vector<std::string>& settings) {
  std::vector<std::string> arguments = {"topic", "create", name, "--bootstrap", bootstrap,
                                        "--partitions", std::to_string(partitions)};
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--config", setting});
  }
  const Outcome made = run_weir(arguments);
  if (made.code != 0) throw std::runtime_error(made.text);
}

template <class Condition>
void wait_for(const char* what, const Condition& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error(fmt::format("no {} within a minute", what));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void write_plain(const std::string& bootstrap) {
  make_topic(bootstrap, "plain", 2, {"segment.ms=2000", "file.delete.delay.ms=0"});
  int64_t time_ms = kFirstTime_ms;
  for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    const Client client(RD_KAFKA_PRODUCER, bootstrap,
                        {{"enable.idempotence", "true"}, {"linger.ms", "20"},
                         {"compression.type", codec}});
    for (int batch = 0; batch < 3; ++batch, time_ms += 1500) {
      for (int i = 0; i < 8; ++i) {
        produce(client, {"plain", i % 2, time_ms + i, fmt::format("{}-{}", codec, i),
                         fmt::format("{} batch {} record {} ", codec, batch, i) +
                             std::string(100, 'x')});
      }
      flush(client);
    }
  }
}

void delete_records(const std::string& bootstrap, const std::string& data) {
  const Client client(RD_KAFKA_PRODUCER, bootstrap, {});
  rd_kafka_topic_partition_list_t* const before = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(before, "plain", 1)->offset = 9;
  rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(before);
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_DeleteRecords(client, &request, 1, nullptr, queue);
  rd_kafka_event_t* const event = rd_kafka_queue_poll(queue, kTimeout_ms);
  const auto code = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
  if (event) rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteRecords_destroy(request);
  rd_kafka_topic_partition_list_destroy(before);
  check(code, "delete records");
  const std::string oldest = data + "/topics/plain-1.1/" + std::string(20, '0') + ".log";
  wait_for("removal", [&] { return !std::filesystem::exists(oldest); });
}

void write_compacted(const std::string& bootstrap, const std::string& data) {
  make_topic(bootstrap, "compacted", 1,
             {"cleanup.policy=compact", "segment.ms=1000", "min.cleanable.dirty.ratio=0.01",
              "file.delete.delay.ms=0"});
  const Client client(RD_KAFKA_PRODUCER, bootstrap, {{"linger.ms", "0"}});
  for (int i = 0; i < 20; ++i) {
    const std::string value = i % 7 == 6 ? "" : fmt::format("state {}", i);
    produce(client, {"compacted", 0, kFirstTime_ms + i * 2000, fmt::format("key{}", i % 4), value});
    flush(client);
  }
  // <base>.<next>.<clean end>.<pass>.log
  wait_for("compaction", [&] {
    const std::filesystem::directory_iterator entries(data + "/topics/compacted-0.2");
    return std::ranges::any_of(entries, [](const std::filesystem::directory_entry& entry) {
      return entry.path().filename().string().size() == 4 * 20 + 3 + 4;
    });
  });
}

rd_kafka_topic_partition_list_t* offsets(int64_t first, int64_t second) {
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(2);
  rd_kafka_topic_partition_list_add(list, "plain", 0)->offset = first;
  rd_kafka_topic_partition_list_add(list, "plain", 1)->offset = second;
  return list;
}

void write_groups(const std::string& bootstrap) {
  const Client client(RD_KAFKA_CONSUMER, bootstrap, {{"group.id", "readers"}});
  rd_kafka_topic_partition_list_t* const list = offsets(17, 9);
  const auto code = rd_kafka_commit(client, list, 0);
  rd_kafka_topic_partition_list_destroy(list);
  check(code, "commit");
}

void write_transactions(const std::string& bootstrap) {
  make_topic(bootstrap, "moved", 1, {});
  const auto write = [](rd_kafka_t* client, const std::string& what) {
    check(rd_kafka_begin_transaction(client), "begin");
    for (int i = 0; i < 3; ++i) {
      produce(client, {"moved", 0, kFirstTime_ms, fmt::format("{}-{}", what, i), what});
    }
    flush(client);
  };
  {
    const Client client(RD_KAFKA_PRODUCER, bootstrap, {{"transactional.id", "mover"}});
    check(rd_kafka_init_transactions(client, kTimeout_ms), "init");
    write(client, "committed");
    const Client reader(RD_KAFKA_CONSUMER, bootstrap, {{"group.id", "copier"}});
    rd_kafka_consumer_group_metadata_t* const group = rd_kafka_consumer_group_metadata(reader);
    rd_kafka_topic_partition_list_t* const list = offsets(5, 6);
    rd_kafka_error_t* const sent =
        rd_kafka_send_offsets_to_transaction(client, list, group, kTimeout_ms);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_group_metadata_destroy(group);
    check(sent, "send offsets");
    check(rd_kafka_commit_transaction(client, kTimeout_ms), "commit transaction");
    write(client, "aborted");
    check(rd_kafka_abort_transaction(client, kTimeout_ms), "abort");
  }
  // Left open: destroying the client does not end it.
  const Client client(RD_KAFKA_PRODUCER, bootstrap,
                      {{"transactional.id", "sleeper"}, {"transaction.timeout.ms", "900000"}});
  check(rd_kafka_init_transactions(client, kTimeout_ms), "init");
  write(client, "open");
}

constexpr Log kLogs[] = {{"plain", 0}, {"plain", 1}, {"compacted", 0}, {"moved", 0}};

std::string bytes(const void* data, size_t size) {
  return data == nullptr ? "null" : std::string(static_cast<const char*>(data), size);
}

std::string read_group(const std::string& bootstrap, const char* group) {
  const Client client(RD_KAFKA_CONSUMER, bootstrap, {{"group.id", group}});
  rd_kafka_topic_partition_list_t* const list = offsets(0, 0);
  const auto code = rd_kafka_committed(client, list, kTimeout_ms);
  const std::string text = fmt::format("# group {} plain-0 {} plain-1 {}\n", group,
                                       list->elems[0].offset, list->elems[1].offset);
  rd_kafka_topic_partition_list_destroy(list);
  check(code, "committed offsets");
  return text;
}

}  // namespace

std::string read_log(const std::string& bootstrap, const Log& log, const char* isolation) {
  const Client client(RD_KAFKA_CONSUMER, bootstrap,
                      {{"group.id", "sample"}, {"enable.auto.commit", "false"},
                       {"enable.partition.eof", "true"}, {"isolation.level", isolation},
                       {"check.crcs", "true"}, {"auto.offset.reset", "earliest"}});
  int64_t low = 0;
  int64_t high = 0;
  check(rd_kafka_query_watermark_offsets(client, log.topic, log.partition, &low, &high,
                                         kTimeout_ms),
        "ends");
  std::string text =
      fmt::format("# {}-{} {}..{} {}\n", log.topic, log.partition, low, high, isolation);
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, log.topic, log.partition)->offset = low;
  rd_kafka_assign(client, list);
  rd_kafka_topic_partition_list_destroy(list);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (bool end = false; !end;) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(client, 100);
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error(text + "no end");
    if (message == nullptr) continue;
    end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      text += fmt::format("{} {} {} {}\n", message->offset,
                          rd_kafka_message_timestamp(message, nullptr),
                          bytes(message->key, message->key_len),
                          bytes(message->payload, message->len));
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(client);
  return text;
}

void write_sample(const std::string& bootstrap, const std::string& data) {
  write_plain(bootstrap);
  write_compacted(bootstrap, data);
  write_groups(bootstrap);
  write_transactions(bootstrap);
  delete_records(bootstrap, data);
}

std::string read_sample(const std::string& bootstrap) {
  std::string text;
  for (const Log& log : kLogs) text += read_log(bootstrap, log, "read_uncommitted");
  for (const Log& log : kLogs) text += read_log(bootstrap, log, "read_committed");
  for (const char* group : {"readers", "copier"}) text += read_group(bootstrap, group);
  return text;
}

}  // namespace weir::crashtest
