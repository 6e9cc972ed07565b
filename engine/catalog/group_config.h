#pragma once
// Settings of single groups: which there are, and what a client may set (KIP-848, GroupConfig). The
// values that hold for groups that set nothing are settings of the broker.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/catalog/topic_config.h"

namespace weir::catalog {

inline constexpr std::string_view kGroupSessionTimeout = "consumer.session.timeout.ms";
inline constexpr std::string_view kGroupHeartbeatInterval = "consumer.heartbeat.interval.ms";
inline constexpr std::string_view kGroupAssignmentInterval = "consumer.assignment.interval.ms";

// One number a group may set.
struct GroupSetting {
  std::string_view name;
  std::string_view synonym;  // of the broker
  int32_t value = 0;         // of the broker
  int32_t min = 0;
  int32_t max = 0;
  std::string_view min_name{};  // of the broker's setting that says so; empty: a constant
  std::string_view max_name{};
};

// What groups have set, by group id.
using GroupConfigs = std::map<std::string, Overrides, std::less<>>;

// All ops or none: on success `overrides` is the new set, and its values are valid together.
Verdict alter_group_overrides(std::span<const GroupSetting> settings,
                              std::span<const ConfigOp> ops, Overrides& overrides);

// What holds for a group with these overrides. They were checked when they were set; the broker's
// bounds may have changed since, and they win.
int32_t group_setting(std::span<const GroupSetting> settings, const Overrides& overrides,
                      std::string_view name);

}  // namespace weir::catalog
