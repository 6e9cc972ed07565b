#pragma once
// CatalogChanges: changes of the catalog that one request asks core 0 for, all at once; its handler
// goes on when the last one is back. Part of a Handler, on its core. Requests keep their place in
// memory.

#include <cstddef>
#include <deque>

#include "engine/catalog/messages.h"
#include "io/core_io.h"

namespace weir::handlers {

class CatalogChanges {
 public:
  // (owner.*Method)() runs from the loop when every change has come back.
  template <auto Method, class Owner>
  void bind(Owner& owner) {
    owner_ = &owner;
    on_done_ = [](void* o) { (static_cast<Owner*>(o)->*Method)(); };
  }

  // To be filled before send().
  catalog::ChangeRequest& add();
  bool empty() const { return requests_.empty(); }
  size_t size() const { return requests_.size(); }
  const std::deque<catalog::ChangeRequest>& requests() const { return requests_; }

  // Once, and with at least one request.
  void send(io::CoreIo& core);

 private:
  void on_reply(io::Message& message);

  std::deque<catalog::ChangeRequest> requests_;
  size_t outstanding_ = 0;
  void* owner_ = nullptr;
  void (*on_done_)(void*) = nullptr;
};

}  // namespace weir::handlers
