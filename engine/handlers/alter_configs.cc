#include "engine/handlers/alter_configs.h"

#include "engine/handlers/config_alterations.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/alter_configs.h"
#include "engine/wire/messages/incremental_alter_configs.h"

namespace weir::handlers {

namespace {

using Mode = ConfigAlterations::Mode;
using Replacing = wire::AlterConfigsRequest::Config;
using Incremental = wire::IncrementalAlterConfigsRequest::Config;

catalog::ConfigOp operation(const Replacing& config) {
  return {.kind = static_cast<int8_t>(catalog::ConfigOpKind::set),
          .name = config.name,
          .value = config.value};
}

catalog::ConfigOp operation(const Incremental& config) {
  return {.kind = config.config_operation, .name = config.name, .value = config.value};
}

// Both requests have the same shape but for the operation of a setting.
template <typename In, typename Response, Mode kMode>
class AlterConfigsHandler final : public Handler {
 public:
  explicit AlterConfigsHandler(Request& request)
      : Handler(request), alterations_(context(), kMode) {
    alterations_.bind<&AlterConfigsHandler::respond>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    for (const auto& resource : in_.resources) {
      auto& altered = alterations_.add(resource.resource_type, resource.resource_name);
      for (const auto& config : resource.configs) {
        altered.ops.push_back(operation(config));
      }
    }
    alterations_.start(in_.validate_only);
  }

 private:
  void respond() {
    const auto& resources = alterations_.resources();
    Response out;
    out.responses = wire::make_array<typename Response::Resource>(arena(), resources.size());
    if (out.responses.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    for (size_t i = 0; i < resources.size(); ++i) {
      const ConfigAlterations::Resource& altered = resources[i];
      typename Response::Resource& resource = out.responses[i];
      resource.resource_type = altered.type;
      resource.resource_name = altered.name;
      resource.error_code = static_cast<int16_t>(altered.verdict.error);
      resource.error_message = std::nullopt;
      if (!altered.verdict.ok()) resource.error_message = altered.verdict.message;
    }
    request_.respond(out);
  }

  In in_;
  ConfigAlterations alterations_;
};

}  // namespace

void start_alter_configs(Request& request) {
  request.run<AlterConfigsHandler<wire::AlterConfigsRequest, wire::AlterConfigsResponse,
                                  Mode::replace>>();
}

void start_incremental_alter_configs(Request& request) {
  request.run<AlterConfigsHandler<wire::IncrementalAlterConfigsRequest,
                                  wire::IncrementalAlterConfigsResponse, Mode::incremental>>();
}

}  // namespace weir::handlers
