#include "engine/catalog/topic_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/limits.h"

namespace weir::catalog {
namespace {

bool is_legal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

std::optional<std::string> topic_name_fault(std::string_view name) {
  if (name.empty()) return "Topic name is illegal, it can't be empty";
  if (name == "." || name == "..") return "Topic name cannot be \".\" or \"..\"";
  if (name.size() > model::kTopicNameSizeMax) {
    return fmt::format("Topic name is illegal, it has {} characters, {} are allowed", name.size(),
                       model::kTopicNameSizeMax);
  }
  if (!std::ranges::all_of(name, is_legal)) {
    // The name itself is left out: it may be anything, and this text goes to logs and terminals.
    return "Topic name is illegal, it contains a character other than ASCII alphanumerics, '.', "
           "'_' "
           "and '-'";
  }
  return std::nullopt;
}

std::string collision_key(std::string_view name) {
  std::string key(name);
  std::ranges::replace(key, '.', '_');
  return key;
}

bool is_internal_topic(std::string_view name) {
  return name == kConsumerOffsetsTopic || name == kTransactionStateTopic;
}

}  // namespace weir::catalog
