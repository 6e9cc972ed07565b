#pragma once
// IncrementalAlterConfigs (SCOPE 18.4): settings of topics, and those of brokers that are defaults
// of topics; each resource changes whole or not at all.

#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/incremental_alter_configs.h"

namespace weir::handlers {

class IncrementalAlterConfigsHandler final : public Handler {
 public:
  explicit IncrementalAlterConfigsHandler(Request& request) : Handler(request) {
    changes_.bind<&IncrementalAlterConfigsHandler::respond>(*this);
  }

  void start() override;

 private:
  using Response = wire::IncrementalAlterConfigsResponse;
  using Resource = wire::IncrementalAlterConfigsRequest::Resource;

  struct Part {
    const Resource* in = nullptr;
    std::vector<catalog::ConfigOp> ops{};
    catalog::BrokerScope scope = catalog::BrokerScope::this_broker;
    catalog::Verdict verdict{};
    const catalog::ChangeRequest* change = nullptr;
  };

  void collect();
  catalog::Verdict check(Part& part) const;
  catalog::Verdict check_topic(const Part& part) const;
  catalog::Verdict check_broker(Part& part) const;
  void respond();

  wire::IncrementalAlterConfigsRequest in_;
  std::vector<Part> parts_;  // one for each resource of the request, in its order
  CatalogChanges changes_;
};

void start_incremental_alter_configs(Request& request);

}  // namespace weir::handlers
