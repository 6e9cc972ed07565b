// weir dump: catalog.log and meta.json.

#include <fmt/format.h>

#include "engine/catalog/catalog_log.h"
#include "engine/catalog/node_identity.h"
#include "tools/weir/dump.h"

namespace weir::tools {
namespace {

using catalog::Change;
using catalog::ChangeKind;

void print_overrides(const catalog::Overrides& overrides) {
  for (const auto& [name, value] : overrides) fmt::print("  {} = {}\n", name, value);
}

void print_quotas(const Change& change) {
  const catalog::QuotaEntity& entity = change.quota_entity;
  const auto shown = [](catalog::QuotaName kind, const std::string& name) {
    if (kind == catalog::QuotaName::named) return name;
    return std::string(kind == catalog::QuotaName::any ? "(any)" : "-");
  };
  fmt::print("quotas of user {} client id {}\n", shown(entity.user_kind, entity.user),
             shown(entity.client_id_kind, entity.client_id));
  for (const auto& [key, value] : change.quotas) fmt::print("  {} = {}\n", key, value);
}

void print_change(const Change& change) {
  switch (change.kind) {
    case ChangeKind::create_topic:
      fmt::print("topic {} serial {} id {} partitions {}{}\n", change.name, change.serial.value(),
                 change.id.to_string(), change.partition_count,
                 change.internal ? " internal" : "");
      break;
    case ChangeKind::set_broker_config:
      fmt::print("settings of {}\n", change.scope == catalog::BrokerScope::this_broker
                                         ? "this broker"
                                         : "every broker");
      break;
    case ChangeKind::set_client_quotas: print_quotas(change); break;
    case ChangeKind::set_group_config: fmt::print("settings of group {}\n", change.name); break;
    case ChangeKind::delete_topic:
    case ChangeKind::set_partition_count:
    case ChangeKind::set_topic_config:
    case ChangeKind::reserve:
      fmt::print("change {} of serial {}\n", static_cast<int>(change.kind),
                 change.serial.value());
      break;
  }
  print_overrides(change.overrides);
}

}  // namespace

int dump_catalog(const std::string& path) {
  InputFile file(path);
  const auto content = catalog::read_log(file.read_all(), path);
  if (!content) {
    fmt::print("DAMAGED: {}\n", content.error().detail);
    return 1;
  }
  for (const Change& change : content->image.changes) print_change(change);
  fmt::print("next topic serial {}, next producer id {}\n", content->image.next_serial.value(),
             content->image.next_producer_id.value());
  fmt::print("next sequence {} at position {}\n", content->tail.sequence, content->tail.position);
  if (content->valid_size < file.size()) {
    fmt::print("{} bytes behind position {} are the torn end of a change nobody was told about\n",
               file.size() - content->valid_size, content->valid_size);
  }
  return 0;
}

int dump_meta(const std::string& path) {
  InputFile file(path);
  const auto bytes = file.read_all();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  const auto meta = catalog::decode_meta(text, path);
  if (meta) return 0;
  fmt::print("DAMAGED: {}\n", meta.error().detail);
  return 1;
}

}  // namespace weir::tools
