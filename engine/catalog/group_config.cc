#include "engine/catalog/group_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/setting.h"
#include "io/base/assert.h"

namespace weir::catalog {

using model::ErrorCode;

namespace {

const GroupSetting* find(std::span<const GroupSetting> settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &GroupSetting::name);
  return found == settings.end() ? nullptr : &*found;
}

Verdict check_value(const GroupSetting& setting, std::string_view text) {
  int32_t value = 0;
  if (const auto status = model::parse_setting(setting.name, value, {}, text); !status) {
    return refuse(ErrorCode::invalid_config, status.error().detail);
  }
  const auto outside = [&](std::string_view relation, std::string_view bound, int32_t number) {
    return refuse(ErrorCode::invalid_config,
                  fmt::format("{} must be {} or equal to {}{}{}", setting.name, relation, bound,
                              bound.empty() ? "" : " = ", number));
  };
  if (value < setting.min) return outside("greater than", setting.min_name, setting.min);
  if (value > setting.max) return outside("less than", setting.max_name, setting.max);
  return {};
}

}  // namespace

Verdict alter_group_overrides(std::span<const GroupSetting> settings,
                              std::span<const ConfigOp> ops, Overrides& overrides) {
  if (Verdict verdict = check_config_ops(ops); !verdict.ok()) return verdict;
  Overrides changed = overrides;
  for (const ConfigOp& op : ops) {
    const GroupSetting* const setting = find(settings, op.name);
    if (setting == nullptr) {
      return refuse(ErrorCode::invalid_config,
                    fmt::format("Unknown group config name: {}", op.name));
    }
    switch (static_cast<ConfigOpKind>(op.kind)) {
      case ConfigOpKind::set:
        if (Verdict verdict = check_value(*setting, *op.value); !verdict.ok()) return verdict;
        changed.insert_or_assign(std::string(op.name), std::string(*op.value));
        break;
      case ConfigOpKind::remove: changed.erase(std::string(op.name)); break;
      case ConfigOpKind::append:
      case ConfigOpKind::subtract:
        return refuse(ErrorCode::invalid_config,
                      fmt::format("Config {} is not a list: nothing can be appended or subtracted",
                                  op.name));
    }
  }
  if (group_setting(settings, changed, kGroupHeartbeatInterval) >=
      group_setting(settings, changed, kGroupSessionTimeout)) {
    return refuse(ErrorCode::invalid_config, fmt::format("{} must be less than {}",
                                                         kGroupHeartbeatInterval,
                                                         kGroupSessionTimeout));
  }
  overrides = std::move(changed);
  return {};
}

int32_t group_setting(std::span<const GroupSetting> settings, const Overrides& overrides,
                      std::string_view name) {
  const GroupSetting* const setting = find(settings, name);
  ASSERT(setting != nullptr, "no group setting {}", name);
  int32_t value = setting->value;
  if (const auto found = overrides.find(name); found != overrides.end()) {
    if (!model::parse_setting(name, value, {}, found->second)) value = setting->value;
  }
  return std::clamp(value, setting->min, setting->max);
}

}  // namespace weir::catalog
