#pragma once
// OffsetsJob: ListOffsets by time or for the largest timestamp: the ledger names the group, the
// group's batches name the batch, its records (opened if compressed) name the record (SCOPE 12).
// Owned by PartitionTable.

#include <cstdint>
#include <vector>

#include "engine/log/inflater.h"
#include "engine/log/segment_reader.h"
#include "engine/partition/messages.h"
#include "engine/partition/services.h"

namespace weir::partition {

class Partition;
class PartitionTable;

class OffsetsJob {
 public:
  OffsetsJob(PartitionTable& table, Services& services);
  OffsetsJob(const OffsetsJob&) = delete;

  void start(OffsetsRequest& request, Partition& partition);

 private:
  // ledgers: all of them are brought into memory; largest: the batches of the groups that are not
  // wholly visible, at either end of the log, are looked at; search: from position_ on for the
  // first record with a timestamp >= wanted_.
  enum class Phase : uint8_t { ledgers, largest, search };

  void step();
  void begin_largest();
  bool read_at(model::Offset offset);
  void on_ledger(io::Op& op);
  void on_read(io::Op& op);
  void after_read();
  bool search_batches();
  void weigh_batches();
  void finish(model::ErrorCode error);

  PartitionTable& table_;
  Services& services_;
  log::LedgerLoader loader_;
  log::SegmentReader reader_;
  log::Inflater inflater_;
  io::Op ledger_op_;
  io::Op read_op_;
  OffsetsRequest* request_ = nullptr;
  Partition* partition_ = nullptr;
  log::Lease lease_;
  std::vector<std::byte> bytes_;   // one read, contiguous
  Phase phase_ = Phase::ledgers;
  uint64_t replacements_ = 0;      // of the log, when largest_ was begun
  bool largest_ = false;           // timestamp -3
  int64_t wanted_ = 0;
  model::Offset limit_;            // records at or past it are not visible
  model::Offset position_;         // the next read starts here
  // Phase largest: offsets [log start, head_end_) and [tail_begin_, limit_) are looked at by
  // batches.
  model::Offset head_end_;
  model::Offset tail_begin_;
};

}  // namespace weir::partition
