#include "engine/handlers/config_entries.h"

#include <algorithm>

namespace weir::handlers {

using catalog::BrokerScope;
using model::SettingInfo;
using model::SettingSource;

ConfigEntries::ConfigEntries(const catalog::Catalog& catalog,
                             std::span<const SettingInfo> broker_settings)
    : catalog_(catalog),
      broker_settings_(broker_settings),
      topic_settings_(model::list_settings(catalog.settings().topic_defaults)) {}

const SettingInfo* ConfigEntries::find_broker_setting(std::string_view name) const {
  const auto found = std::ranges::lower_bound(broker_settings_, name, {}, &SettingInfo::name);
  return found == broker_settings_.end() || found->name != name ? nullptr : &*found;
}

// Set on this broker, on every broker, in its file, nowhere.
void ConfigEntries::add_broker_chain(std::string_view name, const SettingInfo& info, bool given,
                                     std::vector<ConfigSynonym>& chain) const {
  for (const auto& [scope, source] :
       {std::pair{BrokerScope::this_broker, SettingSource::dynamic_broker},
        std::pair{BrokerScope::every_broker, SettingSource::dynamic_default_broker}}) {
    const catalog::Overrides& overrides = catalog_.broker_overrides(scope);
    if (const auto found = overrides.find(name); found != overrides.end()) {
      chain.push_back({name, found->second, source});
    }
  }
  if (given || info.value != info.default_value) {
    chain.push_back({name, info.value, SettingSource::static_broker});
  }
  if (info.default_value && !info.spec.synonym_unset) {
    chain.push_back({name, info.default_value, SettingSource::default_value});
  }
}

std::vector<ConfigEntry> ConfigEntries::of_topic(const catalog::Overrides& overrides) const {
  std::vector<ConfigEntry> entries;
  entries.reserve(topic_settings_.size());
  for (const SettingInfo& info : topic_settings_) {
    ConfigEntry& entry = entries.emplace_back();
    entry.name = info.name;
    entry.type = info.type;
    entry.documentation = info.spec.doc;
    if (const auto found = overrides.find(info.name); found != overrides.end()) {
      entry.synonyms.push_back({info.name, found->second, SettingSource::topic});
    }
    if (!info.spec.synonym.empty()) {
      const SettingInfo* broker_setting = find_broker_setting(info.spec.synonym);
      add_broker_chain(info.spec.synonym, info, broker_setting != nullptr && broker_setting->given,
                       entry.synonyms);
    }
    entry.value = info.default_value;
    if (!entry.synonyms.empty()) {
      entry.value = entry.synonyms[0].value;
      entry.source = entry.synonyms[0].source;
    }
  }
  return entries;
}

std::vector<ConfigEntry> ConfigEntries::of_broker() const {
  std::vector<ConfigEntry> entries;
  entries.reserve(broker_settings_.size());
  for (const SettingInfo& info : broker_settings_) {
    ConfigEntry& entry = entries.emplace_back();
    entry.name = info.name;
    entry.type = info.type;
    entry.documentation = info.spec.doc;
    entry.read_only = !info.spec.dynamic;
    add_broker_chain(info.name, info, info.given, entry.synonyms);
    if (!entry.synonyms.empty()) {
      entry.value = entry.synonyms[0].value;
      entry.source = entry.synonyms[0].source;
    }
  }
  return entries;
}

std::vector<ConfigEntry> ConfigEntries::of_group(std::string_view group_id) const {
  const catalog::Overrides& overrides = catalog_.group_overrides(group_id);
  std::vector<ConfigEntry> entries;
  for (const catalog::GroupSetting& setting : catalog_.settings().group_settings) {
    const SettingInfo* const info = find_broker_setting(setting.synonym);
    if (info == nullptr) continue;
    ConfigEntry& entry = entries.emplace_back();
    entry.name = setting.name;
    entry.type = info->type;
    entry.documentation = info->spec.doc;
    if (const auto found = overrides.find(setting.name); found != overrides.end()) {
      entry.synonyms.push_back({setting.name, found->second, SettingSource::group});
    }
    add_broker_chain(setting.synonym, *info, info->given, entry.synonyms);
    entry.value = entry.synonyms[0].value;
    entry.source = entry.synonyms[0].source;
  }
  return entries;
}

std::vector<ConfigEntry> ConfigEntries::of_every_broker() const {
  std::vector<ConfigEntry> entries;
  for (const auto& [name, value] : catalog_.broker_overrides(BrokerScope::every_broker)) {
    ConfigEntry& entry = entries.emplace_back();
    entry.name = name;
    entry.value = value;
    entry.source = SettingSource::dynamic_default_broker;
    if (const SettingInfo* info = find_broker_setting(name)) {
      entry.type = info->type;
      entry.documentation = info->spec.doc;
    }
    entry.synonyms.push_back({name, value, entry.source});
  }
  return entries;
}

}  // namespace weir::handlers
