#pragma once
// Planted bugs: switches that make the engine wrong on purpose, so that the simulator can show that
// it finds such bugs (RELIABILITY 3.7). They exist only in builds with WEIR_PLANTED_BUGS; elsewhere
// planted() is a constant false and nothing of them is in the program.

#include <cstdint>
#include <string_view>

#include "io/base/planted.h"

namespace weir::model {

enum class Bug : uint8_t {
  none,
  ack_before_flush,
  high_watermark_before_flush,
  header_only_checksum,
  cut_at_first_bad_regardless,
  cut_kept_one_too_many,
  ignored_write_result,
  dedup_window_not_restored,
  missing_directory_flush,
  start_moved_before_durable,
  open_transactions_visible,
  aborted_index_not_restored,
  transaction_end_not_resumed,
  transactional_offsets_at_once,
  zeros_over_appends,
  compaction_drops_newest,
  tombstone_before_horizon,
  cleaned_segment_before_directory_sync,
  flush_before_write_completed,
  flush_on_wrong_file,
  retry_of_failed_flush,
  ignored_short_write,
  buffer_reused_in_flight,
  snapshot_newer_than_log,
  offset_commit_acked_early,
  marker_written_twice,
  stable_offset_one_too_high,
  aborted_index_dropped_at_roll,
  time_index_assumes_rising_times,
  index_off_by_one_at_segment_edge,
  no_room_leaves_half_file,
  producer_epoch_not_durable,
  group_epoch_not_durable,
  recycled_while_read,
  retention_trusts_wall_clock,
};

struct NamedBug {
  std::string_view name;
  Bug bug;
};

inline constexpr NamedBug kBugs[] = {
    {"ack_before_flush", Bug::ack_before_flush},
    {"high_watermark_before_flush", Bug::high_watermark_before_flush},
    {"header_only_checksum", Bug::header_only_checksum},
    {"cut_at_first_bad_regardless", Bug::cut_at_first_bad_regardless},
    {"cut_kept_one_too_many", Bug::cut_kept_one_too_many},
    {"ignored_write_result", Bug::ignored_write_result},
    {"dedup_window_not_restored", Bug::dedup_window_not_restored},
    {"missing_directory_flush", Bug::missing_directory_flush},
    {"start_moved_before_durable", Bug::start_moved_before_durable},
    {"open_transactions_visible", Bug::open_transactions_visible},
    {"aborted_index_not_restored", Bug::aborted_index_not_restored},
    {"transaction_end_not_resumed", Bug::transaction_end_not_resumed},
    {"transactional_offsets_at_once", Bug::transactional_offsets_at_once},
    {"zeros_over_appends", Bug::zeros_over_appends},
    {"compaction_drops_newest", Bug::compaction_drops_newest},
    {"tombstone_before_horizon", Bug::tombstone_before_horizon},
    {"cleaned_segment_before_directory_sync", Bug::cleaned_segment_before_directory_sync},
    {"flush_before_write_completed", Bug::flush_before_write_completed},
    {"flush_on_wrong_file", Bug::flush_on_wrong_file},
    {"retry_of_failed_flush", Bug::retry_of_failed_flush},
    {"ignored_short_write", Bug::ignored_short_write},
    {"buffer_reused_in_flight", Bug::buffer_reused_in_flight},
    {"snapshot_newer_than_log", Bug::snapshot_newer_than_log},
    {"offset_commit_acked_early", Bug::offset_commit_acked_early},
    {"marker_written_twice", Bug::marker_written_twice},
    {"stable_offset_one_too_high", Bug::stable_offset_one_too_high},
    {"aborted_index_dropped_at_roll", Bug::aborted_index_dropped_at_roll},
    {"time_index_assumes_rising_times", Bug::time_index_assumes_rising_times},
    {"index_off_by_one_at_segment_edge", Bug::index_off_by_one_at_segment_edge},
    {"no_room_leaves_half_file", Bug::no_room_leaves_half_file},
    {"producer_epoch_not_durable", Bug::producer_epoch_not_durable},
    {"group_epoch_not_durable", Bug::group_epoch_not_durable},
    {"recycled_while_read", Bug::recycled_while_read},
    {"retention_trusts_wall_clock", Bug::retention_trusts_wall_clock},
};

#ifdef WEIR_PLANTED_BUGS
inline Bug planted_bug = Bug::none;
inline bool planted(Bug bug) { return planted_bug == bug; }
// Once, from the command line. io knows nothing of this list and has a switch of its own.
inline void plant(Bug bug) {
  planted_bug = bug;
  base::planted_short_write = bug == Bug::ignored_short_write;
}
#else
constexpr bool planted(Bug) { return false; }
#endif

}  // namespace weir::model
