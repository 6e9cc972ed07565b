#pragma once
// Partition: the state machine of one partition on its home core: appends in order, what is
// durable, who waits.
//
//   append():     producer check, offset, copy into the append buffer, marked dirty at the journal
//   contribute(): the journal's next commit takes what waits: large runs go straight to the segment
//                 (extent), the rest rides in the record
//   committed():  the high watermark moves, producers are answered, waiting fetches are told
//
// Invariant: log start <= last stable offset <= high watermark <= log end; only bytes below the
// high watermark are ever read. An append waits in a queue while its segment file is made or grown;
// nothing is reordered.
// Lifetime: owned by PartitionTable; may be destroyed when quiet() (nothing in flight, nobody
// reading).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/journal/journal.h"
#include "engine/log/compaction.h"
#include "engine/log/log.h"
#include "engine/log/retention.h"
#include "engine/partition/config.h"
#include "engine/partition/fetch_waiters.h"
#include "engine/partition/log_start.h"
#include "engine/partition/messages.h"
#include "engine/partition/producer_state.h"
#include "engine/partition/segment_keeper.h"
#include "engine/partition/services.h"
#include "io/base/fifo.h"

namespace weir::partition {

// The part of a topic's settings that its partitions act on.
struct PartitionSettings {
  static constexpr int64_t kForever = INT64_MAX;

  uint64_t segment_bytes = uint64_t{1} << 30;
  int64_t segment_ms = kForever;
  int64_t segment_jitter_ms = 0;
  log::RetentionRules retention{};   // no limits where the policy is not to delete
  int64_t file_delete_delay_ms = 0;
  bool uses_reserve = false;         // of disk space, when there is no other
  bool compact = false;
  double min_cleanable_ratio = 0.5;
  int64_t min_compaction_lag_ms = 0;
  int64_t max_compaction_lag_ms = kForever;
  int64_t delete_retention_ms = 86'400'000;
  bool operator==(const PartitionSettings&) const = default;
};

// One segment as recovery found it; plain memory, owned by no core yet.
struct RecoveredSegment {
  log::SegmentName name;
  uint64_t end = 0;
  uint64_t allocated = 0;
  bool sealed = false;
  bool ledger_loaded = false;
  int64_t unwritten_ms = 0;  // how long before its recovery the file was last written
  int64_t first_timestamp = model::kNoTimestamp;  // of the active one: largest of its first batch
  log::Ledger ledger;
};

// What recovery found of a partition; the last segment is the active one.
struct Recovered {
  std::vector<RecoveredSegment> segments;  // oldest first
  model::Offset log_start;
  model::Offset log_end;
  uint64_t written = 0;          // of the active segment: durable in its file
  uint64_t tail_begin = 0;       // a block boundary at or below `written`
  std::vector<std::byte> tail;   // bytes of the active segment from tail_begin to its end
  ProducerState producers;
  std::vector<log::EpochStart> epochs;
  std::vector<model::Offset> start_markers;  // all that are on disk
  std::vector<DeadFile> dead;                // below the log start, still on disk
  uint64_t last_pass = 0;                    // of compaction, in any name of a file
};

// What compaction could do in a partition (LogCleanerManager.grabFilthiestCompactedLog).
struct Cleanable {
  model::Offset end;         // behind the last segment that may be cleaned
  uint64_t dirty_bytes = 0;  // of these segments, where nothing was cleaned yet
  uint64_t total_bytes = 0;
  uint64_t unreachable_bytes = 0;  // of whole segments from a damaged one on
  int64_t overdue_ms = 0;    // so much older than max.compaction.lag.ms is the oldest dirty record
  bool age_unknown = false;  // whether it is, only the ledger of its segment can say

  double ratio() const {
    return total_bytes == 0 ? 0
                            : static_cast<double>(dirty_bytes) / static_cast<double>(total_bytes);
  }
};

class Partition final : public journal::Source,
                        public SegmentKeeper::Owner,
                        public LogStart::Owner,
                        public base::TaggedHook<2> {
 public:
  Partition(Services& services, const Config& config, model::PartitionKey key,
            const std::string& directory, const PartitionSettings& settings);
  ~Partition() override;

  model::PartitionKey key() const { return key_; }
  void set_settings(const PartitionSettings& settings);

  // Before serving: takes what recovery found; the last partial block is carried into the new
  // journal.
  void restore(Recovered recovered);

  void append(AppendRequest& request);
  // Answered when the new log start is durable.
  void delete_records(DeleteRecordsRequest& request);
  // What retention would delete by these rules.
  log::Expired find_expired(const log::RetentionRules& rules, const log::RetentionTime& now) const;
  // Retention deletes what lies below `start`, at most as much as it found. Also tries again what
  // was in the way of earlier deletions.
  void drop_until(model::Offset start);
  // Forgets producers that appended nothing for producer.id.expiration.ms.
  void expire_producers(io::Instant now);
  const PartitionSettings& settings() const { return settings_; }

  // Compaction. What could be cleaned now: sealed segments of decided transactions, up to the first
  // damaged one.
  Cleanable find_cleanable(const log::RetentionTime& now) const;
  // Whether a pass up to `end` may begin: the producers below it are in a snapshot, and nobody
  // reads what an earlier pass replaced. Asks for what is missing.
  bool ready_to_clean(model::Offset end);
  // What a pass has to know of producers and aborted transactions.
  log::CompactionInput compaction_input(const log::RetentionTime& now) const;
  uint64_t next_pass() { return ++last_pass_; }
  // A pass wrote this segment, durably. Aborted transactions with these markers have no records
  // any more. False: the log starts behind it by now, and it goes.
  bool replace_segments(std::unique_ptr<log::Segment> cleaned,
                        std::span<const model::Offset> void_markers);

  log::Log& log() { return log_; }
  model::Offset log_start_offset() const { return log_.start_offset(); }
  model::Offset high_watermark() const { return high_watermark_; }
  // First offset of the oldest transaction that is open, or whose marker is not durable, else the
  // high watermark; never below the log start.
  model::Offset last_stable_offset() const;
  int32_t leader_epoch() const { return services_.leader_epoch; }
  FetchWaiters& waiters() { return waiters_; }
  ProducerState& producers() { return producers_; }
  const ProducerState& producers() const { return producers_; }
  // About how many readable bytes lie between two offsets; at least 1 when from < to.
  uint64_t readable_bytes(model::Offset from, model::Offset to);

  // A read uses the log's memory or files; it must not go away.
  void begin_read() { ++readers_; }
  void end_read();

  // The topic is deleted: everything that waits is answered, nothing new is taken. The listener is
  // told once no operation of this partition is in flight; it may then destroy it.
  class QuietListener {
   public:
    virtual ~QuietListener() = default;
    virtual void on_partition_quiet(Partition& partition) = 0;
  };
  void remove(QuietListener& listener);
  bool removed() const { return removed_; }
  bool quiet() const;

  // Flushes what can be flushed before a clean stop.
  void prepare_stop();
  void drop_cache();  // gives back buffers of bytes that are in segments

  // journal::Source
  bool contribute(journal::Commit& commit) override;
  void committed(const journal::Part& part) override;
  void commit_failed() override;
  void make_room() override;

  // SegmentKeeper::Owner
  void on_space(int error) override;
  void on_flushed() override;
  void on_sealed() override;
  void on_keeper_failed(int error) override;
  void on_keeper_idle() override;
  model::Offset committed_offset() const override { return high_watermark_; }

  // LogStart::Owner
  void on_start_moved() override;
  void on_start_failed(int error) override { on_keeper_failed(error); }
  bool producers_kept(model::Offset offset) override { return keeper_.snapshot_reaches(offset); }

 private:
  struct Waiting {
    AppendRequest* request;
    model::Offset next_offset;  // answered once this is the high watermark or below it
  };

  bool try_append(AppendRequest& request);
  void append_queued();
  void make_space();
  void roll_if_old(const log::BatchView& batch);
  void begin_segment(log::Segment& segment, const log::BatchView& batch);
  int64_t roll_age_ms() const;
  void release_journal();
  void place(AppendRequest& request, const log::BatchView& batch);
  void answer_duplicate(AppendRequest& request, const ProducerBatch& original);
  void answer_when_durable(AppendRequest& request, model::Offset next_offset);
  void tell_waiters(uint64_t newly, model::Offset high_before, model::Offset stable_before);
  void answer(AppendRequest& request, model::ErrorCode error);
  void answer_waiting();
  void fail_queued(model::ErrorCode error);
  bool contribute_segment(journal::Commit& commit, log::Segment& segment);
  bool contribute_carry(journal::Commit& commit);
  void after_commit(log::Segment& segment);
  void want_carry();
  void touch_cache();
  void tell_if_quiet();

  Services& services_;
  const Config& config_;
  model::PartitionKey key_;
  PartitionSettings settings_;
  log::Log log_;
  ProducerState producers_;
  SegmentKeeper keeper_;
  LogStart start_;
  FetchWaiters waiters_;

  model::Offset high_watermark_{0};
  base::Fifo<AppendRequest*> queue_;    // not placed yet: no room in the file
  base::Fifo<Waiting> waiting_;         // placed, not durable; ascending next_offset
  std::vector<Waiting> duplicates_;     // retries of batches that are not durable yet
  std::vector<io::Slice> pieces_;       // scratch of contribute
  uint32_t parts_in_flight_ = 0;
  uint32_t readers_ = 0;
  uint64_t roll_random_ = 0;            // of the active segment: its share of the jitter
  io::Instant no_roll_before_{};        // by age: there was no room for another file
  uint64_t last_pass_ = 0;              // of compaction
  bool making_room_ = false;            // flushing so that old journal records can go
  bool carry_wanted_ = false;
  bool removed_ = false;
  QuietListener* quiet_listener_ = nullptr;
};

}  // namespace weir::partition
