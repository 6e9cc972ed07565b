#pragma once
// ConfigEntries: settings of topics, groups and this broker as DescribeConfigs and CreateTopics
// show them: effective value, where it comes from, and the chain of values it won against (SCOPE
// 18.3).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/model/setting.h"

namespace weir::handlers {

struct ConfigSynonym {
  std::string_view name;
  std::optional<std::string_view> value;
  model::SettingSource source;
};

struct ConfigEntry {
  std::string_view name;
  std::optional<std::string_view> value;
  model::SettingSource source = model::SettingSource::default_value;
  model::SettingType type = model::SettingType::string;
  bool read_only = false;
  std::string_view documentation;
  std::vector<ConfigSynonym> synonyms;  // the first one is effective
};

// Made for one request; entries view its texts, the catalog and the overrides that were passed.
class ConfigEntries {
 public:
  // broker_settings: sorted by name, as in Context.
  ConfigEntries(const catalog::Catalog& catalog,
                std::span<const model::SettingInfo> broker_settings);

  // All settings of a topic with these overrides.
  std::vector<ConfigEntry> of_topic(const catalog::Overrides& overrides) const;
  std::vector<ConfigEntry> of_broker() const;
  // All settings of a group, whether it exists or not.
  std::vector<ConfigEntry> of_group(std::string_view group_id) const;
  // What was set for all brokers while running.
  std::vector<ConfigEntry> of_every_broker() const;

 private:
  void add_broker_chain(std::string_view name, const model::SettingInfo& info, bool given,
                        std::vector<ConfigSynonym>& chain) const;
  const model::SettingInfo* find_broker_setting(std::string_view name) const;

  const catalog::Catalog& catalog_;
  std::span<const model::SettingInfo> broker_settings_;
  const std::vector<model::SettingInfo> topic_settings_;  // value: of this broker's file
};

}  // namespace weir::handlers
