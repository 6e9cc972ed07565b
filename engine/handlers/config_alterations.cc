#include "engine/handlers/config_alterations.h"

#include <fmt/format.h>

#include <map>

#include "engine/catalog/catalog.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/config_resource.h"
#include "io/base/assert.h"

namespace weir::handlers {

using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;

namespace {

// Of a resource that was checked.
catalog::ChangeRequest::Kind change_kind_of(int8_t type) {
  using Kind = catalog::ChangeRequest::Kind;
  switch (static_cast<ConfigResourceType>(type)) {
    case ConfigResourceType::topic: return Kind::alter_topic_config;
    case ConfigResourceType::group: return Kind::alter_group_config;
    case ConfigResourceType::broker: return Kind::alter_broker_config;
    case ConfigResourceType::broker_logger:
    case ConfigResourceType::client_metrics: break;
  }
  UNREACHABLE("resource type {}", type);
}

}  // namespace

ConfigAlterations::Resource& ConfigAlterations::add(int8_t type, std::string_view name) {
  return resources_.emplace_back(Resource{.type = type, .name = name});
}

void ConfigAlterations::start(bool validate_only) {
  refuse_repeated();
  for (Resource& resource : resources_) {
    if (resource.verdict.ok()) resource.verdict = check(resource);
    if (!resource.verdict.ok() || validate_only) continue;
    catalog::ChangeRequest& change = changes_.add();
    change.kind = change_kind_of(resource.type);
    if (change.kind != catalog::ChangeRequest::Kind::alter_broker_config) {
      change.name = resource.name;
    }
    change.ops = resource.ops;
    change.replace = mode_ == Mode::replace;
    change.scope = resource.scope;
    resource.change = &change;
  }
  if (changes_.empty()) return on_done_(owner_);
  changes_.send(context_.io);
}

void ConfigAlterations::on_changed() {
  for (Resource& resource : resources_) {
    if (resource.change == nullptr) continue;
    resource.verdict = {resource.change->error, resource.change->error_message};
  }
  on_done_(owner_);
}

void ConfigAlterations::refuse_repeated() {
  std::map<std::pair<int8_t, std::string_view>, int> counts;
  for (const Resource& resource : resources_) ++counts[{resource.type, resource.name}];
  for (Resource& resource : resources_) {
    if (counts[{resource.type, resource.name}] > 1) {
      resource.verdict =
          refuse(ErrorCode::invalid_request, "Each resource must appear at most once.");
    }
  }
}

Verdict ConfigAlterations::check(Resource& resource) const {
  const std::string_view name = resource.name;
  switch (static_cast<ConfigResourceType>(resource.type)) {
    case ConfigResourceType::topic: return check_topic(resource);
    case ConfigResourceType::broker: return check_broker(resource);
    case ConfigResourceType::broker_logger:
      if (mode_ == Mode::replace || !names_node(name, context_.node.node_id)) break;
      return refuse(ErrorCode::invalid_config, "This broker has no loggers to set.");
    case ConfigResourceType::group: return check_group(resource);
    case ConfigResourceType::client_metrics: break;
  }
  return refuse(
      ErrorCode::invalid_request,
      fmt::format("Nothing to configure for resource type {} and this name", resource.type));
}

Verdict ConfigAlterations::check_topic(const Resource& resource) const {
  const std::string_view name = resource.name;
  if (name.empty()) return refuse(ErrorCode::invalid_request, "The topic has no name.");
  if (const auto fault = catalog::topic_name_fault(name)) {
    return refuse(ErrorCode::invalid_topic_exception, *fault);
  }
  const catalog::Topic* topic = context_.catalog.find(name);
  if (topic == nullptr) {
    return refuse(ErrorCode::unknown_topic_or_partition,
                  fmt::format("The topic '{}' does not exist.", name));
  }
  catalog::Overrides overrides = base_of(topic->overrides);
  return catalog::alter_topic_overrides(context_.catalog.topic_defaults(), resource.ops,
                                        overrides);
}

Verdict ConfigAlterations::check_broker(Resource& resource) const {
  const std::string_view name = resource.name;
  if (!name.empty() && !names_node(name, context_.node.node_id)) {
    return refuse(ErrorCode::invalid_request,
                  fmt::format("This is broker {}", context_.node.node_id));
  }
  resource.scope =
      name.empty() ? catalog::BrokerScope::every_broker : catalog::BrokerScope::this_broker;
  const catalog::Catalog& catalog = context_.catalog;
  catalog::Overrides overrides = base_of(catalog.broker_overrides(resource.scope));
  return catalog::alter_broker_overrides(catalog.settings().topic_defaults, resource.ops,
                                         overrides);
}

Verdict ConfigAlterations::check_group(const Resource& resource) const {
  if (resource.name.empty()) {
    return refuse(ErrorCode::invalid_request, "Default group resources are not allowed.");
  }
  catalog::Overrides overrides = base_of(context_.catalog.group_overrides(resource.name));
  return catalog::alter_group_overrides(context_.catalog.settings().group_settings, resource.ops,
                                        overrides);
}

catalog::Overrides ConfigAlterations::base_of(const catalog::Overrides& overrides) const {
  return mode_ == Mode::replace ? catalog::Overrides{} : overrides;
}

}  // namespace weir::handlers
