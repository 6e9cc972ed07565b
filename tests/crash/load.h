#pragma once
// Load: an idempotent producer of librdkafka that sends numbered records from a thread of its own
// and remembers what was acknowledged; and the comparison of that with what a topic holds.

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
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
// The number of a record, if its content is what follows from it.
std::optional<uint64_t> number_of(std::string_view value);

class Load {
 public:
  using Place = std::pair<int32_t, int64_t>;  // partition, offset

  // With a moment, a count that only grows, each acknowledgement is noted with it.
  Load(const std::string& bootstrap, int records_per_ms, std::function<size_t()> moment = {});
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Pauses sending; records in flight stay in flight.
  void set_paused(bool paused) { paused_ = paused; }
  void set_rate(int records_per_ms) { records_per_ms_ = records_per_ms; }
  // Waits until at least so many are acknowledged; false after a minute.
  bool wait_acked(size_t count);
  // Stops sending and waits until all is acknowledged; false after a minute, or after an error.
  bool finish();

  [[nodiscard]] std::map<Place, uint64_t> acked() const;
  // What was acknowledged when the moment was not greater than this.
  [[nodiscard]] std::map<Place, uint64_t> acked_by(size_t moment) const;
  [[nodiscard]] size_t acked_count() const;
  [[nodiscard]] uint64_t sent_count() const { return next_id_; }
  // The first record librdkafka gave up, or its fatal error; empty: none.
  [[nodiscard]] std::string error() const;

 private:
  static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self);
  void run();

  rd_kafka_t* producer_ = nullptr;
  std::atomic<int> records_per_ms_;
  const std::function<size_t()> moment_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> paused_ = false;
  std::atomic<uint64_t> next_id_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::map<Place, uint64_t> acked_;
  std::vector<std::pair<size_t, Place>> moments_;  // in the order of acknowledgements
  std::string error_;
  std::thread thread_;
};

// Offsets of one partition, `to` not among them.
struct Range {
  int32_t partition;
  int64_t from;
  int64_t to;
};

// What stands there, by place; gives up, and says so in `fault`, when nothing has come for so long.
std::map<Load::Place, uint64_t> read_ranges(const std::string& bootstrap,
                                            const std::vector<Range>& ranges, int patience_ms,
                                            std::string& fault);

// Where partitions begin: elsewhere than at 0 is a fault, or as it is.
enum class Begin : uint8_t { at_zero, anywhere };

// Everything the topic holds, by place; `fault` says what could not be read or is no record of
// ours.
std::map<Load::Place, uint64_t> read_all(const std::string& bootstrap, std::string& fault,
                                         int patience_ms = 60'000, Begin begin = Begin::at_zero);

// Commits an offset of a group; empty, or what the broker said.
std::string commit(const std::string& bootstrap, int32_t partition, int64_t offset);

// Empty when every acknowledged record is at its place and no record is there twice.
std::string compare(const std::map<Load::Place, uint64_t>& acked,
                    const std::map<Load::Place, uint64_t>& read);

}  // namespace weir::crashtest
