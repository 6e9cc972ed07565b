#pragma once
// Model: what clients were told, and what must therefore be readable. It knows nothing of the
// engine; clients report to it what they sent, what was answered and what they read. Contradictions
// become findings at once; invariants.h checks whole partitions after each restart.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/kafka_requests.h"
#include "tests/sim/keyed_log.h"

namespace weir::simtest {

// The first contradiction ends the run.
class Findings {
 public:
  bool any() const { return !first_.empty(); }
  const std::string& first() const { return first_; }
  void report(std::string finding) {
    if (first_.empty()) first_ = std::move(finding);
  }

 private:
  std::string first_;
};

// One record batch of one producer, however often it was sent.
struct Batch {
  uint64_t id = 0;              // also the key of its first record
  TopicPartition where;
  ProducerStamp stamp;          // producer_id -1: plain
  std::vector<Record> records;
  ByteString bytes;
  uint64_t first_sent = 0;      // order stamps of the model's own clock; 0: not yet
  uint64_t acked_at = 0;        // 0: not acknowledged
  int64_t acked_offset = -1;
  int64_t first_sent_ns = 0;    // virtual time
  uint32_t open_attempts = 0;   // sent, and neither refused nor (for the last one) acknowledged
  bool idempotent() const { return stamp.producer_id >= 0; }
  // It may lie in the log: some attempt was not provably refused.
  bool possible() const { return open_attempts > 0 || acked_at != 0; }
};

struct Partition {
  std::map<int64_t, uint64_t> observed;   // base offset -> batch id, of everything anybody read
  int64_t durable_floor = 0;              // the high watermark may never be below this again
  int64_t log_start_floor = 0;            // nor the log start below this one
  int64_t cut_bound = 0;                  // where somebody asked it to be, at most
};

// What a topic may delete by itself; -1: nothing.
struct Retention {
  int64_t age_ms = -1;
  int64_t size_bytes = -1;
  bool any() const { return age_ms >= 0 || size_bytes >= 0; }
};

// What a read may count on that starts now.
struct Floors {
  int64_t durable = 0;
  int64_t log_start = 0;
};

// One group's offset of one partition.
struct GroupOffset {
  int64_t settled = -1;                            // last acknowledged or read
  std::map<int64_t, uint32_t> unknown;             // value -> incarnation in which it was sent
};

class Model {
 public:
  explicit Model(Findings& findings) : findings_(findings) {}

  uint64_t tick() { return ++clock_; }
  void set_incarnation(uint32_t incarnation) { incarnation_ = incarnation; }

  // --- topics ---
  void topic_acked(const std::string& name, int32_t partitions) { topics_[name] = partitions; }
  void set_retention(const std::string& name, Retention retention) { retention_[name] = retention; }
  Retention retention(const std::string& name) const {
    const auto found = retention_.find(name);
    return found == retention_.end() ? Retention{} : found->second;
  }
  const std::map<std::string, int32_t>& topics() const { return topics_; }

  // --- producing ---
  Batch& add_batch(const TopicPartition& where, const ProducerStamp& stamp,
                   std::vector<Record> records);
  void sent(Batch& batch, int64_t now_ns);
  void acked(Batch& batch, int64_t offset);
  void refused(Batch& batch);

  // --- reading ---
  // What a read of `where` must show at least, for a request that starts now.
  Floors floors(const TopicPartition& where) {
    const Partition& partition = partitions_[where];
    return {partition.durable_floor, partition.log_start_floor};
  }
  // A batch was delivered to some client.
  void observed(const TopicPartition& where, const BatchView& view);
  void saw_offsets(const TopicPartition& where, const Floors& at_send, int64_t log_start,
                   int64_t last_stable, int64_t high_watermark);
  void saw_log_start(const TopicPartition& where, const Floors& at_send, int64_t log_start);
  // Somebody asks for a log start; -1: the end, wherever that is.
  void cut_sent(const TopicPartition& where, int64_t offset);

  // --- groups ---
  void commit_sent(const std::string& group, const TopicPartition& where, int64_t value);
  void commit_acked(const std::string& group, const TopicPartition& where, int64_t value);
  void commit_refused(const std::string& group, const TopicPartition& where, int64_t value);
  void commit_read(const std::string& group, const TopicPartition& where, int64_t value);

  // --- compacted topics that were created ---
  std::map<TopicPartition, KeyedLog>& keyed() { return keyed_; }

  const Batch* find(uint64_t id) const;
  const std::vector<std::unique_ptr<Batch>>& batches() const { return batches_; }
  const std::map<TopicPartition, Partition>& partitions() const { return partitions_; }
  const std::map<std::pair<std::string, TopicPartition>, GroupOffset>& groups() const {
    return groups_;
  }
  uint64_t acked_count() const { return acked_count_; }
  uint64_t observed_count() const { return observed_count_; }

 private:
  Findings& findings_;
  uint64_t clock_ = 0;
  uint32_t incarnation_ = 0;
  uint64_t acked_count_ = 0;
  uint64_t observed_count_ = 0;
  std::map<std::string, int32_t> topics_;  // acknowledged
  std::map<std::string, Retention> retention_;
  std::vector<std::unique_ptr<Batch>> batches_;  // by id - 1
  std::map<TopicPartition, Partition> partitions_;
  std::map<std::pair<std::string, TopicPartition>, GroupOffset> groups_;
  std::map<TopicPartition, KeyedLog> keyed_;
};

std::string describe(const Batch& batch);

}  // namespace weir::simtest
