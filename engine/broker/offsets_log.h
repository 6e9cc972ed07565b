#pragma once
// OffsetsLog: the partitions of __consumer_offsets whose home is this core, as the group
// coordinator writes them. OffsetsReplay: reads them back at start. Owned by Core.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/group/group_coordinator.h"
#include "engine/group/group_log.h"
#include "engine/log/segment_reader.h"
#include "engine/partition/partition_table.h"

namespace weir::broker {

inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";

class OffsetsLog : public group::GroupLog {
 public:
  OffsetsLog(io::CoreIo& io, const catalog::Catalog& catalog) : io_(io), catalog_(catalog) {}

  void append(group::GroupAppend& append) override;

 private:
  struct Write {
    explicit Write(OffsetsLog& its_owner) : owner(its_owner) {
      request.bind_reply<&Write::on_reply>(*this);
    }
    void on_reply(io::Message& message);

    OffsetsLog& owner;
    partition::AppendRequest request;
    group::GroupAppend* append = nullptr;
  };

  io::CoreIo& io_;
  const catalog::Catalog& catalog_;
  std::vector<std::unique_ptr<Write>> writes_;
  std::vector<Write*> free_;
};

class OffsetsReplay {
 public:
  OffsetsReplay(io::CoreIo& io, partition::PartitionTable& table, group::GroupCoordinator& groups);

  // Reads every partition of the topic homed here, oldest batch first; `done` completes with 0 or
  // -EIO.
  void start(const catalog::Topic& topic, const catalog::Catalog& catalog, io::Op& done);
  uint64_t replayed_bytes() const { return replayed_bytes_; }

 private:
  void step();
  void on_read(io::Op& op);
  void take();

  io::CoreIo& io_;
  partition::PartitionTable& table_;
  group::GroupCoordinator& groups_;
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
