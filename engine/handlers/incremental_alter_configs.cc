#include "engine/handlers/incremental_alter_configs.h"

#include "engine/handlers/config_alterations.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/incremental_alter_configs.h"

namespace weir::handlers {

using Response = wire::IncrementalAlterConfigsResponse;

namespace {

class IncrementalAlterConfigsHandler final : public Handler {
 public:
  explicit IncrementalAlterConfigsHandler(Request& request)
      : Handler(request), alterations_(context(), ConfigAlterations::Mode::incremental) {
    alterations_.bind<&IncrementalAlterConfigsHandler::respond>(*this);
  }

  void start() override {
    if (!request_.decode(in_)) return;
    for (const auto& resource : in_.resources) {
      auto& altered = alterations_.add(resource.resource_type, resource.resource_name);
      for (const auto& config : resource.configs) {
        altered.ops.push_back(
            {.kind = config.config_operation, .name = config.name, .value = config.value});
      }
    }
    alterations_.start(in_.validate_only);
  }

 private:
  void respond() {
    const auto& resources = alterations_.resources();
    Response out;
    out.responses = wire::make_array<Response::Resource>(arena(), resources.size());
    if (out.responses.is_null()) {
      return request_.close_connection("request too large for its memory");
    }
    for (size_t i = 0; i < resources.size(); ++i) {
      const ConfigAlterations::Resource& altered = resources[i];
      Response::Resource& resource = out.responses[i];
      resource.resource_type = altered.type;
      resource.resource_name = altered.name;
      resource.error_code = static_cast<int16_t>(altered.verdict.error);
      resource.error_message = std::nullopt;
      if (!altered.verdict.ok()) resource.error_message = altered.verdict.message;
    }
    request_.respond(out);
  }

  wire::IncrementalAlterConfigsRequest in_;
  ConfigAlterations alterations_;
};

}  // namespace

void start_incremental_alter_configs(Request& request) {
  request.run<IncrementalAlterConfigsHandler>();
}

}  // namespace weir::handlers
