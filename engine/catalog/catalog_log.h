#pragma once
// data/catalog.log: the changes of the catalog as records; format to the byte, reading and making.
// Moving bytes is catalog_store.h (at start) and catalog_writer.h (while serving).
//
// All integers are little-endian. The file begins with a header of 64 bytes:
//
//    0  8  magic "WEIRCLOG"
//    8  4  format version, 1
//   12  4  size of this header, 64
//   16 16  log id: random, of this file only, never shown to clients
//   32  8  sequence of the first record
//   40 20  zero
//   60  4  CRC-32C of bytes 0-59
//
// Records follow, each at a multiple of 8:
//
//    0  4  magic "CREC"
//    4  4  CRC-32C of the log id, then of bytes 8 to the end of the payload
//    8  8  position of this record in the file
//   16  8  sequence, one more than the record before
//   24  4  size of the payload
//   28  4  CRC of the record before; of the first record: CRC of the file header
//   32  …  payload: changes one after the other (change.h); then zeros up to a multiple of 8
//
// One record is one write, and one group of changes that happens whole or not at all. The next
// record is written only when this one is durable. A record without changes is a frontier: it says
// that what is before it was durable and acknowledged; the next record takes its place.
//
// Reading (RELIABILITY L4): the first record that does not check out ends the log. If any valid
// record lies behind it, it was acknowledged once: damage, refused with instructions. If none does,
// it is the torn end of a write nobody was told about, and is cut.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/catalog/change.h"
#include "io/base/result.h"

namespace weir::catalog {

inline constexpr std::string_view kCatalogFileName = "catalog.log";
inline constexpr uint32_t kCatalogFormatVersion = 1;
inline constexpr size_t kCatalogHeaderSize = 64;
inline constexpr size_t kCatalogRecordHeaderSize = 32;
inline constexpr size_t kCatalogAlignment = 8;

using LogId = std::array<std::byte, 16>;

// Where the next record goes, and what ties it to the one before.
struct LogTail {
  LogId log_id{};
  uint64_t position = kCatalogHeaderSize;
  uint64_t sequence = 1;
  uint32_t previous_crc = 0;

  bool operator==(const LogTail&) const = default;
};

// Appends the file header of a new log to `out` and gives the place of its first record.
LogTail encode_log_header(const LogId& log_id, uint64_t first_sequence,
                          std::vector<std::byte>& out);

// Appends a record with these changes (none: a frontier) to `out`. The tail after it is returned; a
// frontier is not part of the log, so after one the old tail still holds.
LogTail encode_record(const LogTail& tail, std::span<const Change> changes,
                      std::vector<std::byte>& out);

// What a whole file says.
struct LogContent {
  CatalogImage image;
  LogTail tail;
  uint64_t valid_size = 0;  // header, records and frontier; less than the file's size: a torn end
};

// Fails where the file is damaged or not ours; `path` is for the message.
base::Result<LogContent> read_log(std::span<const std::byte> file, std::string_view path);

// A whole new file with this image.
std::vector<std::byte> encode_log(const LogId& log_id, uint64_t first_sequence,
                                  const CatalogImage& image);

}  // namespace weir::catalog
