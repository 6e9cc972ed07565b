#pragma once
// CatalogTopics: this core's replica of the catalog, as the group coordinator sees topics and the
// settings of groups. Owned by Core.

#include "engine/catalog/catalog.h"
#include "engine/catalog/group_config.h"
#include "engine/group/config.h"
#include "engine/group/topics.h"

namespace weir::broker {

// What single groups may set, and within what; of catalog::Settings.
std::vector<catalog::GroupSetting> group_settings_of(const group::GroupConfig& config);

class CatalogTopics final : public group::Topics {
 public:
  explicit CatalogTopics(const catalog::Catalog& catalog) : catalog_(catalog) {}

  std::optional<group::TopicView> find(std::string_view name) const override {
    return view(catalog_.find(name));
  }
  std::optional<group::TopicView> find(const base::Uuid& id) const override {
    return view(catalog_.find(id));
  }
  std::vector<std::string_view> names() const override;
  int64_t version() const override { return catalog_.update_count(); }
  group::ConsumerGroupSettings settings_of(std::string_view group_id) const override;

 private:
  static std::optional<group::TopicView> view(const catalog::Topic* topic);

  const catalog::Catalog& catalog_;
};

}  // namespace weir::broker
