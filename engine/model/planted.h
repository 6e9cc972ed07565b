#pragma once
// Planted bugs: switches that make the engine wrong on purpose, so that the simulator can show that
// it finds such bugs (RELIABILITY 3.7). They exist only in builds with WEIR_PLANTED_BUGS; elsewhere
// planted() is a constant false and nothing of them is in the program.

#include <cstdint>
#include <string_view>

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
  recycled_while_read,
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
    {"recycled_while_read", Bug::recycled_while_read},
};

#ifdef WEIR_PLANTED_BUGS
inline Bug planted_bug = Bug::none;  // set once, from the command line
inline bool planted(Bug bug) { return planted_bug == bug; }
#else
constexpr bool planted(Bug) { return false; }
#endif

}  // namespace weir::model
