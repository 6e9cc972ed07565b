#pragma once
// CreateTopics (SCOPE 13): every topic of the request is checked here, created by core 0, and
// answered with its effective settings when every core serves it.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/config_entries.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/create_topics.h"

namespace weir::handlers {

class CreateTopicsHandler final : public Handler {
 public:
  explicit CreateTopicsHandler(Request& request) : Handler(request) {
    changes_.bind<&CreateTopicsHandler::respond>(*this);
  }

  void start() override;

 private:
  using Response = wire::CreateTopicsResponse;
  using Wanted = wire::CreateTopicsRequest::Topic;

  // One name of the request.
  struct Part {
    const Wanted* in = nullptr;
    int32_t partition_count = 0;  // the real one
    catalog::Overrides overrides{};
    base::Uuid topic_id{};
    catalog::Verdict verdict{};
    const catalog::ChangeRequest* change = nullptr;
  };

  void collect();
  catalog::Verdict check(Part& part) const;
  catalog::Verdict check_assignments(const Wanted& in, int32_t& partition_count) const;
  catalog::Verdict collect_overrides(const Wanted& in, catalog::Overrides& overrides) const;
  void send();
  void respond();
  bool fill(const Part& part, const ConfigEntries& entries, Response::Topic& out);

  wire::CreateTopicsRequest in_;
  std::vector<Part> parts_;
  CatalogChanges changes_;
};

void start_create_topics(Request& request);

}  // namespace weir::handlers
