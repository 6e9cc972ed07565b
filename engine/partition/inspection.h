#pragma once
// Inspection: reads every byte of a partition that a recovery has put together and says which
// batches are sound and what is damaged, batch by batch. For tools, while no broker runs: straight
// line on one core; nothing is written.
//
// What a broker refuses is a whole group (engine/log/ledger.h). Most of its batches may be sound: a
// batch counts as sound when its CRC is right and everything that the CRC leaves out is known from
// its neighbours, from the beginning of the group on or back from its end. In a segment that
// compaction wrote batches do not tell where their neighbours are, so there a group is lost whole.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/file_names.h"
#include "engine/log/ledger.h"
#include "engine/partition/partition.h"
#include "io/core_io.h"

namespace weir::log {
class SegmentWalker;
}

namespace weir::partition {

struct Damage {
  enum class Kind : uint8_t {
    checksum,     // bytes changed since they were acknowledged
    unreadable,   // the medium gives some of them no more
    quarantined,  // a start found them damaged, in a journal or a segment
    missing,      // no file has them
  };
  Kind kind = Kind::checksum;
  log::SegmentName segment{};
  uint64_t position = 0;           // in its file
  uint64_t size = 0;               // 0: missing
  model::Offset base_offset{};     // what is lost
  model::Offset next_offset{};
  model::Offset refused_begin{};   // what a broker refuses because of it
  model::Offset refused_end{};
  bool transactional = false;      // batches or ends of transactions may be among it

  bool operator==(const Damage&) const = default;
};
std::string_view name(Damage::Kind kind);

// Told everything of a segment in the order of its offsets.
class InspectionVisitor {
 public:
  virtual ~InspectionVisitor() = default;
  // A whole sound batch; valid during the call.
  virtual base::Status on_batch(std::span<const std::byte> batch) = 0;
  virtual base::Status on_damage(const Damage& damage) = 0;
};

class Inspection {
 public:
  Inspection(io::CoreIo& core, std::string directory)
      : core_(core), directory_(std::move(directory)) {}

  // Segment `index` of the partition. An error is the visitor's, or says that something is there
  // but cannot be opened; a file that is not there is damage.
  base::Status run(const Recovered& partition, size_t index, InspectionVisitor& visitor);
  // All of a partition that lies at or above its log start.
  base::Result<std::vector<Damage>> find_damage(const Recovered& partition);

  // Whether recovery put it where no file has the offsets.
  static bool stands_for_missing(const RecoveredSegment& segment) {
    return segment.sealed && segment.end == 0;
  }
  // Where the offsets of segment `index` end.
  static model::Offset end_of(const Recovered& partition, size_t index);

 private:
  base::Result<log::Ledger> load_ledger(const RecoveredSegment& segment, model::Offset end);
  base::Status visit_group(log::SegmentWalker& walker, const log::Group& group);
  base::Status visit_damaged(const log::Group& group, bool unreadable);
  base::Status lose(const log::Group& group, Damage::Kind kind, uint64_t from, uint64_t to,
                    model::Offset base, model::Offset next);
  bool read(log::SegmentWalker& walker, const log::Group& group);
  bool sound_at(uint64_t at, const log::Group& group, model::Offset offset) const;
  base::Status visit_batches(uint64_t from, uint64_t to);

  io::CoreIo& core_;
  std::string directory_;
  InspectionVisitor* visitor_ = nullptr;
  log::SegmentName name_;
  std::vector<std::byte> bytes_;  // of one group
};

}  // namespace weir::partition
