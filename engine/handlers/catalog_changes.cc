#include "engine/handlers/catalog_changes.h"

#include "engine/model/ports.h"
#include "io/base/assert.h"

namespace weir::handlers {

catalog::ChangeRequest& CatalogChanges::add() {
  ASSERT(outstanding_ == 0);
  catalog::ChangeRequest& request = requests_.emplace_back();
  request.bind_reply<&CatalogChanges::on_reply>(*this);
  return request;
}

void CatalogChanges::send(io::CoreIo& core) {
  ASSERT(outstanding_ == 0 && !requests_.empty() && on_done_ != nullptr);
  outstanding_ = requests_.size();
  for (catalog::ChangeRequest& request : requests_) {
    core.mailboxes.send(io::CoreIndex(0), model::ports::kCatalogChange, request);
  }
}

void CatalogChanges::on_reply(io::Message&) {
  ASSERT(outstanding_ > 0);
  if (--outstanding_ == 0) on_done_(owner_);
}

}  // namespace weir::handlers
