#pragma once
// CreatePartitions (SCOPE 13): raises partition counts; answered when every core serves the new
// ones.

#include <string_view>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/create_partitions.h"

namespace weir::handlers {

class CreatePartitionsHandler final : public Handler {
 public:
  explicit CreatePartitionsHandler(Request& request) : Handler(request) {
    changes_.bind<&CreatePartitionsHandler::respond>(*this);
  }

  void start() override;

 private:
  using Response = wire::CreatePartitionsResponse;
  using Wanted = wire::CreatePartitionsRequest::Topic;

  struct Part {
    const Wanted* in = nullptr;
    catalog::Verdict verdict{};
    const catalog::ChangeRequest* change = nullptr;
  };

  void collect();
  catalog::Verdict check(const Wanted& in) const;
  void respond();

  wire::CreatePartitionsRequest in_;
  std::vector<Part> parts_;
  CatalogChanges changes_;
};

void start_create_partitions(Request& request);

}  // namespace weir::handlers
