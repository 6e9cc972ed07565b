#pragma once
// Settings of the group coordinator. Partitions of __consumer_offsets are the catalog's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/group/limits.h"
#include "engine/model/setting.h"

namespace weir::group {

// Whether a group with members may change its protocol.
enum class MigrationPolicy : uint8_t { disabled };

struct GroupConfig {
  int32_t min_session_timeout_ms = 6'000;
  int32_t max_session_timeout_ms = 1'800'000;
  int32_t initial_rebalance_delay_ms = 3'000;
  int32_t max_size = kMembersPerGroupMax;
  int32_t offset_metadata_size_max = 4'096;
  int32_t offsets_retention_minutes = 10'080;
  int64_t offsets_retention_check_interval_ms = 600'000;

  // Consumer groups (KIP-848).
  int32_t consumer_assignment_interval_ms = 1'000;
  std::string consumer_assignors = "uniform,range";
  int32_t consumer_heartbeat_interval_ms = 5'000;
  int32_t consumer_max_heartbeat_interval_ms = 15'000;
  int32_t consumer_max_session_timeout_ms = 60'000;
  int32_t consumer_max_size = kMembersPerGroupMax;
  MigrationPolicy consumer_migration_policy = MigrationPolicy::disabled;
  int32_t consumer_min_heartbeat_interval_ms = 5'000;
  int32_t consumer_min_session_timeout_ms = 45'000;
  int32_t consumer_regex_refresh_interval_ms = 600'000;
  int32_t consumer_session_timeout_ms = 45'000;

  // The entries of consumer_assignors, in their order; views into it.
  [[nodiscard]] std::vector<std::string_view> assignors() const;
  // Whether settings go together, and what lists name exists.
  [[nodiscard]] base::Status check() const;

  static constexpr void describe(auto& setting, auto& c) {
    setting("group.consumer.assignment.interval.ms", c.consumer_assignment_interval_ms,
            {.min = 0,
             .max = kAssignmentIntervalMsMax,
             .unit = "ms",
             .doc = "Shortest time between two assignments of a consumer group."});
    setting("group.consumer.assignors", c.consumer_assignors,
            {.list = true,
             .doc = "Assignors that members of consumer groups may ask for, of uniform and range; "
                    "the first is for those that ask for none."});
    setting("group.consumer.heartbeat.interval.ms", c.consumer_heartbeat_interval_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "How often members of consumer groups are told to send heartbeats."});
    setting("group.consumer.max.heartbeat.interval.ms", c.consumer_max_heartbeat_interval_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Longest heartbeat interval of a consumer group."});
    setting("group.consumer.max.session.timeout.ms", c.consumer_max_session_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Longest session timeout of a consumer group."});
    setting("group.consumer.max.size", c.consumer_max_size,
            {.min = 1, .max = kMembersPerGroupMax, .doc = "Most members of one consumer group."});
    setting("group.consumer.migration.policy", c.consumer_migration_policy,
            {.choices = "disabled",
             .doc = "Whether a group with members may change its protocol: it may not."});
    setting("group.consumer.min.heartbeat.interval.ms", c.consumer_min_heartbeat_interval_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Shortest heartbeat interval of a consumer group."});
    setting("group.consumer.min.session.timeout.ms", c.consumer_min_session_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Shortest session timeout of a consumer group."});
    setting("group.consumer.regex.refresh.interval.ms", c.consumer_regex_refresh_interval_ms,
            {.min = 10'000,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "How often regular expressions of consumer groups are matched again, if no "
                    "topic changes."});
    setting("group.consumer.session.timeout.ms", c.consumer_session_timeout_ms,
            {.min = 1,
             .max = INT32_MAX,
             .unit = "ms",
             .doc = "Time after which a member of a consumer group that shows no life is put "
                    "out."});
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
