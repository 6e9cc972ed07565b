#pragma once
// Load: an idempotent producer of librdkafka that sends numbered records from a thread of its own
// and remembers what was acknowledged; and the comparison of that with what a topic holds.

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::crashtest {

inline constexpr const char* kTopic = "load";
inline constexpr int kPartitions = 4;
// What a broker needs for it: the topic is made by the first record.
inline const std::vector<std::string> kLoadSettings = {"--set", "num.partitions=4"};

// The content of record number `id`: its number, then bytes that follow from it.
std::string content(uint64_t id);

class Load {
 public:
  using Place = std::pair<int32_t, int64_t>;  // partition, offset

  Load(const std::string& bootstrap, int records_per_ms);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Pauses sending; records in flight stay in flight.
  void set_paused(bool paused) { paused_ = paused; }
  // Waits until at least so many are acknowledged; false after a minute.
  bool wait_acked(size_t count);
  // Stops sending and waits until all is acknowledged; false after a minute, or after an error.
  bool finish();

  [[nodiscard]] std::map<Place, uint64_t> acked() const;
  [[nodiscard]] size_t acked_count() const;
  [[nodiscard]] uint64_t sent_count() const { return next_id_; }
  // The first record librdkafka gave up, or its fatal error; empty: none.
  [[nodiscard]] std::string error() const;

 private:
  static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self);
  void run();

  rd_kafka_t* producer_ = nullptr;
  const int records_per_ms_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> paused_ = false;
  std::atomic<uint64_t> next_id_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::map<Place, uint64_t> acked_;
  std::string error_;
  std::thread thread_;
};

// Everything the topic holds, by place; `fault` says what could not be read or is no record of
// ours.
std::map<Load::Place, uint64_t> read_all(const std::string& bootstrap, std::string& fault);

// Empty when every acknowledged record is at its place and no record is there twice.
std::string compare(const std::map<Load::Place, uint64_t>& acked,
                    const std::map<Load::Place, uint64_t>& read);

}  // namespace weir::crashtest
