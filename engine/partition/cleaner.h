#pragma once
// Cleaner: which compacted logs of a core are compacted, and when (LogCleanerManager). A look over
// all partitions finds those whose share of dirty bytes is above min.cleanable.dirty.ratio, or
// whose oldest dirty record is older than max.compaction.lag.ms; the dirtiest is first, one at a
// time. When a look led to nothing, log.cleaner.backoff.ms pass until the next. Owned by
// PartitionTable.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "engine/partition/cleaner_config.h"
#include "engine/partition/cleaning.h"
#include "engine/partition/config.h"
#include "engine/partition/services.h"
#include "io/timers.h"

namespace weir::partition {

class PartitionTable;

class Cleaner {
 public:
  Cleaner(Services& services, PartitionTable& table, const Config& config);
  Cleaner(const Cleaner&) = delete;

  void start();
  // No new pass, and the one under way ends early.
  void stop();
  // Holds from now on: for pauses and rests under way too, for the memory of the next pass.
  void set_config(const CleanerConfig& config);
  const CleanerConfig& config() const { return config_; }
  bool idle() const { return !cleaning_.busy() && !step_op_.armed() && !done_op_.armed(); }
  uint64_t looks() const { return looks_; }
  // Since it last looked or went to the next log; before start(): 0.
  int64_t ms_since_run() const;

 private:
  static constexpr size_t kPartitionsPerTurn = 64;
  struct Candidate {
    model::PartitionKey key;
    double ratio = 0;
    bool overdue = false;
    bool age_only = false;
  };

  struct Found {
    uint64_t dirty_bytes = 0;
    uint64_t uncleanable_bytes = 0;
    uint64_t overdue = 0;
    int64_t delay_ms_max = 0;
    double ratio_max = 0;
  };

  void on_timer() { look(); }
  void look();
  void on_step(io::Op& op);
  void weigh(model::PartitionKey key);
  void publish();
  void clean_next();
  void arm(int64_t pause_ms);
  void on_done(io::Op& op);

  Services& services_;
  PartitionTable& table_;
  const bool enabled_;
  CleanerConfig config_;
  io::Timer timer_;
  io::Op step_op_;
  io::Op done_op_;
  Cleaning cleaning_;
  std::vector<model::PartitionKey> keys_;  // of the look under way, from next_ on
  size_t next_ = 0;
  std::vector<Candidate> candidates_;      // the first to clean last
  model::PartitionKey key_;                // being cleaned
  std::set<model::PartitionKey> stuck_;    // the device failed, or a segment is damaged
  std::set<model::PartitionKey> failed_;   // of these, not to be touched again
  bool cleaned_ = false;                   // something, since the last look
  log::RetentionTime now_;
  Found found_;                            // by the look under way
  uint64_t looks_ = 0;
  std::optional<io::Instant> last_run_;
  bool stopped_ = false;
};

}  // namespace weir::partition
