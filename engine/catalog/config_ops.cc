#include "engine/catalog/config_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/model/limits.h"
#include "io/base/assert.h"

namespace weir::catalog {
namespace {

using model::ErrorCode;

// None of them is a list: only their names matter to an operation.
constexpr partition::CleanerConfig kCleanerDefaults;

// What an op needs to know of the setting it changes.
struct Target {
  bool found = false;
  bool is_list = false;
  std::string effective;  // printed, where the setting is not overridden
};

// Visitor: finds a setting by its own name, or by its synonym.
struct TargetFinder {
  std::string_view name;
  bool by_synonym = false;
  Target target{};

  template <class T>
  void operator()(std::string_view own_name, const T& member, const model::SettingSpec& spec) {
    if ((by_synonym ? spec.synonym : own_name) != name) return;
    target.found = true;
    target.is_list = model::setting_type<T>(spec) == model::SettingType::list;
    target.effective = model::print_setting(member, spec).value_or("");
  }
};

// Visitor: parses into the setting of that synonym.
struct SynonymSetter {
  std::string_view synonym;
  std::string_view text;
  base::Status status{};

  template <class T>
  void operator()(std::string_view, T& member, const model::SettingSpec& spec) {
    if (spec.synonym == synonym) status = model::parse_setting(synonym, member, spec, text);
  }
};

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = model::setting_detail::trim(text.substr(0, comma));
    if (!part.empty()) parts.push_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

std::string append_to_list(std::string_view current, std::string_view added) {
  std::vector<std::string_view> parts = split_list(current);
  for (const std::string_view part : split_list(added)) {
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string subtract_from_list(std::string_view current, std::string_view removed) {
  std::vector<std::string_view> parts = split_list(current);
  for (const std::string_view part : split_list(removed)) std::erase(parts, part);
  return fmt::format("{}", fmt::join(parts, ","));
}

Verdict apply_op(const ConfigOp& op, const Target& target, Overrides& overrides) {
  const auto kind = static_cast<ConfigOpKind>(op.kind);
  const auto current = overrides.find(op.name);
  const std::string_view base = current == overrides.end() ? std::string_view(target.effective)
                                                           : std::string_view(current->second);
  if ((kind == ConfigOpKind::append || kind == ConfigOpKind::subtract) && !target.is_list) {
    return refuse(
        ErrorCode::invalid_config,
        fmt::format("Config {} is not a list: nothing can be appended or subtracted", op.name));
  }
  switch (kind) {
    case ConfigOpKind::set:
      overrides.insert_or_assign(std::string(op.name), std::string(*op.value));
      return {};
    case ConfigOpKind::remove:
      if (current != overrides.end()) overrides.erase(current);
      return {};
    case ConfigOpKind::append:
      overrides.insert_or_assign(std::string(op.name), append_to_list(base, *op.value));
      return {};
    case ConfigOpKind::subtract:
      overrides.insert_or_assign(std::string(op.name), subtract_from_list(base, *op.value));
      return {};
  }
  UNREACHABLE("operation {}", op.kind);
}

Verdict check_sizes(const Overrides& overrides) {
  size_t total = 0;
  for (const auto& [name, value] : overrides) {
    if (value.size() > model::kSettingValueSizeMax) {
      return refuse(ErrorCode::invalid_config,
                    fmt::format("Value of config {} has {} bytes, {} are allowed", name,
                                value.size(), model::kSettingValueSizeMax));
    }
    total += name.size() + value.size();
  }
  if (total > model::kOverridesSizeMax || overrides.size() > model::kOverridesPerTopicMax) {
    return refuse(ErrorCode::invalid_config,
                  fmt::format("Configs are too large together: {} bytes, {} are allowed", total,
                              model::kOverridesSizeMax));
  }
  return {};
}

Verdict check_topic_overrides(const TopicConfig& defaults, const Overrides& overrides) {
  if (Verdict verdict = check_sizes(overrides); !verdict.ok()) return verdict;
  if (const auto config = make_topic_config(defaults, overrides); !config) {
    return refuse(ErrorCode::invalid_config, config.error().detail);
  }
  return {};
}

}  // namespace

Verdict refuse(ErrorCode error, std::string message) { return {error, std::move(message)}; }

Verdict check_config_ops(std::span<const ConfigOp> ops) {
  std::set<std::string_view> seen;
  for (const ConfigOp& op : ops) {
    if (op.kind < 0 || op.kind > static_cast<int8_t>(ConfigOpKind::subtract)) {
      return refuse(ErrorCode::invalid_request,
                    fmt::format("Unknown operation {} for config {}", op.kind, op.name));
    }
    if (!seen.insert(op.name).second) {
      return refuse(ErrorCode::invalid_request, fmt::format("Config {} is named twice", op.name));
    }
    if (op.kind != static_cast<int8_t>(ConfigOpKind::remove) && !op.value) {
      return refuse(ErrorCode::invalid_request,
                    fmt::format("Null value for config {}, which only a delete may have", op.name));
    }
  }
  return {};
}

Verdict alter_topic_overrides(const TopicConfig& defaults, std::span<const ConfigOp> ops,
                              Overrides& overrides) {
  if (Verdict verdict = check_config_ops(ops); !verdict.ok()) return verdict;
  Overrides changed = overrides;
  for (const ConfigOp& op : ops) {
    if (is_removed_topic_setting(op.name)) continue;
    TargetFinder finder{.name = op.name};
    TopicConfig::describe(finder, defaults);
    if (!finder.target.found) {
      // Deleting what is not there is fine, whatever its name.
      if (op.kind == static_cast<int8_t>(ConfigOpKind::remove)) continue;
      return refuse(ErrorCode::invalid_config,
                    fmt::format("Unknown topic config name: {}", op.name));
    }
    if (Verdict verdict = apply_op(op, finder.target, changed); !verdict.ok()) return verdict;
  }
  if (Verdict verdict = check_topic_overrides(defaults, changed); !verdict.ok()) return verdict;
  overrides = std::move(changed);
  return {};
}

Verdict alter_broker_overrides(const TopicConfig& static_defaults, std::span<const ConfigOp> ops,
                               Overrides& overrides) {
  const auto invalid = [](std::string message) {
    return refuse(ErrorCode::invalid_request, std::move(message));
  };
  if (Verdict verdict = check_config_ops(ops); !verdict.ok()) return verdict;
  Overrides changed = overrides;
  for (const ConfigOp& op : ops) {
    TargetFinder finder{.name = op.name, .by_synonym = true};
    TopicConfig::describe(finder, static_defaults);
    finder.by_synonym = false;
    partition::CleanerConfig::describe(finder, kCleanerDefaults);
    if (op.name.empty() || !finder.target.found) {
      return invalid(fmt::format("Cannot update these configs dynamically: {}", op.name));
    }
    if (Verdict verdict = apply_op(op, finder.target, changed); !verdict.ok()) {
      return invalid(std::move(verdict.message));
    }
  }
  if (Verdict verdict = check_sizes(changed); !verdict.ok())
    return invalid(std::move(verdict.message));
  TopicConfig config = static_defaults;
  partition::CleanerConfig cleaner;
  for (const auto& [name, value] : changed) {
    SynonymSetter setter{name, value};
    TopicConfig::describe(setter, config);
    if (!setter.status) return invalid(setter.status.error().detail);
    if (const auto set = model::set_setting(cleaner, name, value); !set) {
      return invalid(set.error().detail);
    }
  }
  if (const auto status = check_topic_config(config); !status)
    return invalid(status.error().detail);
  overrides = std::move(changed);
  return {};
}

Verdict check_new_overrides(const TopicConfig& defaults, Overrides& overrides) {
  Verdict verdict = check_topic_overrides(defaults, overrides);
  if (!verdict.ok()) return verdict;
  std::erase_if(overrides, [](const auto& entry) { return is_removed_topic_setting(entry.first); });
  return verdict;
}

void apply_broker_overrides(TopicConfig& defaults, const Overrides& overrides) {
  for (const auto& [name, value] : overrides) {
    SynonymSetter setter{name, value};
    TopicConfig::describe(setter, defaults);
  }
}

void apply_broker_overrides(partition::CleanerConfig& config, const Overrides& overrides) {
  for (const auto& [name, value] : overrides) {
    model::SettingSetter setter{name, value};
    partition::CleanerConfig::describe(setter, config);
  }
}

}  // namespace weir::catalog
