#pragma once
// Names on disk, made and taken apart here and nowhere else; below the data directory there are
//   topics/<topic>-<partition>.<serial>/<base offset, 20 digits>.log and so on; of segments that
//                                  compaction wrote <base>.<next>.<clean end>.<pass>.log, 20 digits
//   journal/core-<n>.<generation>.journal
//   pool/core-<n>.<run, 16 hex digits>.<number>    files of dead segments, to be used again
//   reserve.core-<n>                               space kept for a full disk
// and those of the catalog (catalog/node_identity.h, catalog/catalog_log.h). Whatever else lies
// beside them is somebody's.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/ids.h"

namespace weir::log {

inline constexpr std::string_view kLogSuffix = ".log";
inline constexpr std::string_view kLedgerSuffix = ".ledger";
// An empty file whose name is a log start offset; the greatest one counts (start_marker.h).
inline constexpr std::string_view kStartSuffix = ".start";
// Behind the name of a segment file that compaction is still writing.
inline constexpr std::string_view kCleaningSuffix = ".log.cleaning";
inline constexpr std::string_view kProducerSnapshotName = "producers.snapshot";

// topics/<topic>-<partition>.<serial>: the serial tells lives of a topic apart, so that a topic
// created again never meets the files of the one before. Names too long for the file system are
// cut; the serial keeps them apart.
std::string partition_directory(std::string_view data, std::string_view topic,
                                model::PartitionKey key);
// The partition a directory name belongs to; nothing for any other name.
std::optional<model::PartitionKey> parse_partition_directory(std::string_view name);
std::string topics_directory(std::string_view data);
// What a deleted partition's directory is renamed to before its files go.
std::string deleted_directory(std::string_view data, model::PartitionKey key);
bool is_deleted_directory(std::string_view name);

std::string journal_directory(std::string_view data);
std::string journal_file(std::string_view data, uint32_t core, uint64_t generation);
struct JournalName {
  uint32_t core = 0;
  uint64_t generation = 0;
};
std::optional<JournalName> parse_journal_file(std::string_view name);

std::string pool_directory(std::string_view data);
// In that directory; no two runs of a core have the same number.
std::string pool_file(std::string_view directory, uint32_t core, uint64_t run, uint64_t number);
bool is_pool_file(std::string_view name);

// Without the directory.
std::string reserve_file(uint32_t core);
bool is_reserve_file(std::string_view name);

// What the name of a segment's files says. A cleaned segment takes the place of every segment whose
// base offset lies in its range; of two, the one with the greater pass counts. Nothing else has to
// be durable for that but the name, which is there or not.
struct SegmentName {
  SegmentName() = default;
  // The segment that the log was appended to.
  explicit SegmentName(model::Offset base) : base_offset(base) {}
  SegmentName(model::Offset base, model::Offset next, model::Offset clean, uint64_t number)
      : base_offset(base), next_offset(next), clean_end(clean), pass(number) {}

  model::Offset base_offset;
  // Of a cleaned segment only, pass > 0:
  model::Offset next_offset = model::kNoOffset;  // behind the range
  model::Offset clean_end = model::kNoOffset;    // below it the log is clean; at most next_offset
  uint64_t pass = 0;                             // greater than of all files made before

  bool is_cleaned() const { return pass > 0; }
  bool supersedes(const SegmentName& other) const {
    return pass > other.pass && base_offset <= other.base_offset &&
           other.base_offset < next_offset;
  }
  bool operator==(const SegmentName&) const = default;
};

std::string segment_file(std::string_view directory, model::Offset base_offset,
                         std::string_view suffix);
std::string segment_file(std::string_view directory, const SegmentName& name,
                         std::string_view suffix);
// The same without the directory.
std::string segment_name(const SegmentName& name, std::string_view suffix);
// The base offset of a file "<20 digits><suffix>"; nothing for any other name.
std::optional<model::Offset> parse_segment_file(std::string_view name, std::string_view suffix);
// Either form; nothing for any other name, or for a cleaned one whose numbers make no sense.
std::optional<SegmentName> parse_segment_name(std::string_view name, std::string_view suffix);

// Takes out of `names` those that another one supersedes, and sorts both by base offset.
std::vector<SegmentName> take_superseded(std::vector<SegmentName>& names);

}  // namespace weir::log
