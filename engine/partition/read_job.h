#pragma once
// ReadJob: one ReadRequest at work on its home core: partition after partition, from memory at
// once, from the disk with a wait. It holds the lease on what it handed out until the request comes
// to be released. Owned by PartitionTable, reused.

#include <cstdint>
#include <vector>

#include "engine/log/segment_reader.h"
#include "engine/partition/messages.h"
#include "engine/partition/services.h"
#include "io/base/intrusive_list.h"

namespace weir::partition {

class Partition;
class PartitionTable;

class ReadGate;

class ReadJob : public base::ListHook {
 public:
  ReadJob(PartitionTable& table, Services& services);
  ReadJob(const ReadJob&) = delete;

  void start(ReadRequest& request);
  void release();  // gives back all memory; the job may then be used again

  // ReadGate: its turn has come; or nobody gave memory back for long.
  void admitted();
  void turned_away();
  io::Instant patience_ends{};

 private:
  struct Found {
    size_t first_piece = 0;
    size_t piece_count = 0;
    size_t first_aborted = 0;
    size_t aborted_count = 0;
  };

  void step();
  bool may_take();
  void take_no_more();
  bool check(Partition& partition, ReadItem& item);
  bool read(Partition& partition, ReadItem& item);
  void on_read(io::Op& op);
  void take(Partition& partition, ReadItem& item);
  void finish();

  PartitionTable& table_;
  Services& services_;
  log::SegmentReader reader_;
  io::Op read_op_;
  ReadRequest* request_ = nullptr;
  Partition* reading_ = nullptr;
  log::Lease lease_;
  std::vector<Found> found_;  // pieces of each item; the vectors they lie in may still grow
  std::vector<AbortedTransaction> aborted_;
  size_t next_ = 0;
  size_t piece_begin_ = 0;
  uint64_t left_ = 0;
  bool first_ = true;
  bool waits_ = false;     // at the gate
  bool admitted_ = false;  // it has waited there
};

}  // namespace weir::partition
