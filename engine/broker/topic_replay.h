#pragma once
// TopicReplay: reads the partitions of an internal topic whose home is this core back at start, for
// the coordinator whose state they hold. Owned by Core.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/log/segment_reader.h"
#include "engine/partition/partition_table.h"
#include "io/core_io.h"

namespace weir::broker {

// Takes what is read; whole batches, in the order of the log.
class ReplaySink {
 public:
  virtual ~ReplaySink() = default;
  virtual void replay(model::PartitionIndex partition, std::span<const std::byte> batches) = 0;
};

// A coordinator with a replay() of that form.
template <class Coordinator>
class CoordinatorSink final : public ReplaySink {
 public:
  explicit CoordinatorSink(Coordinator& coordinator) : coordinator_(coordinator) {}
  void replay(model::PartitionIndex partition, std::span<const std::byte> batches) override {
    coordinator_.replay(partition, batches);
  }

 private:
  Coordinator& coordinator_;
};

class TopicReplay {
 public:
  TopicReplay(io::CoreIo& io, partition::PartitionTable& table);

  // Reads every partition of the topic homed here, oldest batch first; `done` completes with 0.
  void start(const catalog::Topic& topic, const catalog::Catalog& catalog, ReplaySink& sink,
             io::Op& done);
  uint64_t replayed_bytes() const { return replayed_bytes_; }

 private:
  void step();
  void on_read(io::Op& op);
  void take();

  io::CoreIo& io_;
  partition::PartitionTable& table_;
  ReplaySink* sink_ = nullptr;
  log::SegmentReader reader_;
  io::Op read_op_;
  io::Op* done_ = nullptr;
  log::Lease lease_;
  std::vector<std::byte> bytes_;
  std::vector<partition::Partition*> partitions_;
  size_t next_ = 0;
  model::Offset offset_;
  uint64_t replayed_bytes_ = 0;
};

}  // namespace weir::broker
