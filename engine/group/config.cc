#include "engine/group/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/group/assignor.h"

namespace weir::group {

namespace {

constexpr std::array kAssignors = {kUniformAssignor, kRangeAssignor};

base::Status check_order(std::string_view low_name, int32_t low, std::string_view high_name,
                         int32_t high) {
  if (low <= high) return {};
  return base::error(0, fmt::format("{} ({}) must not be greater than {} ({})", low_name, low,
                                    high_name, high));
}

}  // namespace

std::vector<std::string_view> GroupConfig::assignors() const {
  std::vector<std::string_view> names;
  std::string_view rest = consumer_assignors;
  while (true) {
    const size_t comma = rest.find(',');
    names.push_back(model::setting_detail::trim(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

base::Status GroupConfig::check() const {
  CHECK_OK(check_order("group.min.session.timeout.ms", min_session_timeout_ms,
                       "group.max.session.timeout.ms", max_session_timeout_ms));
  CHECK_OK(check_order("group.consumer.min.session.timeout.ms", consumer_min_session_timeout_ms,
                       "group.consumer.session.timeout.ms", consumer_session_timeout_ms));
  CHECK_OK(check_order("group.consumer.session.timeout.ms", consumer_session_timeout_ms,
                       "group.consumer.max.session.timeout.ms", consumer_max_session_timeout_ms));
  CHECK_OK(check_order("group.consumer.min.heartbeat.interval.ms",
                       consumer_min_heartbeat_interval_ms, "group.consumer.heartbeat.interval.ms",
                       consumer_heartbeat_interval_ms));
  CHECK_OK(check_order("group.consumer.heartbeat.interval.ms", consumer_heartbeat_interval_ms,
                       "group.consumer.max.heartbeat.interval.ms",
                       consumer_max_heartbeat_interval_ms));
  if (consumer_heartbeat_interval_ms >= consumer_session_timeout_ms) {
    return base::error(0, fmt::format("group.consumer.heartbeat.interval.ms ({}) must be less than "
                                      "group.consumer.session.timeout.ms ({})",
                                      consumer_heartbeat_interval_ms,
                                      consumer_session_timeout_ms));
  }
  const auto names = assignors();
  for (auto name = names.begin(); name != names.end(); ++name) {
    const bool known = std::ranges::find(kAssignors, *name) != kAssignors.end();
    if (known && std::find(names.begin(), name, *name) == name) continue;
    return base::error(0, fmt::format("Invalid value '{}' for setting group.consumer.assignors: "
                                      "allowed are uniform and range, each once",
                                      consumer_assignors));
  }
  return {};
}

}  // namespace weir::group
