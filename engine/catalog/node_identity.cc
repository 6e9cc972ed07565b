#include "engine/catalog/node_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/catalog/catalog_store.h"
#include "engine/model/limits.h"
#include "io/base/bytes.h"
#include "io/base/crc32c.h"

namespace weir::catalog {
namespace {

using nlohmann::json;

std::unexpected<base::Error> unusable(std::string_view path, std::string_view detail) {
  return base::error(0, fmt::format("{} cannot be used: {}. Restore it from a copy of the data "
                                    "directory, or move the whole directory away to start empty",
                                    path, detail));
}

json to_json(const Meta& meta) {
  return {{"format_version", kDataFormatVersion},
          {"cluster_id", meta.cluster_id},
          {"node_id", meta.node_id},
          {"incarnation", meta.incarnation.value()},
          {"catalog_created", meta.catalog_created},
          {"journal_generation", meta.journal_generation},
          {"journal_core_count", meta.journal_core_count}};
}

// The text was parsed as UTF-8 already: printing it cannot fail.
uint32_t checksum(const json& object) { return base::crc32c(base::as_bytes(object.dump())); }

std::optional<int64_t> integer_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

// nothing: a field is missing, of another type or out of range.
std::optional<Meta> from_json(const json& object) {
  const auto node_id = integer_of(object, "node_id");
  const auto incarnation = integer_of(object, "incarnation");
  const auto generation = integer_of(object, "journal_generation");
  const auto core_count = integer_of(object, "journal_core_count");
  const auto cluster_id = object.find("cluster_id");
  const auto created = object.find("catalog_created");
  if (!node_id || !incarnation || !generation || !core_count || cluster_id == object.end() ||
      !cluster_id->is_string() || created == object.end() || !created->is_boolean()) {
    return std::nullopt;
  }
  const auto in_range = [](int64_t value, int64_t min) {
    return value >= min && value <= INT32_MAX;
  };
  if (!in_range(*node_id, 0) || !in_range(*incarnation, -1) || !in_range(*core_count, 0) ||
      *generation < 0 || !base::Uuid::parse(cluster_id->get_ref<const std::string&>())) {
    return std::nullopt;
  }
  return Meta{.cluster_id = cluster_id->get_ref<const std::string&>(),
              .node_id = static_cast<int32_t>(*node_id),
              .incarnation = model::Incarnation(static_cast<int32_t>(*incarnation)),
              .catalog_created = created->get<bool>(),
              .journal_generation = *generation,
              .journal_core_count = static_cast<int32_t>(*core_count)};
}

// Files that a start may have left before it stored meta.json for the first time.
bool may_be_in_new_directory(std::string_view name) {
  return name == "lock" || name == "lost+found" || name == "meta.json.new";
}

base::Status check_new_directory(io::Disk& disk, const std::string& directory) {
  TRY(const auto entries, disk.list(directory));
  for (const io::DirectoryEntry& entry : entries) {
    if (may_be_in_new_directory(entry.name)) continue;
    return base::error(
        0,
        fmt::format("{} has no {} but contains {}: either it is not a data directory of this "
                    "program, or that file was lost. Name another directory, or restore the file",
                    directory, kMetaFileName, entry.name));
  }
  return {};
}

}  // namespace

std::string encode_meta(const Meta& meta) {
  json object = to_json(meta);
  object["crc32c"] = checksum(object);
  return object.dump(2) + "\n";
}

base::Result<Meta> decode_meta(std::string_view text, std::string_view path) {
  json object = json::parse(text, nullptr, false);
  if (object.is_discarded() || !object.is_object()) return unusable(path, "it is not JSON");
  // First: what a newer version means by its other fields is unknown here.
  const auto version = integer_of(object, "format_version");
  if (!version || *version < 1) return unusable(path, "it has no format_version");
  if (*version > kDataFormatVersion) {
    return base::error(
        0, fmt::format("{}: data of format {}, this program knows {}: it was written by "
                       "a newer one; use that",
                       path, *version, kDataFormatVersion));
  }
  const auto crc = integer_of(object, "crc32c");
  object.erase("crc32c");
  if (!crc || *crc != checksum(object)) {
    return unusable(path, "its checksum is wrong: it is damaged or was edited");
  }
  const auto meta = from_json(object);
  if (!meta || object.size() != to_json(*meta).size())
    return unusable(path, "its fields are not ours");
  return *meta;
}

base::Result<Meta> load_meta(FileIo& files, io::Disk& disk, io::Random& random, int32_t node_id) {
  const auto bytes = files.read(kMetaFileName, model::kMetaFileSizeMax);
  if (!bytes && bytes.error().code == ENOENT) {
    CHECK_OK(check_new_directory(disk, files.directory()));
    const Meta fresh{.cluster_id = random_uuid(random).to_string(), .node_id = node_id};
    CHECK_OK(store_meta(files, fresh));
    return fresh;
  }
  if (!bytes) return std::unexpected(bytes.error());
  TRY(Meta meta, decode_meta(base::as_text(*bytes), files.path(kMetaFileName)));
  if (meta.node_id != node_id) {
    return base::error(0, fmt::format("{} belongs to node {}, but node.id is {}", files.directory(),
                                      meta.node_id, node_id));
  }
  return meta;
}

base::Status store_meta(FileIo& files, const Meta& meta) {
  return files.replace(kMetaFileName, base::as_bytes(encode_meta(meta)));
}

base::Status start_meta(FileIo& files, Meta& meta) {
  if (meta.incarnation.value() == INT32_MAX) {
    return base::error(0, fmt::format("{} was started too often", files.directory()));
  }
  meta.catalog_created = true;
  ++meta.incarnation;
  return store_meta(files, meta);
}

}  // namespace weir::catalog
