#include "tools/weir/config_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <toml++/toml.h>

namespace weir::tools {
namespace {

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

base::Status set_all(const toml::table& table, const std::string& prefix, const std::string& path,
                     broker::Config& config) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* nested = node.as_table()) {
      CHECK_OK(set_all(*nested, name + ".", path, config));
      continue;
    }
    const size_t line = node.source().begin.line;
    const auto text = value_text(node);
    if (!text) {
      return fault(path, line, fmt::format("{}: allowed are texts, numbers, true, false and lists of "
                                           "them",
                                           name));
    }
    if (const auto status = config.set(name, *text); !status) {
      return fault(path, line, status.error().detail);
    }
  }
  return {};
}

}  // namespace

base::Status load_config_text(std::string_view text, const std::string& path,
                              broker::Config& config) {
  try {
    return set_all(toml::parse(text, path), "", path, config);
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
