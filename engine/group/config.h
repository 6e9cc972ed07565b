#pragma once
// Settings of the group coordinator. Partitions of __consumer_offsets are the catalog's.

#include <cstdint>

#include "engine/group/limits.h"
#include "engine/model/setting.h"

namespace weir::group {

struct GroupConfig {
  int32_t min_session_timeout_ms = 6'000;
  int32_t max_session_timeout_ms = 1'800'000;
  int32_t initial_rebalance_delay_ms = 3'000;
  int32_t max_size = kMembersPerGroupMax;
  int32_t offset_metadata_size_max = 4'096;
  int32_t offsets_retention_minutes = 10'080;
  int64_t offsets_retention_check_interval_ms = 600'000;

  static constexpr void describe(auto& setting, auto& c) {
    setting("group.initial.rebalance.delay.ms", c.initial_rebalance_delay_ms,
            {.min = 0,
             .max = 600'000,
             .unit = "ms",
             .doc = "How long the first members of an empty group wait for others."});
    setting("group.max.session.timeout.ms", c.max_session_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Longest session timeout of a member."});
    setting("group.max.size", c.max_size,
            {.min = 1, .max = kMembersPerGroupMax, .doc = "Most members of one group."});
    setting("group.min.session.timeout.ms", c.min_session_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Shortest session timeout of a member."});
    setting("offset.metadata.max.bytes", c.offset_metadata_size_max,
            {.min = 0,
             .max = 8'191,
             .doc = "Most characters (UTF-16 code units) of the text kept with an offset."});
    setting("offsets.retention.check.interval.ms", c.offsets_retention_check_interval_ms,
            {.min = 1,
             .max = INT64_MAX / 2'000'000,
             .unit = "ms",
             .doc = "How often committed offsets are looked through for expired ones."});
    setting("offsets.retention.minutes", c.offsets_retention_minutes,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "minutes",
             .doc = "Age at which offsets that nobody uses are forgotten."});
  }
};

static_assert(model::defaults_in_range<GroupConfig>());

}  // namespace weir::group
