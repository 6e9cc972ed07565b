#pragma once
// What the partitions of one core count. Plain members of the owning core; merged when scraped.

#include <cstdint>

namespace weir::partition {

struct Metrics {
  uint64_t appended_batches = 0;
  uint64_t appended_records = 0;
  uint64_t appended_bytes = 0;
  uint64_t duplicate_batches = 0;
  uint64_t read_bytes = 0;
  uint64_t cold_reads = 0;
  uint64_t flushed_bytes = 0;
  uint64_t segments_sealed = 0;
  uint64_t append_errors = 0;
  uint64_t disk_full = 0;
  uint64_t primed_bytes = 0;
  uint64_t segments_dropped = 0;
  uint64_t dropped_bytes = 0;
  uint64_t start_moves = 0;
  uint64_t unread_at_risk = 0;
  uint64_t unread_dropped = 0;

  static constexpr void describe(auto& metric, auto& m) {
    metric("weir_appended_batches_total", "record batches made durable", m.appended_batches);
    metric("weir_appended_records_total", "records made durable", m.appended_records);
    metric("weir_appended_bytes_total", "bytes of record batches made durable", m.appended_bytes);
    metric("weir_duplicate_batches_total", "retries answered with the original offset",
           m.duplicate_batches);
    metric("weir_read_bytes_total", "bytes of record batches handed to fetches", m.read_bytes);
    metric("weir_cold_reads_total", "reads of a partition that went to the disk", m.cold_reads);
    metric("weir_flushed_bytes_total", "bytes moved from journal to segments", m.flushed_bytes);
    metric("weir_primed_bytes_total", "zeros written ahead of the end of segments", m.primed_bytes);
    metric("weir_segments_sealed_total", "segments completed", m.segments_sealed);
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
    metric("weir_append_errors_total", "batches refused by a partition", m.append_errors);
  }
};

}  // namespace weir::partition
