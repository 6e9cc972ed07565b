#include "engine/catalog/catalog.h"

#include "engine/catalog/config_ops.h"
#include "engine/catalog/topic_name.h"
#include "io/base/assert.h"
#include "io/base/logging.h"

namespace weir::catalog {

Catalog::Catalog(const Settings& settings, uint16_t core_count, const CatalogImage& image)
    : settings_(settings), placement_(core_count) {
  recompute_defaults();
  // Broker overrides first: the effective values of topics build on them.
  for (const Change& change : image.changes) {
    if (change.kind == ChangeKind::set_broker_config) set_broker_overrides(change);
  }
  for (const Change& change : image.changes) {
    if (change.kind == ChangeKind::create_topic) create(change);
    if (change.kind == ChangeKind::set_client_quotas) set_client_quotas(change);
    if (change.kind == ChangeKind::set_group_config) set_group_overrides(change);
  }
}

const Topic* Catalog::find(std::string_view name) const {
  const auto found = topics_.find(name);
  return found == topics_.end() ? nullptr : found->second.get();
}

const Topic* Catalog::find(const base::Uuid& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const Topic* Catalog::find(model::TopicSerial serial) const {
  const auto found = by_serial_.find(serial);
  return found == by_serial_.end() ? nullptr : found->second;
}

const Topic* Catalog::find_collision(std::string_view name) const {
  const auto found = by_collision_key_.find(collision_key(name));
  return found == by_collision_key_.end() || found->second->name == name ? nullptr : found->second;
}

CatalogImage Catalog::image() const {
  CatalogImage image;
  for (const BrokerScope scope : {BrokerScope::every_broker, BrokerScope::this_broker}) {
    if (broker_overrides(scope).empty()) continue;
    image.changes.push_back({.kind = ChangeKind::set_broker_config,
                             .scope = scope,
                             .overrides = broker_overrides(scope)});
  }
  for (const auto& [entity, values] : client_quotas_) {
    image.changes.push_back({.kind = ChangeKind::set_client_quotas,
                             .quota_entity = entity,
                             .quotas = values});
  }
  for (const auto& [group_id, overrides] : group_configs_) {
    image.changes.push_back(
        {.kind = ChangeKind::set_group_config, .name = group_id, .overrides = overrides});
  }
  for (const auto& [serial, topic] : by_serial_) {
    image.changes.push_back({.kind = ChangeKind::create_topic,
                             .serial = serial,
                             .id = topic->id,
                             .name = topic->name,
                             .partition_count = topic->partition_count,
                             .internal = topic->internal,
                             .overrides = topic->overrides});
  }
  return image;
}

const Topic& Catalog::create(const Change& change) {
  auto created =
      std::make_unique<Topic>(Topic{.name = change.name,
                                    .id = change.id,
                                    .serial = change.serial,
                                    .partition_count = change.partition_count,
                                    .internal = change.internal,
                                    .first_core = placement_.place(change.partition_count),
                                    .config = {},
                                    .overrides = change.overrides});
  Topic& topic = *created;
  topic.config = effective_config(topic);
  partition_count_ += topic.partition_count;
  const bool fresh = topics_.emplace(topic.name, std::move(created)).second &&
                     by_id_.emplace(topic.id, &topic).second &&
                     by_serial_.emplace(topic.serial, &topic).second;
  ASSERT(fresh, "topic {} serial {} exists", change.name, change.serial.value());
  by_collision_key_.emplace(collision_key(topic.name), &topic);
  return topic;
}

int32_t Catalog::set_partition_count(const Change& change) {
  Topic& topic = topic_of(change.serial);
  const int32_t old_count = topic.partition_count;
  ASSERT(change.partition_count > old_count, "{} after {}", change.partition_count, old_count);
  topic.partition_count = change.partition_count;
  partition_count_ += change.partition_count - old_count;
  placement_.place(change.partition_count - old_count);  // the next topic starts where these end
  return old_count;
}

std::unique_ptr<Topic> Catalog::remove(model::TopicSerial serial) {
  Topic& topic = topic_of(serial);
  partition_count_ -= topic.partition_count;
  by_id_.erase(topic.id);
  by_serial_.erase(serial);
  by_collision_key_.erase(collision_key(topic.name));
  auto node = topics_.extract(std::string_view(topic.name));
  return std::move(node.mapped());
}

const Topic& Catalog::set_topic_overrides(const Change& change) {
  Topic& topic = topic_of(change.serial);
  topic.overrides = change.overrides;
  topic.config = effective_config(topic);
  return topic;
}

std::vector<model::TopicSerial> Catalog::set_broker_overrides(const Change& change) {
  (change.scope == BrokerScope::this_broker ? broker_overrides_ : cluster_overrides_) =
      change.overrides;
  recompute_defaults();
  std::vector<model::TopicSerial> changed;
  for (const auto& [serial, topic] : by_serial_) {
    TopicConfig config = effective_config(*topic);
    if (config == topic->config) continue;
    topic->config = std::move(config);
    changed.push_back(serial);
  }
  return changed;
}

void Catalog::set_client_quotas(const Change& change) {
  if (change.quotas.empty()) {
    client_quotas_.erase(change.quota_entity);
  } else {
    client_quotas_.insert_or_assign(change.quota_entity, change.quotas);
  }
}

void Catalog::set_group_overrides(const Change& change) {
  if (change.overrides.empty()) {
    group_configs_.erase(change.name);
  } else {
    group_configs_.insert_or_assign(change.name, change.overrides);
  }
}

const Overrides& Catalog::group_overrides(std::string_view group_id) const {
  static const Overrides none;
  const auto found = group_configs_.find(group_id);
  return found == group_configs_.end() ? none : found->second;
}

Topic& Catalog::topic_of(model::TopicSerial serial) {
  const auto found = by_serial_.find(serial);
  ASSERT(found != by_serial_.end(), "no topic with serial {}", serial.value());
  return *found->second;
}

// Overrides were checked when they were set. One that does not parse now comes from another version
// of the engine: the topic then has the default, and the log says so, rather than not starting at
// all.
TopicConfig Catalog::effective_config(const Topic& topic) const {
  TopicConfig config = topic_defaults_;
  for (const auto& [name, value] : topic.overrides) {
    if (const auto status = set_topic_setting(config, name, value); !status) {
      base::log_warning("catalog", "topic={} config ignored: {}", topic.name,
                        status.error().detail);
    }
  }
  return config;
}

void Catalog::recompute_defaults() {
  topic_defaults_ = settings_.topic_defaults;
  apply_broker_overrides(topic_defaults_, cluster_overrides_);
  apply_broker_overrides(topic_defaults_, broker_overrides_);
}

void Catalog::apply_overrides(partition::CleanerConfig& config) const {
  apply_broker_overrides(config, cluster_overrides_);
  apply_broker_overrides(config, broker_overrides_);
}

}  // namespace weir::catalog
