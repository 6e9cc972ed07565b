#include "engine/catalog/topic_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weir::catalog {
namespace {

constexpr std::array<std::string_view, 3> kRemovedSettings = {
    "message.downconversion.enable",
    "message.format.version",
    "message.timestamp.difference.max.ms",
};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "*", or partition:broker pairs separated by commas, or nothing.
bool is_replica_list(std::string_view text) {
  text = model::setting_detail::trim(text);
  if (text.empty() || text == "*") return true;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view pair = model::setting_detail::trim(text.substr(0, comma));
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos || !is_number(pair.substr(0, colon)) ||
        !is_number(pair.substr(colon + 1))) {
      return false;
    }
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_removed_topic_setting(std::string_view name) {
  return std::ranges::find(kRemovedSettings, name) != kRemovedSettings.end();
}

std::vector<model::SettingInfo> topic_settings() { return model::list_settings(TopicConfig{}); }

base::Status set_topic_setting(TopicConfig& config, std::string_view name, std::string_view value) {
  TRY(const bool found, model::set_setting(config, name, value));
  if (found || is_removed_topic_setting(name)) return {};
  return base::error(0, fmt::format("Unknown topic config name: {}", name));
}

base::Status check_topic_config(const TopicConfig& config) {
  if (config.min_compaction_lag_ms > config.max_compaction_lag_ms) {
    return base::error(
        0, fmt::format(
               "min.compaction.lag.ms ({}) must not be greater than max.compaction.lag.ms ({})",
               config.min_compaction_lag_ms, config.max_compaction_lag_ms));
  }
  if (!is_replica_list(config.follower_throttled_replicas) ||
      !is_replica_list(config.leader_throttled_replicas)) {
    return base::error(0, "Throttled replicas must be * or a list of partition:broker pairs");
  }
  if (config.remote_storage_enable) {
    return base::error(0, "remote.storage.enable: this broker has no tiered storage");
  }
  return {};
}

base::Result<TopicConfig> make_topic_config(const TopicConfig& defaults,
                                            const Overrides& overrides) {
  TopicConfig config = defaults;
  for (const auto& [name, value] : overrides) CHECK_OK(set_topic_setting(config, name, value));
  CHECK_OK(check_topic_config(config));
  return config;
}

}  // namespace weir::catalog
