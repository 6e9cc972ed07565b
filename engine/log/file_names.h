#pragma once
// Names on disk: topics/<topic>-<partition>.<serial>/<base offset, 20 digits>.log and so on.

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/ids.h"

namespace weir::log {

inline constexpr std::string_view kLogSuffix = ".log";
inline constexpr std::string_view kLedgerSuffix = ".ledger";
// An empty file whose name is a log start offset; the greatest one counts (start_marker.h).
inline constexpr std::string_view kStartSuffix = ".start";
inline constexpr std::string_view kProducerSnapshotName = "producers.snapshot";

// topics/<topic>-<partition>.<serial>: the serial tells lives of a topic apart, so that a topic
// created again never meets the files of the one before. Names too long for the file system are
// cut; the serial keeps them apart.
std::string partition_directory(std::string_view data, std::string_view topic,
                                model::PartitionKey key);
// The partition a directory name belongs to; nothing for any other name.
std::optional<model::PartitionKey> parse_partition_directory(std::string_view name);
std::string topics_directory(std::string_view data);
// What a deleted partition's directory is renamed to before its files go.
std::string deleted_directory(std::string_view data, model::PartitionKey key);
bool is_deleted_directory(std::string_view name);

std::string segment_file(std::string_view directory, model::Offset base_offset,
                         std::string_view suffix);
// The base offset of a file "<20 digits><suffix>"; nothing for any other name.
std::optional<model::Offset> parse_segment_file(std::string_view name, std::string_view suffix);

}  // namespace weir::log
