#include "engine/handlers/describe_configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/catalog/topic_name.h"
#include "engine/handlers/config_entries.h"
#include "engine/handlers/config_resource.h"
#include "engine/handlers/context.h"
#include "engine/wire/messages/describe_configs.h"

namespace weir::handlers {

using catalog::refuse;
using catalog::Verdict;
using model::ErrorCode;
using wire::DescribeConfigsRequest;
using Response = wire::DescribeConfigsResponse;

namespace {

// One resource: its settings, or why there are none.
struct Described {
  Verdict verdict{};
  std::vector<ConfigEntry> entries{};
};

class Describer {
 public:
  Describer(Request& request, const DescribeConfigsRequest& in)
      : request_(request),
        context_(request.context()),
        in_(in),
        entries_(context_.catalog, context_.broker_settings) {}

  Described describe(const DescribeConfigsRequest::Resource& resource) const;
  // False: the arena is full.
  bool fill(const DescribeConfigsRequest::Resource& resource, const Described& described,
            Response::Result& out) const;

 private:
  Described describe_topic(std::string_view name) const;
  Described describe_broker(std::string_view name) const;
  bool fill_entry(const ConfigEntry& entry, Response::Config& out) const;

  Request& request_;
  Context& context_;
  const DescribeConfigsRequest& in_;
  const ConfigEntries entries_;
};

bool is_wanted(const DescribeConfigsRequest::Resource& resource, std::string_view name) {
  const auto& keys = resource.configuration_keys;  // null and empty: all
  return keys.empty() || std::ranges::find(keys, name) != keys.end();
}

Described Describer::describe(const DescribeConfigsRequest::Resource& resource) const {
  const std::string_view name = resource.resource_name;
  switch (static_cast<ConfigResourceType>(resource.resource_type)) {
    case ConfigResourceType::topic: return describe_topic(name);
    case ConfigResourceType::broker: return describe_broker(name);
    case ConfigResourceType::broker_logger:
      if (names_node(name, context_.node.node_id)) return {};  // no loggers to set
      break;
    case ConfigResourceType::group:
      if (!name.empty()) return {.entries = entries_.of_group(name)};
      break;
    // Client metrics have no settings here: any of them has none.
    case ConfigResourceType::client_metrics:
      if (!name.empty()) return {};
      break;
  }
  return {.verdict = refuse(ErrorCode::invalid_request,
                            fmt::format("No configs for resource type {} and this name",
                                        resource.resource_type))};
}

Described Describer::describe_topic(std::string_view name) const {
  if (const auto fault = catalog::topic_name_fault(name)) {
    return {.verdict = refuse(ErrorCode::invalid_topic_exception, *fault)};
  }
  const catalog::Topic* topic = context_.catalog.find(name);
  if (topic == nullptr) {
    return {.verdict = refuse(ErrorCode::unknown_topic_or_partition,
                              "This server does not host this topic-partition.")};
  }
  return {.entries = entries_.of_topic(topic->overrides)};
}

Described Describer::describe_broker(std::string_view name) const {
  if (name.empty()) return {.entries = entries_.of_every_broker()};
  if (names_node(name, context_.node.node_id)) return {.entries = entries_.of_broker()};
  return {.verdict = refuse(ErrorCode::invalid_request,
                            fmt::format("This is broker {}", context_.node.node_id))};
}

bool Describer::fill(const DescribeConfigsRequest::Resource& resource, const Described& described,
                     Response::Result& out) const {
  out.resource_type = resource.resource_type;
  out.resource_name = resource.resource_name;
  out.error_code = static_cast<int16_t>(described.verdict.error);
  out.error_message = std::nullopt;
  if (!described.verdict.ok()) out.error_message = described.verdict.message;
  out.configs = wire::make_array<Response::Config>(request_.arena(), described.entries.size());
  if (out.configs.is_null()) return false;
  size_t count = 0;
  for (const ConfigEntry& entry : described.entries) {
    if (!is_wanted(resource, entry.name)) continue;
    if (!fill_entry(entry, out.configs[count++])) return false;
  }
  out.configs = {out.configs.data(), count};
  return true;
}

bool Describer::fill_entry(const ConfigEntry& entry, Response::Config& out) const {
  out.name = entry.name;
  out.value = entry.value;
  out.read_only = entry.read_only;
  out.is_default = entry.source == model::SettingSource::default_value;
  out.config_source = static_cast<int8_t>(entry.source);
  out.config_type = static_cast<int8_t>(entry.type);
  out.documentation = std::nullopt;
  if (in_.include_documentation) out.documentation = entry.documentation;
  if (!in_.include_synonyms) return true;
  out.synonyms = wire::make_array<Response::Synonym>(request_.arena(), entry.synonyms.size());
  if (out.synonyms.is_null()) return false;
  for (size_t i = 0; i < entry.synonyms.size(); ++i) {
    const ConfigSynonym& synonym = entry.synonyms[i];
    out.synonyms[i] = {.name = synonym.name,
                       .value = synonym.value,
                       .source = static_cast<int8_t>(synonym.source)};
  }
  return true;
}

}  // namespace

void start_describe_configs(Request& request) {
  DescribeConfigsRequest in;
  if (!request.decode(in)) return;
  const Describer describer(request, in);
  std::vector<Described> described;  // owns the error texts
  Response out;
  out.results = wire::make_array<Response::Result>(request.arena(), in.resources.size());
  bool fits = !out.results.is_null();
  for (const auto& resource : in.resources) described.push_back(describer.describe(resource));
  for (size_t i = 0; fits && i < described.size(); ++i) {
    fits = describer.fill(in.resources[i], described[i], out.results[i]);
  }
  if (!fits) return request.close_connection("request too large for its memory");
  request.respond(out);
}

}  // namespace weir::handlers
