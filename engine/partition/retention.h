#pragma once
// Retention: every check interval once over the partitions of a core: which of their oldest
// segments may go by size and age, and which of their producers are forgotten. A few partitions a
// turn, one file at work at a time, so that nobody waits for it. Owned by PartitionTable.
//
// By age nothing goes in the first round: the clock is believed when a second look agrees with the
// first (P14).

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/log/ledger_loader.h"
#include "engine/log/segment.h"
#include "engine/partition/config.h"
#include "engine/partition/read_positions.h"
#include "engine/partition/services.h"
#include "engine/partition/unread_guard.h"

namespace weir::partition {

class PartitionTable;

class Retention {
 public:
  Retention(Services& services, PartitionTable& table, const Config& config);
  Retention(const Retention&) = delete;

  // `positions`, when there are any, outlives it.
  void start(ReadPositions* positions);
  // No new round, and the one under way ends early.
  void stop();
  bool idle() const { return !updating_ && !step_op_.armed() && scratch_ == nullptr; }
  uint64_t rounds() const { return rounds_; }

 private:
  static constexpr size_t kPartitionsPerTurn = 64;
  static constexpr int64_t kFirstRoundMs = 30'000;  // after the start, as in Kafka

  void arm(int64_t delay_ms);
  void on_timer();
  void on_updated(io::Op& op);
  void on_step(io::Op& op);
  bool look_at(model::PartitionKey key);
  void load(Partition& partition, log::Segment& segment);
  void on_loaded(io::Op& op);

  Services& services_;
  PartitionTable& table_;
  const Config& config_;
  io::Timer timer_;
  io::Op step_op_;
  log::LedgerLoader loader_;
  io::Op load_op_;
  std::vector<model::PartitionKey> keys_;  // of the round under way, from next_ on
  size_t next_ = 0;
  Partition* partition_ = nullptr;  // whose segment is being looked at
  log::Segment* segment_ = nullptr;
  std::unique_ptr<log::Segment> scratch_;  // its ledger, for a moment
  UnreadGuard guard_;
  ReadPositions* positions_ = nullptr;
  io::Op update_op_;
  bool updating_ = false;  // of positions_
  log::RetentionTime now_;
  uint64_t rounds_ = 0;
  bool stopped_ = false;
};

}  // namespace weir::partition
