#include "engine/handlers/incremental_alter_configs.h"

#include <fmt/format.h>

#include <map>

#include "engine/catalog/catalog.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/config_resource.h"
#include "engine/handlers/context.h"

namespace weir::handlers {

using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;

void start_incremental_alter_configs(Request& request) {
  request.run<IncrementalAlterConfigsHandler>();
}

void IncrementalAlterConfigsHandler::start() {
  if (!request_.decode(in_)) return;
  collect();
  for (Part& part : parts_) {
    if (part.verdict.ok()) part.verdict = check(part);
    if (!part.verdict.ok() || in_.validate_only) continue;
    const bool topic = part.in->resource_type == static_cast<int8_t>(ConfigResourceType::topic);
    catalog::ChangeRequest& change = changes_.add();
    change.kind = topic ? catalog::ChangeRequest::Kind::alter_topic_config
                        : catalog::ChangeRequest::Kind::alter_broker_config;
    if (topic) change.name = part.in->resource_name;
    change.ops = part.ops;
    change.scope = part.scope;
    part.change = &change;
  }
  if (changes_.empty()) return respond();
  changes_.send(context().io);
}

// A resource that is named twice is refused each time.
void IncrementalAlterConfigsHandler::collect() {
  std::map<std::pair<int8_t, std::string_view>, int> counts;
  for (const Resource& resource : in_.resources) {
    ++counts[{resource.resource_type, resource.resource_name}];
    Part& part = parts_.emplace_back();
    part.in = &resource;
    for (const auto& config : resource.configs) {
      part.ops.push_back(
          {.kind = config.config_operation, .name = config.name, .value = config.value});
    }
  }
  for (Part& part : parts_) {
    if (counts[{part.in->resource_type, part.in->resource_name}] > 1) {
      part.verdict = refuse(ErrorCode::invalid_request, "Each resource must appear at most once.");
    }
  }
}

Verdict IncrementalAlterConfigsHandler::check(Part& part) const {
  const std::string_view name = part.in->resource_name;
  switch (static_cast<ConfigResourceType>(part.in->resource_type)) {
    case ConfigResourceType::topic: return check_topic(part);
    case ConfigResourceType::broker: return check_broker(part);
    case ConfigResourceType::broker_logger:
      if (!names_node(name, context().node.node_id)) break;
      return refuse(ErrorCode::invalid_config, "This broker has no loggers to set.");
    case ConfigResourceType::group:
      if (name.empty()) break;
      return refuse(ErrorCode::invalid_config, "Groups of this broker have no configs.");
    case ConfigResourceType::client_metrics: break;
  }
  return refuse(ErrorCode::invalid_request,
                fmt::format("Nothing to configure for resource type {} and this name",
                            part.in->resource_type));
}

Verdict IncrementalAlterConfigsHandler::check_topic(const Part& part) const {
  const std::string_view name = part.in->resource_name;
  if (name.empty()) return refuse(ErrorCode::invalid_request, "The topic has no name.");
  if (const auto fault = catalog::topic_name_fault(name)) {
    return refuse(ErrorCode::invalid_topic_exception, *fault);
  }
  const catalog::Catalog& catalog = context().catalog;
  const catalog::Topic* topic = catalog.find(name);
  if (topic == nullptr) {
    return refuse(ErrorCode::unknown_topic_or_partition,
                  fmt::format("The topic '{}' does not exist.", name));
  }
  catalog::Overrides overrides = topic->overrides;
  return catalog::alter_topic_overrides(catalog.topic_defaults(), part.ops, overrides);
}

Verdict IncrementalAlterConfigsHandler::check_broker(Part& part) const {
  const std::string_view name = part.in->resource_name;
  if (!name.empty() && !names_node(name, context().node.node_id)) {
    return refuse(ErrorCode::invalid_request,
                  fmt::format("This is broker {}", context().node.node_id));
  }
  part.scope =
      name.empty() ? catalog::BrokerScope::every_broker : catalog::BrokerScope::this_broker;
  const catalog::Catalog& catalog = context().catalog;
  catalog::Overrides overrides = catalog.broker_overrides(part.scope);
  return catalog::alter_broker_overrides(catalog.settings().topic_defaults, part.ops, overrides);
}

void IncrementalAlterConfigsHandler::respond() {
  Response out;
  out.responses = wire::make_array<Response::Resource>(arena(), parts_.size());
  if (out.responses.is_null()) {
    return request_.close_connection("request too large for its memory");
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.change != nullptr) part.verdict = {part.change->error, part.change->error_message};
    Response::Resource& resource = out.responses[i];
    resource.resource_type = part.in->resource_type;
    resource.resource_name = part.in->resource_name;
    resource.error_code = static_cast<int16_t>(part.verdict.error);
    resource.error_message = std::nullopt;
    if (!part.verdict.ok()) resource.error_message = part.verdict.message;
  }
  request_.respond(out);
}

}  // namespace weir::handlers
