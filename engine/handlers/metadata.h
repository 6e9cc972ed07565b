#pragma once
// Metadata: this node, and topics with their partitions (SCOPE 13). Topics that are asked for by
// name and missing are created first where request and settings allow it; the answer then has them
// already.

#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/model/error_code.h"
#include "engine/wire/messages/metadata.h"

namespace weir::handlers {

class MetadataHandler final : public Handler {
 public:
  explicit MetadataHandler(Request& request) : Handler(request) {
    changes_.bind<&MetadataHandler::respond>(*this);
  }

  void start() override;

 private:
  using Response = wire::MetadataResponse;

  // One topic that was asked for, once.
  struct Wanted {
    std::string_view name;  // by name, where the id is zero
    base::Uuid id;
    const catalog::ChangeRequest* creation = nullptr;
  };

  void collect_by_id();
  void collect_by_name();
  void want_creation(Wanted& wanted);
  void respond();
  bool fill_topics();
  void fill_wanted(const Wanted& wanted, Response::Topic& out);
  void fill_missing(const Wanted& wanted, Response::Topic& out);
  void fill_topic(const catalog::Topic& topic, Response::Topic& out);
  void fill_node();
  void refuse_all(model::ErrorCode error);

  wire::MetadataRequest in_;
  Response out_;
  bool all_topics_ = false;
  bool too_large_ = false;  // the arena is full
  std::vector<Wanted> wanted_;
  CatalogChanges changes_;
  Response::Broker broker_;
  int32_t node_id_ = 0;  // what all replica lists view
};

void start_metadata(Request& request);

}  // namespace weir::handlers
