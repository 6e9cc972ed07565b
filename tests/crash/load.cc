#include "tests/crash/load.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string_view>

namespace weir::crashtest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReadPatience_ms = 60'000;

using Settings = std::vector<std::pair<const char*, std::string>>;
using OnDelivery = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);

rd_kafka_t* make_client(rd_kafka_type_t type, const Settings& settings, void* opaque = nullptr,
                        OnDelivery on_delivery = nullptr) {
  char error[256] = {};
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) {
      throw std::runtime_error(error);
    }
  }
  rd_kafka_conf_set_opaque(conf, opaque);
  if (on_delivery != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
  rd_kafka_t* const client = rd_kafka_new(type, conf, error, sizeof error);
  if (client == nullptr) throw std::runtime_error(error);
  return client;
}

rd_kafka_t* make_consumer(const std::string& bootstrap) {
  return make_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                         {"group.id", "read-back"},
                                         {"enable.auto.commit", "false"},
                                         {"check.crcs", "true"},
                                         {"log_level", "0"}});
}

// All partitions from their first record to their last.
std::vector<Range> all_ranges(rd_kafka_t* consumer, int patience_ms, Begin begin,
                              std::string& fault) {
  std::vector<Range> ranges;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    int64_t low = 0;
    int64_t high = 0;
    const auto error =
        rd_kafka_query_watermark_offsets(consumer, kTopic, partition, &low, &high, patience_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      fault = fmt::format("offsets of partition {}: {}", partition, rd_kafka_err2str(error));
      break;
    }
    if (begin == Begin::at_zero && low != 0) {
      fault = fmt::format("partition {} begins at {}", partition, low);
    }
    if (high > low) ranges.push_back({.partition = partition, .from = low, .to = high});
  }
  return ranges;
}

std::map<Load::Place, uint64_t> read_with(rd_kafka_t* consumer, const std::vector<Range>& ranges,
                                          int patience_ms, std::string& fault) {
  std::map<Load::Place, uint64_t> read;
  std::map<int32_t, int64_t> ends;
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(kPartitions);
  for (const Range& range : ranges) {
    ends[range.partition] = range.to;
    rd_kafka_topic_partition_list_add(list, kTopic, range.partition)->offset = range.from;
  }
  rd_kafka_assign(consumer, list);
  rd_kafka_topic_partition_list_destroy(list);
  const auto patience = std::chrono::milliseconds(patience_ms);
  auto give_up = Clock::now() + patience;
  while (!ends.empty() && fault.empty()) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(consumer, 100);
    if (Clock::now() > give_up) fault = fmt::format("{} partitions cannot be read", ends.size());
    if (message == nullptr) continue;
    const auto id = number_of({static_cast<const char*>(message->payload), message->len});
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      // Lost connections are librdkafka's to mend.
    } else if (!id) {
      fault = fmt::format("offset {} of partition {} holds no record of ours", message->offset,
                          message->partition);
    } else {
      read[{message->partition, message->offset}] = *id;
      give_up = Clock::now() + patience;
      if (message->offset + 1 >= ends[message->partition]) ends.erase(message->partition);
    }
    rd_kafka_message_destroy(message);
  }
  return read;
}

void close_consumer(rd_kafka_t* consumer) {
  rd_kafka_consumer_close(consumer);
  rd_kafka_destroy(consumer);
}

}  // namespace

std::string content(uint64_t id) {
  std::string text = fmt::format("{}:", id);
  text.append(10 + id * 7919 % 1500, static_cast<char>('a' + id % 26));
  return text;
}

std::optional<uint64_t> number_of(std::string_view value) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), id);
  const bool ours = error == std::errc() && end != value.data() && value == content(id);
  return ours ? std::optional(id) : std::nullopt;
}

Load::Load(const std::string& bootstrap, int records_per_ms, std::function<size_t()> moment)
    : records_per_ms_(records_per_ms), moment_(std::move(moment)) {
  producer_ = make_client(RD_KAFKA_PRODUCER,
                          {{"bootstrap.servers", bootstrap},
                           {"enable.idempotence", "true"},
                           {"linger.ms", "2"},
                           {"batch.num.messages", "100"},
                           {"message.timeout.ms", "120000"},
                           {"reconnect.backoff.ms", "20"},
                           {"reconnect.backoff.max.ms", "200"},
                           {"queue.buffering.max.messages", "50000"},
                           {"log_level", "0"}},
                          this, &Load::on_delivery);
  thread_ = std::thread([this] { run(); });
}

Load::~Load() {
  stopping_ = true;
  thread_.join();
  rd_kafka_purge(producer_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(producer_, 1000);
  rd_kafka_destroy(producer_);
}

void Load::on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
  Load& load = *static_cast<Load*>(self);
  const uint64_t id = reinterpret_cast<uintptr_t>(message->_private);
  const std::scoped_lock lock(load.mutex_);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const Place place{message->partition, message->offset};
    load.acked_[place] = id;
    if (load.moment_) load.moments_.emplace_back(load.moment_(), place);
  } else if (load.error_.empty() && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
             message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
    load.error_ = fmt::format("record {}: {}", id, rd_kafka_err2str(message->err));
  }
}

void Load::run() {
  while (!stopping_) {
    for (int i = 0; i < records_per_ms_ && !paused_; ++i) {
      const uint64_t id = next_id_;
      const std::string value = content(id);
      const auto error = rd_kafka_producev(
          producer_, RD_KAFKA_V_TOPIC(kTopic),
          RD_KAFKA_V_PARTITION(static_cast<int32_t>(id % kPartitions)),
          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(static_cast<uintptr_t>(id))), RD_KAFKA_V_END);
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) break;  // the queue is full while nobody is there
      ++next_id_;
    }
    rd_kafka_poll(producer_, 1);
  }
}

bool Load::wait_acked(size_t count) {
  const auto give_up = Clock::now() + std::chrono::milliseconds(kReadPatience_ms);
  while (acked_count() < count) {
    if (Clock::now() > give_up || !error().empty()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool Load::finish() {
  paused_ = true;
  return wait_acked(next_id_) && error().empty();
}

std::map<Load::Place, uint64_t> Load::acked() const {
  const std::scoped_lock lock(mutex_);
  return acked_;
}

std::map<Load::Place, uint64_t> Load::acked_by(size_t moment) const {
  const std::scoped_lock lock(mutex_);
  std::map<Place, uint64_t> acked;
  for (const auto& [when, place] : moments_) {
    if (when > moment) break;
    acked.emplace(place, acked_.at(place));
  }
  return acked;
}

size_t Load::acked_count() const {
  const std::scoped_lock lock(mutex_);
  return acked_.size();
}

std::string Load::error() const {
  const std::scoped_lock lock(mutex_);
  return error_;
}

std::map<Load::Place, uint64_t> read_ranges(const std::string& bootstrap,
                                            const std::vector<Range>& ranges, int patience_ms,
                                            std::string& fault) {
  rd_kafka_t* const consumer = make_consumer(bootstrap);
  auto read = read_with(consumer, ranges, patience_ms, fault);
  close_consumer(consumer);
  return read;
}

std::map<Load::Place, uint64_t> read_all(const std::string& bootstrap, std::string& fault,
                                         int patience_ms, Begin begin) {
  rd_kafka_t* const consumer = make_consumer(bootstrap);
  const std::vector<Range> ranges = all_ranges(consumer, patience_ms, begin, fault);
  auto read = read_with(consumer, ranges, patience_ms, fault);
  close_consumer(consumer);
  return read;
}

std::string commit(const std::string& bootstrap, int32_t partition, int64_t offset) {
  rd_kafka_t* const consumer = make_consumer(bootstrap);
  rd_kafka_topic_partition_list_t* const list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, kTopic, partition)->offset = offset;
  auto error = rd_kafka_commit(consumer, list, 0);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = list->elems[0].err;
  rd_kafka_topic_partition_list_destroy(list);
  close_consumer(consumer);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : rd_kafka_err2str(error);
}

std::string compare(const std::map<Load::Place, uint64_t>& acked,
                    const std::map<Load::Place, uint64_t>& read) {
  for (const auto& [place, id] : acked) {
    const auto found = read.find(place);
    if (found != read.end() && found->second == id) continue;
    return fmt::format("record {} was acknowledged at offset {} of partition {}, where {}", id,
                       place.second, place.first,
                       found == read.end() ? "nothing is"
                                           : fmt::format("record {} is", found->second));
  }
  std::set<uint64_t> seen;
  for (const auto& [place, id] : read) {
    if (seen.insert(id).second) continue;
    return fmt::format("record {} is there twice, once at offset {} of partition {}", id,
                       place.second, place.first);
  }
  return {};
}

}  // namespace weir::crashtest
