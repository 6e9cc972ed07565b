#pragma once
// Cleaning: one compaction pass over one partition, in the background of its home core.
//
//   mapping    the dirty segments are read for the last offset of each key, until the map is full
//   filtering  from the start of the log to where the map ends, runs of segments are read again and
//              what stays is written to one new segment each, no larger than a segment may be
//   committing the new segment gets its name, durably, and takes the place of the run in the log
//
// The oldest run comes first, so each one's name may say that the log is clean up to its end: a
// crash between two costs the rest of the pass, and a delete marker never goes before what it
// deletes. Nothing is shared with requests but the disk: a turn reads SegmentScanner::kWindowMax
// bytes, then others have theirs; while the core commits, the pass rests as long as it worked.
//
// Whatever fails before the rename costs the pass and nothing else. Owned by Cleaner.

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/log/cleaned_file.h"
#include "engine/log/compaction.h"
#include "engine/log/retention.h"
#include "engine/log/segment_scanner.h"
#include "engine/partition/cleaner_config.h"
#include "engine/partition/services.h"

namespace weir::partition {

class Partition;

class Cleaning {
 public:
  enum class Outcome : uint8_t {
    cleaned,   // the log is clean further on than before
    nothing,   // too young, or the topic or the core is going away
    no_room,   // the disk is full: again later
    damaged,   // a segment does not check out; it is marked, and the pass ends before it next time
    failed     // the device: not again during this run
  };

  Cleaning(Services& services, const CleanerConfig& config);
  Cleaning(const Cleaning&) = delete;

  // `age_only`: clean only if the oldest dirty record turns out older than allowed. `done`
  // completes when the pass is over and nothing of it is under way.
  void start(Partition& partition, const log::RetentionTime& now, bool age_only, io::Op& done);
  // A pass under way ends early; `done` completes all the same.
  void stop();
  // A rest that was measured by another limit on bytes ends now; memory is of the next pass.
  void on_config_changed() { end_rest(); }
  bool busy() const { return stage_ != Stage::idle; }
  Outcome outcome() const { return outcome_; }

 private:
  enum class Stage : uint8_t {
    idle,
    resting,          // between two turns
    opening,          // a segment to read
    reading,
    closing,
    starting_file,
    writing,
    committing,
    ending_scan,      // on the way out: the segment is closed,
    abandoning        // and the file removed
  };
  enum class Phase : uint8_t { mapping, filtering };
  struct Input {
    log::Segment* segment;  // counts this pass as a user
    model::Offset next_offset;
  };
  // Inputs [first, last) become one segment.
  struct Run {
    size_t first;
    size_t last;
  };

  void on_step(io::Op& op);
  void on_timer() { go_on(); }
  void rest(uint64_t bytes);
  void end_rest();
  void go_on();
  bool must_end() const;
  void collect_inputs(const log::RetentionTime& now);
  void drop_inputs(size_t kept);
  void next_input();
  void on_opened();
  bool begin_mapping_input();
  void on_window();
  void map_window(std::span<const std::byte> bytes);
  void filter_window(std::span<const std::byte> bytes);
  void end_mapping();
  void plan_runs();
  void begin_run();
  void on_committed();
  void fail(int32_t result, bool reading);
  void end(Outcome outcome);
  void wind_up();
  void count();

  Services& services_;
  const CleanerConfig& config_;
  io::Op op_;
  io::Timer timer_;
  io::Op* done_ = nullptr;
  Stage stage_ = Stage::idle;
  Phase phase_ = Phase::mapping;
  Outcome outcome_ = Outcome::nothing;
  bool ending_ = false;
  bool stopped_ = false;

  Partition* partition_ = nullptr;  // counts this pass as a reader
  log::RetentionTime now_;
  bool age_only_ = false;
  std::optional<base::SipKey> secret_;
  log::Compaction compaction_;
  log::SegmentScanner scanner_;
  log::CleanedFile file_;
  std::vector<Input> inputs_;
  size_t input_ = 0;      // at hand
  bool mapped_all_ = false;
  std::vector<Run> runs_;
  size_t run_ = 0;
  model::Offset clean_end_;         // before this pass
  io::Instant turn_began_{};
  uint64_t commits_seen_ = 0;
};

}  // namespace weir::partition
