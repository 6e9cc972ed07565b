#include "engine/handlers/list_config_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/config_resource.h"
#include "engine/handlers/context.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/list_config_resources.h"

namespace weir::handlers {

using model::ErrorCode;
using Response = wire::ListConfigResourcesResponse;

namespace {

bool is_known(int8_t type) {
  switch (static_cast<ConfigResourceType>(type)) {
    case ConfigResourceType::topic:
    case ConfigResourceType::broker:
    case ConfigResourceType::broker_logger:
    case ConfigResourceType::client_metrics:
    case ConfigResourceType::group: return true;
  }
  return false;
}

}  // namespace

// Version 0 asks for client metrics, which have no settings here.
void start_list_config_resources(Request& request) {
  wire::ListConfigResourcesRequest in;
  if (!request.decode(in)) return;
  Response out;
  if (!std::ranges::all_of(in.resource_types, is_known)) {
    out.error_code = static_cast<int16_t>(ErrorCode::unsupported_version);
    return request.respond(out);
  }
  const auto is_wanted = [&](ConfigResourceType type) {
    if (request.api_version() == 0) return false;
    const auto number = static_cast<int8_t>(type);
    return in.resource_types.empty() ||
           std::ranges::find(in.resource_types, number) != in.resource_types.end();
  };
  std::vector<Response::Resource> resources;
  const std::string node = fmt::format("{}", request.context().node.node_id);
  for (const auto type : {ConfigResourceType::broker_logger, ConfigResourceType::broker}) {
    if (is_wanted(type)) resources.push_back({node, static_cast<int8_t>(type)});
  }
  if (is_wanted(ConfigResourceType::topic)) {
    for (const catalog::Topic& topic : request.context().catalog.topics()) {
      resources.push_back({topic.name, static_cast<int8_t>(ConfigResourceType::topic)});
    }
  }
  if (is_wanted(ConfigResourceType::group)) {
    for (const auto& [group_id, overrides] : request.context().catalog.group_configs()) {
      resources.push_back({group_id, static_cast<int8_t>(ConfigResourceType::group)});
    }
  }
  out.config_resources = {resources.data(), resources.size()};
  request.respond(out);
}

}  // namespace weir::handlers
