#pragma once
// DeleteTopics (SCOPE 13): by name, from version 6 on also by id. Answered when no core serves the
// topic any more; its files go later.

#include <string_view>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/request.h"
#include "engine/wire/messages/delete_topics.h"

namespace weir::handlers {

class DeleteTopicsHandler final : public Handler {
 public:
  explicit DeleteTopicsHandler(Request& request) : Handler(request) {
    changes_.bind<&DeleteTopicsHandler::respond>(*this);
  }

  void start() override;

 private:
  using Response = wire::DeleteTopicsResponse;

  struct Part {
    wire::NullableString name{};  // as answered
    base::Uuid id{};              // as answered
    model::TopicSerial serial{};  // of an existing topic
    catalog::Verdict verdict{};
    const catalog::ChangeRequest* change = nullptr;
  };

  void collect(wire::NullableString name, const base::Uuid& id);
  void mark_duplicates();
  void respond();

  wire::DeleteTopicsRequest in_;
  std::vector<Part> parts_;
  CatalogChanges changes_;
};

void start_delete_topics(Request& request);

}  // namespace weir::handlers
