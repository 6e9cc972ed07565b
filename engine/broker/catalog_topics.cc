#include "engine/broker/catalog_topics.h"

namespace weir::broker {

std::vector<catalog::GroupSetting> group_settings_of(const group::GroupConfig& config) {
  return {{.name = catalog::kGroupAssignmentInterval,
           .synonym = "group.consumer.assignment.interval.ms",
           .value = config.consumer_assignment_interval_ms,
           .min = 0,
           .max = group::kAssignmentIntervalMsMax},
          {.name = catalog::kGroupHeartbeatInterval,
           .synonym = "group.consumer.heartbeat.interval.ms",
           .value = config.consumer_heartbeat_interval_ms,
           .min = config.consumer_min_heartbeat_interval_ms,
           .max = config.consumer_max_heartbeat_interval_ms,
           .min_name = "group.consumer.min.heartbeat.interval.ms",
           .max_name = "group.consumer.max.heartbeat.interval.ms"},
          {.name = catalog::kGroupSessionTimeout,
           .synonym = "group.consumer.session.timeout.ms",
           .value = config.consumer_session_timeout_ms,
           .min = config.consumer_min_session_timeout_ms,
           .max = config.consumer_max_session_timeout_ms,
           .min_name = "group.consumer.min.session.timeout.ms",
           .max_name = "group.consumer.max.session.timeout.ms"}};
}

std::optional<group::TopicView> CatalogTopics::view(const catalog::Topic* topic) {
  if (topic == nullptr) return std::nullopt;
  return group::TopicView{topic->name, topic->id, topic->partition_count};
}

std::vector<std::string_view> CatalogTopics::names() const {
  std::vector<std::string_view> names;
  names.reserve(catalog_.topic_count());
  for (const catalog::Topic& topic : catalog_.topics()) names.emplace_back(topic.name);
  return names;
}

group::ConsumerGroupSettings CatalogTopics::settings_of(std::string_view group_id) const {
  const auto& settings = catalog_.settings().group_settings;
  const catalog::Overrides& overrides = catalog_.group_overrides(group_id);
  const auto value = [&](std::string_view name) {
    return catalog::group_setting(settings, overrides, name);
  };
  return {.session_timeout_ms = value(catalog::kGroupSessionTimeout),
          .heartbeat_interval_ms = value(catalog::kGroupHeartbeatInterval),
          .assignment_interval_ms = value(catalog::kGroupAssignmentInterval)};
}

}  // namespace weir::broker
