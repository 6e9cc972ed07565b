#pragma once
// Opening data/catalog.log at start: reads, decides about the end, compacts, hands over to the
// writer. Straight-line code on core 0, before any core serves.

#include <string>

#include "engine/catalog/catalog_log.h"
#include "engine/catalog/file_io.h"
#include "io/base/result.h"
#include "io/disk.h"
#include "io/random.h"

namespace weir::catalog {

// An open log; the file is core 0's and goes to CatalogWriter.
struct CatalogStore {
  io::FileId file = io::kNoFile;
  LogTail tail;
  CatalogImage image;
};

// May `catalog.log` be missing? Only before the directory's meta.json says that it was made
// (node_identity: catalog_created); a catalog that disappears later is never replaced by an empty
// one.
enum class IfMissing : uint8_t { create, refuse };

base::Result<CatalogStore> open_catalog(FileIo& files, io::Random& random, IfMissing if_missing);

// 16 random bytes that are a valid topic id and no valid option of a command line ("-" in front).
base::Uuid random_uuid(io::Random& random);

}  // namespace weir::catalog
