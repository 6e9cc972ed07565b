#pragma once
// What the partitions of one core count. Plain members of the owning core; merged when scraped.

#include <cstdint>

#include "engine/model/peak.h"

namespace weir::partition {

struct Metrics {
  uint64_t appended_batches = 0;
  uint64_t appended_records = 0;
  uint64_t appended_bytes = 0;
  uint64_t duplicate_batches = 0;
  uint64_t read_bytes = 0;
  uint64_t cold_reads = 0;
  uint64_t read_waits = 0;
  uint64_t reads_turned_away = 0;
  uint64_t flushed_bytes = 0;
  uint64_t segments_sealed = 0;
  uint64_t append_errors = 0;
  uint64_t disk_full = 0;
  uint64_t primed_bytes = 0;
  uint64_t segments_reused = 0;
  uint64_t segment_pool_bytes = 0;
  uint64_t segments_dropped = 0;
  uint64_t dropped_bytes = 0;
  uint64_t start_moves = 0;
  uint64_t unread_at_risk = 0;
  uint64_t unread_dropped = 0;
  uint64_t cleaner_passes = 0;
  uint64_t cleaner_failed = 0;
  uint64_t cleaner_bytes_read = 0;
  uint64_t cleaner_bytes_written = 0;
  uint64_t cleaner_records_removed = 0;
  uint64_t cleaner_dirty_bytes = 0;
  uint64_t cleaner_overdue = 0;
  uint64_t cleaner_stuck = 0;
  uint64_t cleaner_uncleanable_bytes = 0;
  model::Peak cleaner_dirty_percent;
  model::Peak cleaner_delay_s;
  model::Peak cleaner_since_run_ms;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_appended_batches_total", "record batches made durable", m.appended_batches);
    metric("weir_appended_records_total", "records made durable", m.appended_records);
    metric("weir_appended_bytes_total", "bytes of record batches made durable", m.appended_bytes);
    metric("weir_duplicate_batches_total", "retries answered with the original offset",
           m.duplicate_batches);
    metric("weir_read_bytes_total", "bytes of record batches handed to fetches", m.read_bytes);
    metric("weir_cold_reads_total", "reads of a partition that went to the disk", m.cold_reads);
    metric("weir_read_memory_waits_total", "reads that waited for memory that other reads hold",
           m.read_waits);
    metric("weir_reads_turned_away_total", "reads that were answered without records after that",
           m.reads_turned_away);
    metric("weir_flushed_bytes_total", "bytes moved from journal to segments", m.flushed_bytes);
    metric("weir_primed_bytes_total", "zeros written ahead of the end of segments", m.primed_bytes);
    metric("weir_segments_sealed_total", "segments completed", m.segments_sealed);
    metric("weir_segments_reused_total", "segments that were made of the file of a dead one",
           m.segments_reused);
    metric("weir_segment_pool_bytes", "size of dead segments' files that wait to be reused",
           m.segment_pool_bytes);
    metric("weir_segments_dropped_total", "segments that fell below the log start",
           m.segments_dropped);
    metric("weir_dropped_bytes_total", "bytes of those segments", m.dropped_bytes);
    metric("weir_log_start_moves_total", "times that a log start moved", m.start_moves);
    metric("weir_retention_unread_records",
           "records that retention deletes next although a group has not read them",
           m.unread_at_risk);
    metric("weir_retention_unread_dropped_records_total",
           "records deleted by retention before a group had read them", m.unread_dropped);
    metric("weir_disk_full", "cores that refuse appends because the disk has no room",
           m.disk_full);
    metric("weir_cleaner_passes_total", "passes over compacted logs that cleaned something",
           m.cleaner_passes);
    metric("weir_cleaner_failed_passes_total", "passes that were given up", m.cleaner_failed);
    metric("weir_cleaner_read_bytes_total", "bytes read by compaction, both times",
           m.cleaner_bytes_read);
    metric("weir_cleaner_written_bytes_total", "bytes written by compaction",
           m.cleaner_bytes_written);
    metric("weir_cleaner_removed_records_total", "records and markers taken out of logs",
           m.cleaner_records_removed);
    metric("weir_cleaner_dirty_bytes", "bytes that could be compacted, when last looked",
           m.cleaner_dirty_bytes);
    metric("weir_cleaner_overdue_partitions",
           "logs with records uncompacted for longer than allowed, when last looked",
           m.cleaner_overdue);
    metric("weir_cleaner_stuck_partitions",
           "logs that are not compacted any more because of an error or damage", m.cleaner_stuck);
    metric("weir_cleaner_uncleanable_bytes",
           "bytes that are not compacted because of that, when last looked",
           m.cleaner_uncleanable_bytes);
    metric("weir_cleaner_max_dirty_percent",
           "share of dirty bytes in the dirtiest log, when last looked", m.cleaner_dirty_percent);
    metric("weir_cleaner_max_compaction_delay_seconds",
           "time by which records are uncompacted for longer than allowed, when last looked",
           m.cleaner_delay_s);
    metric("weir_cleaner_since_last_run_ms",
           "time since compaction last looked for a log to compact", m.cleaner_since_run_ms);
    metric("weir_append_errors_total", "batches refused by a partition", m.append_errors);
  }
};

}  // namespace weir::partition
