#include "tools/weir/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <toml++/toml.h>

namespace weir::tools {
namespace {

using model::SettingInfo;
using model::SettingType;

constexpr size_t kFileSizeMax = 1 << 20;

std::unexpected<base::Error> fault(const std::string& path, size_t line, std::string_view detail) {
  return base::error(0, fmt::format("{}:{}: {}", path, line, detail));
}

// A scalar as the text that Config::set() takes; nothing for a date, a time, a table.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return std::nullopt;
}

// A scalar, or an array of scalars joined by commas.
std::optional<std::string> value_text(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return scalar_text(node);
  std::string joined;
  for (const toml::node& element : *array) {
    const auto text = scalar_text(element);
    if (!text) return std::nullopt;
    if (!joined.empty()) joined += ',';
    joined += *text;
  }
  return joined;
}

// What the file must hold for a setting of this type; empty when `node` is that.
std::string_view wanted_instead_of(const toml::node& node, SettingType type) {
  switch (type) {
    case SettingType::boolean: return node.is_boolean() ? "" : "true or false, without quotes";
    case SettingType::int16:
    case SettingType::int32:
    case SettingType::int64: return node.is_integer() ? "" : "a whole number, without quotes";
    case SettingType::float64: return node.is_number() ? "" : "a number, without quotes";
    case SettingType::list:
      return node.is_array() || node.is_string() ? "" : "a list of texts, [\"a\", \"b\"]";
    case SettingType::string:
    case SettingType::class_name:
    case SettingType::password: return node.is_string() ? "" : "a text in quotes";
  }
  return "";
}

// One pass over a file.
class Loader {
 public:
  Loader(const std::string& path, broker::Config& config)
      : path_(path), config_(config), infos_(config.list()) {
    for (const SettingInfo& info : infos_) {
      if (info.given) given_before_.emplace(info.name);
    }
  }

  base::Status load(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (const toml::table* nested = node.as_table()) {
        CHECK_OK(load(*nested, name + "."));
      } else {
        CHECK_OK(set(name, node, key.source().begin.line));
      }
    }
    return {};
  }

 private:
  base::Status set(const std::string& name, const toml::node& node, size_t line) {
    const auto info = std::ranges::find(infos_, std::string_view(name), &SettingInfo::name);
    const auto text = value_text(node);
    if (info != infos_.end()) {
      const std::string_view wanted = wanted_instead_of(node, info->type);
      if (!wanted.empty() || !text) {
        return fault(path_, line, fmt::format("{}: allowed is {}", name, wanted));
      }
    }
    const std::string value = text.value_or("");
    if (const auto status = checked_.set(name, value); !status) {
      return fault(path_, line, status.error().detail);
    }
    if (given_before_.contains(name)) return {};
    if (const auto status = config_.set(name, value); !status) {
      return fault(path_, line, status.error().detail);
    }
    return {};
  }

  const std::string& path_;
  broker::Config& config_;
  broker::Config checked_;  // what the file alone says: finds values that are wrong or given twice
  std::vector<SettingInfo> infos_;
  std::set<std::string, std::less<>> given_before_;
};

}  // namespace

base::Status load_config_text(std::string_view text, const std::string& path,
                              broker::Config& config) {
  try {
    return Loader(path, config).load(toml::parse(text, path), "");
  } catch (const toml::parse_error& error) {
    return fault(path, error.source().begin.line, error.description());
  }
}

base::Status load_config_file(const std::string& path, broker::Config& config) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::error(errno, fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text(kFileSizeMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::error(EIO, fmt::format("{}: cannot be read", path));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileSizeMax) {
    return base::error(0, fmt::format("{}: larger than {} bytes", path, kFileSizeMax));
  }
  return load_config_text(text, path, config);
}

}  // namespace weir::tools
