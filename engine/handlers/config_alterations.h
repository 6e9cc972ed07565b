#pragma once
// ConfigAlterations: the resources whose settings one request changes, each whole or not at all:
// checked here, changed by core 0. What IncrementalAlterConfigs and AlterConfigs have in common
// (SCOPE 18.4). Part of a Handler, on its core.

#include <deque>
#include <string_view>
#include <vector>

#include "engine/catalog/config_ops.h"
#include "engine/handlers/catalog_changes.h"
#include "engine/handlers/context.h"

namespace weir::handlers {

class ConfigAlterations {
 public:
  // incremental: ops change what is set. replace: what they do not name is set no more.
  enum class Mode : uint8_t { incremental, replace };

  struct Resource {
    int8_t type = 0;  // as received
    std::string_view name{};
    std::vector<catalog::ConfigOp> ops{};  // views of the request
    catalog::Verdict verdict{};
    // Of ConfigAlterations itself.
    catalog::BrokerScope scope = catalog::BrokerScope::this_broker;
    const catalog::ChangeRequest* change = nullptr;
  };

  ConfigAlterations(Context& context, Mode mode) : context_(context), mode_(mode) {}

  // (owner.*Method)() runs when every resource has its verdict: inside start(), or from the loop.
  template <auto Method, class Owner>
  void bind(Owner& owner) {
    changes_.bind<&ConfigAlterations::on_changed>(*this);
    owner_ = &owner;
    on_done_ = [](void* o) { (static_cast<Owner*>(o)->*Method)(); };
  }

  Resource& add(int8_t type, std::string_view name);
  // Once. A resource that was added twice is refused each time.
  void start(bool validate_only);
  // In the order in which they were added.
  const std::deque<Resource>& resources() const { return resources_; }

 private:
  void refuse_repeated();
  catalog::Verdict check(Resource& resource) const;
  catalog::Verdict check_topic(const Resource& resource) const;
  catalog::Verdict check_broker(Resource& resource) const;
  catalog::Verdict check_group(const Resource& resource) const;
  catalog::Overrides base_of(const catalog::Overrides& overrides) const;
  void on_changed();

  Context& context_;
  const Mode mode_;
  std::deque<Resource> resources_;
  CatalogChanges changes_;
  void* owner_ = nullptr;
  void (*on_done_)(void*) = nullptr;
};

}  // namespace weir::handlers
