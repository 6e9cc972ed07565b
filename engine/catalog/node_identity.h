#pragma once
// data/meta.json: who this node is, and what its journals are. Readable for people, checked by a
// CRC over everything else in it (the object without "crc32c", printed without spaces, keys
// sorted).
//
//   {
//     "catalog_created": true,
//     "cluster_id": "5L6g3nShT-eMCtK--X86sw",
//     "crc32c": 2868461023,
//     "format_version": 1,
//     "incarnation": 3,
//     "journal_core_count": 2,
//     "journal_generation": 1,
//     "node_id": 1
//   }
//
// At a start, in this order: load_meta, open_catalog (IfMissing::create unless catalog_created),
// recovery, then start_meta: one more incarnation, durable before anything is written in it
// (RELIABILITY L10). A fresh directory is stored once before the catalog is created, so that a data
// directory always says that it is one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/file_io.h"
#include "engine/model/ids.h"
#include "io/base/result.h"
#include "io/base/uuid.h"
#include "io/random.h"

namespace weir::catalog {

inline constexpr std::string_view kMetaFileName = "meta.json";
inline constexpr int64_t kDataFormatVersion = 1;

struct Meta {
  std::string cluster_id;  // 22 characters
  int32_t node_id = 1;
  model::Incarnation incarnation{-1};  // of the last start; -1: never started
  bool catalog_created = false;        // catalog.log was made and must be there
  int64_t journal_generation = 0;      // both set by recovery
  int32_t journal_core_count = 0;

  bool operator==(const Meta&) const = default;
};

std::string encode_meta(const Meta& meta);
base::Result<Meta> decode_meta(std::string_view text, std::string_view path);

// The meta of the directory. A directory with nothing in it but the lock is made a data directory
// of a new cluster; one with other things and no meta.json is refused. node_id: the configured one;
// it must be what the directory has.
base::Result<Meta> load_meta(FileIo& files, io::Disk& disk, io::Random& random, int32_t node_id);

base::Status store_meta(FileIo& files, const Meta& meta);

// Counts this start and stores everything.
base::Status start_meta(FileIo& files, Meta& meta);

}  // namespace weir::catalog
