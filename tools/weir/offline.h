#pragma once
// Offline: a data directory whose broker is stopped, for the commands that look after it: its lock,
// one core that runs straight-line code, and what the broker reads first at a start.

#include <functional>
#include <map>
#include <string>

#include "engine/catalog/catalog_log.h"
#include "engine/catalog/node_identity.h"
#include "engine/model/ids.h"
#include "engine/partition/recovery.h"
#include "io/core_io.h"

namespace weir::tools {

enum class Access : uint8_t {
  look,    // nothing in the directory is written, not even the lock's holder (shadow_disk.h)
  change,
};

// Without what would make other names of the same: `a/./b/` is `a/b`.
std::string normal_path(const std::string& path);

// Runs `work` on one core while the directory is locked, and throws what it throws. Failure: no
// data directory, or a broker runs in it.
void run_offline(const std::string& data, Access access,
                 const std::function<void(io::CoreIo&)>& work);

struct DataDirectory {
  std::string path;
  catalog::Meta meta;
  catalog::CatalogImage image;
  partition::KnownPartitions known;                   // directories of all partitions
  std::map<model::PartitionKey, std::string> shown;   // "<topic>-<partition>"
};
base::Result<catalog::Meta> read_meta(io::CoreIo& core, const std::string& data);
base::Result<catalog::LogContent> read_catalog(io::CoreIo& core, const std::string& data);
DataDirectory describe_directory(const std::string& data, const catalog::Meta& meta,
                                 const catalog::CatalogImage& image);

// What a start would put together of the journals in force and the files. With Access::change it is
// written as a start writes it, up to where that would make its own journals.
using RecoveredPartitions = std::map<model::PartitionKey, partition::Recovered>;
base::Result<RecoveredPartitions> recover(io::CoreIo& core, const DataDirectory& directory);

}  // namespace weir::tools
