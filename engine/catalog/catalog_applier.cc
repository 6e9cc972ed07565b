#include "engine/catalog/catalog_applier.h"

#include "engine/model/ports.h"
#include "io/base/assert.h"

namespace weir::catalog {

using Done = CatalogListener::Done;

CatalogApplier::CatalogApplier(io::CoreIo& core, Catalog& catalog, CatalogListener& listener)
    : core_(core), catalog_(catalog), listener_(listener) {
  continue_op_.bind<&CatalogApplier::on_continue>(*this);
  core_.mailboxes.listen<&CatalogApplier::on_update>(model::ports::kCatalogApply, *this);
}

void CatalogApplier::on_update(io::Message& message) {
  ASSERT(update_ == nullptr && config_changed_.empty() && !broker_config_changed_);
  update_ = &static_cast<ApplyUpdate&>(message);
  catalog_.count_update();
  next_change_ = 0;
  run();
}

void CatalogApplier::run() {
  while (next_change_ < update_->changes.size() || !config_changed_.empty() ||
         broker_config_changed_) {
    // Set before the call: the listener may complete from inside it.
    waiting_ = true;
    if (step() == Done::later) return;
    waiting_ = false;
    removed_.reset();
  }
  core_.mailboxes.reply(*std::exchange(update_, nullptr));
}

// One call of the listener.
Done CatalogApplier::step() {
  if (!config_changed_.empty()) {
    const Topic* topic = catalog_.find(config_changed_.front());
    config_changed_.pop_front();
    ASSERT(topic != nullptr);
    return listener_.on_topic_config_changed(*topic);
  }
  if (broker_config_changed_) {
    broker_config_changed_ = false;
    return listener_.on_broker_config_changed();
  }
  return apply(update_->changes[next_change_++]);
}

Done CatalogApplier::apply(const Change& change) {
  switch (change.kind) {
    case ChangeKind::create_topic: return listener_.on_topic_created(catalog_.create(change));
    case ChangeKind::delete_topic:
      removed_ = catalog_.remove(change.serial);
      return listener_.on_topic_deleted(*removed_);
    case ChangeKind::set_partition_count: {
      const int32_t old_count = catalog_.set_partition_count(change);
      return listener_.on_partitions_added(*catalog_.find(change.serial), old_count);
    }
    case ChangeKind::set_topic_config:
      return listener_.on_topic_config_changed(catalog_.set_topic_overrides(change));
    case ChangeKind::set_broker_config: {
      const auto changed = catalog_.set_broker_overrides(change);
      config_changed_.assign(changed.begin(), changed.end());
      broker_config_changed_ = true;
      return Done::now;
    }
    case ChangeKind::set_client_quotas:
      catalog_.set_client_quotas(change);
      return Done::now;
    case ChangeKind::set_group_config:
      catalog_.set_group_overrides(change);
      return Done::now;
    case ChangeKind::reserve: return Done::now;  // core 0's own business
  }
  UNREACHABLE("change kind {}", static_cast<int>(change.kind));
}

void CatalogApplier::complete() {
  ASSERT(waiting_ && update_ != nullptr);
  waiting_ = false;
  core_.loop.post(continue_op_);
}

void CatalogApplier::on_continue(io::Op&) {
  removed_.reset();
  run();
}

}  // namespace weir::catalog
