#pragma once
// weir dump --verify: everything in a data directory, read and compared. A finding is one line:
// where, what, which offsets that costs, and what the next start will do about it. What a crash
// leaves behind and a start puts in order is none.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine/partition/inspection.h"
#include "engine/partition/partition.h"
#include "io/core_io.h"
#include "tools/weir/offline.h"

namespace weir::tools {

class Findings {
 public:
  // `where` is a path below the data directory; `next` what the next start does about it.
  void add(const std::string& where, const std::string& what, const std::string& next);
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

// Checks the directory, prints findings and their count, which comes back. Failure: it cannot be
// checked at all.
int verify_directory(const std::string& data);

// One partition, as the next start puts it together.
class PartitionVerifier {
 public:
  PartitionVerifier(io::CoreIo& core, const DataDirectory& data, model::PartitionKey key,
                    Findings& findings);
  void run(const partition::Recovered& partition);
  // When there will be no start: what lies below the newest segment.
  void run_without_start();

 private:
  [[nodiscard]] std::string where(const std::string& name) const;
  void check_names();
  void check_snapshot(model::Offset log_end);
  void check_segments(const partition::Recovered& partition);
  void check_ledger(const partition::RecoveredSegment& segment, bool active);
  void report(const partition::Damage& damage);
  std::vector<std::byte> read_file(const std::string& name);

  io::CoreIo& core_;
  std::string topic_partition_;
  std::string directory_;
  std::string shown_;  // the directory, below that of the data
  Findings& findings_;
  partition::Inspection inspection_;
};

}  // namespace weir::tools
