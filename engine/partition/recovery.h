#pragma once
// Recovery: from journals, segments, ledgers and snapshots to the partitions as they were
// acknowledged (RELIABILITY 2.3). Straight-line on one core, before serving.
//
// Order: every journal is replayed into images (what the journal alone has of each partition's
// newest segments); then each partition is put together from its files and its image, bytes that
// only the journal had are written to their segments, and what is left, less than a block each,
// goes to the new journals when the partitions are built. The old journals stay valid until the
// caller has made that durable, so recovery may crash anywhere and run again with the same result
// (L11).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/journal/replay.h"
#include "engine/log/segment_walker.h"
#include "engine/partition/partition.h"
#include "io/core_io.h"

namespace weir::partition {

// Which partitions exist, by the catalog, and where their files are.
using KnownPartitions = std::map<model::PartitionKey, std::string>;

class Recovery {
 public:
  Recovery(io::CoreIo& core, const KnownPartitions& known) : core_(core), known_(known) {}

  struct Stats {
    uint64_t journal_records = 0;
    uint64_t damaged_records = 0;
    uint64_t damaged_entries = 0;
    uint64_t dropped_records = 0;
    uint64_t quarantined_groups = 0;
    uint64_t moved_bytes = 0;     // from journals to segments
    uint64_t scanned_bytes = 0;   // of segments
  };

  base::Status replay(const std::string& journal_path, uint64_t generation, uint32_t core);
  // After all journals. Every known partition with files is in the result.
  base::Result<std::map<model::PartitionKey, Recovered>> finish();
  const Stats& stats() const { return stats_; }
  // After finish(): an error when a file with a checksum of its own was written in a later start
  // than meta.json knows of. Files of different ages were mixed then.
  base::Status check_age(model::Incarnation known) const;

 private:
  // A range of acknowledged bytes that the journal lost.
  struct Gap {
    uint64_t begin;
    uint64_t end;
    model::Offset next_offset;
    std::optional<uint32_t> checksum{};  // of [begin, end), where the entry itself is known
  };
  // One segment as the journal knows it.
  struct Image {
    model::Offset base_offset;
    uint64_t tail_begin = 0;        // below it the file has everything
    std::vector<std::byte> tail{};  // from there to the end
    model::Offset next_offset{};
    std::vector<Gap> gaps{};
    bool begins_inside = false;       // no live record says what lies below tail_begin
    std::vector<std::pair<uint64_t, model::Offset>> starts{};  // known batch boundaries, ascending
    uint64_t end() const { return tail_begin + tail.size(); }
  };
  struct Images {
    std::vector<Image> segments;    // oldest first
  };

  base::Result<bool> apply(const journal::ReplayedRecord& record);
  void apply_entry(Images& images, const journal::ReplayedEntry& replayed);
  base::Result<bool> extents_landed(const journal::ReplayedRecord& record);
  base::Result<bool> extent_landed(io::FileId file, const std::string& path,
                                   const journal::ReplayedEntry& replayed);

  // What lies in a partition's directory, ascending.
  struct Found {
    std::vector<log::SegmentName> segments;
    std::vector<log::SegmentName> superseded;  // part of no log, whatever is in them
    std::vector<std::string> debris;           // of compaction passes that did not end
    std::vector<model::Offset> markers;        // log starts
    uint64_t last_pass = 0;                    // greatest in any name, that of debris too
    model::Offset marked() const { return markers.empty() ? model::Offset(0) : markers.back(); }
    // Below it compaction has the last word: what a journal has of it is out of date.
    model::Offset cleaned_end() const;
  };
  base::Result<Found> list(const std::string& directory);
  // A partition that has files, or bytes in a journal.
  struct Listed {
    model::PartitionKey key;
    const std::string& directory;
    Found found;
  };
  static void erase_sealed(std::vector<Image>& images);
  base::Result<std::vector<Image>> take_images(model::PartitionKey key,
                                               const std::string& directory, Found& found);
  // What is below the log start: a file, or an image of the journal, or both.
  struct Dead {
    log::SegmentName name{};
    model::Offset next_offset{};
    bool has_file = false;
    bool has_image = false;
    Image image{};
  };
  std::vector<Dead> take_dead(Found& found, std::vector<Image>& images);
  bool feed_dead(const std::string& directory, Dead& dead, model::Offset producers_from,
                 Recovered& out);
  base::Status keep_dead(const std::string& directory, Dead& dead);
  base::Status read_producers(const std::string& directory, std::vector<Dead>& dead,
                              model::Offset& producers_from, Recovered& out);
  base::Status add_sealed(const std::string& directory, const Found& found, model::Offset end,
                          Recovered& out);
  void add_missing(const std::string& directory, model::Offset from, Recovered& out);
  base::Status recover(Listed& listed, Recovered& out);
  base::Status sync_directory(const std::string& directory);
  base::Status sync_directories(const std::vector<Listed>& all);
  void note_incarnation(int32_t incarnation, const std::string& file);
  void remove_file(const std::string& path);
  void remove_segment(const std::string& directory, const log::SegmentName& name);
  void remove_left_over(const std::string& directory, const Found& found);
  base::Status remove_behind(const std::string& directory, Found& found, const Image& newest);
  void remove_empty(const std::string& directory, std::vector<log::SegmentName>& segments,
                    model::Offset sealed_end);
  base::Status read_snapshot(const std::string& directory, Recovered& out,
                             model::Offset& producers_from);
  base::Status rebuild(const std::string& directory, Image& image, RecoveredSegment& segment,
                       model::Offset producers_from, Recovered& out, bool active);
  void fill_gaps(io::FileId file, Image& image);
  void walk(log::SegmentWalker& walker, const Image& image, RecoveredSegment& segment,
            model::Offset producers_from, Recovered& out, uint64_t written);
  bool step_over_damage(log::SegmentWalker& walker, const Image& image,
                        RecoveredSegment& segment);
  base::Status load_ledger(const std::string& directory, RecoveredSegment& segment,
                           uint64_t valid_end);
  base::Status keep_verdict(const std::string& directory, log::Ledger& ledger);
  base::Status feed_sealed(const std::string& directory, RecoveredSegment& segment,
                           model::Offset next_offset,
                           model::Offset producers_from, Recovered& out);
  base::Status move_to_segment(io::FileId file, Image& image, uint64_t stop);
  base::Status seal(const std::string& directory, const Image& image, RecoveredSegment& segment,
                    io::FileId file);
  base::Result<io::FileId> open(const std::string& path, bool create);
  void close(io::FileId file);
  int32_t wait(io::Op& op);
  void take_batch(std::span<const std::byte> bytes, model::Offset producers_from, Recovered& out);

  io::CoreIo& core_;
  const KnownPartitions& known_;
  std::map<model::PartitionKey, Images> images_;
  Stats stats_;
  int32_t newest_incarnation_ = -1;
  std::string newest_file_;
};

}  // namespace weir::partition
