// weir dump: segments, their ledgers, producers.snapshot.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "engine/log/file_names.h"
#include "engine/log/ledger.h"
#include "engine/log/record_batch.h"
#include "engine/log/transaction_marker.h"
#include "engine/partition/producer_state.h"
#include "io/base/crc32c.h"
#include "tools/weir/batch_reader.h"
#include "tools/weir/dump.h"
#include "tools/weir/failure.h"
#include "tools/weir/when.h"

namespace weir::tools {
namespace {

std::string_view compression_name(uint8_t bits) {
  switch (bits) {
    case 0: return "none";
    case 1: return "gzip";
    case 2: return "snappy";
    case 3: return "lz4";
    case 4: return "zstd";
    default: return "unknown";
  }
}

std::string nullable(const std::optional<std::span<const std::byte>>& bytes) {
  return bytes ? printable(*bytes) : "null";
}

void print_batch(uint64_t position, const log::BatchView& batch) {
  fmt::print("position {} size {} offsets {}..{} records {} epoch {} compression {} time {}",
             position, batch.size(), batch.base_offset().value(), batch.last_offset().value(),
             batch.record_count(), batch.leader_epoch(), compression_name(batch.compression_bits()),
             print_time(batch.max_timestamp()));
  if (batch.has_producer_id()) {
    fmt::print(" producer {} epoch {} sequence {}..{}", batch.producer_id().value(),
               batch.producer_epoch().value(), batch.base_sequence().value(),
               batch.last_sequence().value());
  }
  const auto marker = log::read_marker(batch);
  fmt::print("{}{}{}{}\n", batch.is_append_time() ? " append-time" : "",
             batch.is_transactional() ? " transactional" : "",
             batch.is_control() ? " control" : "",
             !marker ? "" : marker->commit ? " commit" : " abort");
}

bool print_records(const log::BatchView& batch) {
  return for_each_record(batch, [&](const log::Record& record) {
    fmt::print("  offset {} time {} key {} value {}\n",
               batch.base_offset().value() + record.offset_delta,
               print_time(batch.base_timestamp() + record.timestamp_delta), nullable(record.key),
               nullable(record.value));
    std::span<const std::byte> headers = record.headers;
    log::RecordHeader header;
    for (int32_t i = 0; i < record.header_count && log::read_record_header(headers, header); ++i) {
      fmt::print("    header {} = {}\n", header.key, nullable(header.value));
    }
    return true;
  });
}

}  // namespace

int dump_segment(const std::string& path, const DumpOptions& options) {
  InputFile file(path);
  int damaged = 0;
  uint64_t position = 0;
  int64_t next_offset = -1;
  while (position < file.size()) {
    const auto bytes = sound_batch(file, position);
    if (bytes.empty()) {
      if (file.is_zero_from(position)) break;
      const uint64_t resumed = next_sound_position(file, position);
      fmt::print("position {} DAMAGED: {} bytes are no sound batch\n", position,
                 resumed - position);
      ++damaged;
      position = resumed;
      continue;
    }
    const log::BatchView batch(bytes);
    const int64_t base_offset = batch.base_offset().value();
    if (next_offset >= 0 && base_offset != next_offset) {
      fmt::print("position {} note: offsets {}..{} are not here\n", position, next_offset,
                 base_offset - 1);
    }
    print_batch(position, batch);
    if (options.details && !print_records(batch)) {
      fmt::print("  DAMAGED: the records of this batch cannot be read\n");
      ++damaged;
    }
    next_offset = batch.next_offset().value();
    position += batch.size();
  }
  fmt::print("{} bytes of batches, {} bytes reserved behind them\n", position,
             file.size() - std::min<uint64_t>(position, file.size()));
  return damaged;
}

int dump_ledger(const std::string& path) {
  const std::filesystem::path name(path);
  const auto segment_name =
      log::parse_segment_name(name.filename().string(), log::kLedgerSuffix);
  if (!segment_name) fail_usage("{}: the name holds no base offset", path);
  const model::Offset base_offset = segment_name->base_offset;
  InputFile file(path);
  const auto header = file.read(0, log::kLedgerEntrySize);
  if (header.size() < log::kLedgerEntrySize || !log::Ledger::header_sound(header, base_offset)) {
    if (file.is_zero_from(0)) {
      fmt::print("empty\n");
      return 0;
    }
    fmt::print("position 0 DAMAGED: no header of a ledger of base offset {}\n",
               base_offset.value());
    return 1;
  }
  fmt::print("segment base offset {}\n", base_offset.value());
  if (segment_name->is_cleaned()) {
    fmt::print("compacted up to {} by pass {}, all below {} is clean\n",
               segment_name->next_offset.value(), segment_name->pass,
               segment_name->clean_end.value());
  }
  // Beside its segment the checksums of the data are checked too.
  const std::filesystem::path log_path =
      std::filesystem::path(name).replace_extension(log::kLogSuffix);
  const auto segment = std::filesystem::exists(log_path)
                           ? std::make_unique<InputFile>(log_path.string())
                           : nullptr;
  int damaged = 0;
  uint64_t position = log::kLedgerEntrySize;
  for (; position + log::kLedgerEntrySize <= file.size(); position += log::kLedgerEntrySize) {
    const auto group = log::Ledger::decode_entry(file.read(position, log::kLedgerEntrySize));
    if (!group) break;
    const char* data = "not checked";
    if (segment && (group->flags & log::Group::kQuarantined) == 0) {
      const auto bytes = segment->read(group->position, group->size);
      const bool sound = bytes.size() == group->size && base::crc32c(bytes) == group->checksum;
      data = sound ? "sound" : "DAMAGED";
      damaged += sound ? 0 : 1;
    }
    fmt::print("offsets {}..{} position {} size {} batches {} epoch {} time {} data {}{}\n",
               group->base_offset.value(), group->next_offset.value() - 1, group->position,
               group->size, group->batch_count, group->leader_epoch,
               print_time(group->max_timestamp), data,
               (group->flags & log::Group::kQuarantined) != 0 ? " quarantined" : "");
  }
  if (!file.is_zero_from(position)) {
    fmt::print("position {} DAMAGED: no entry; what lies behind is found by walking the segment\n",
               position);
    ++damaged;
  }
  return damaged;
}

int dump_producer_snapshot(const std::string& path) {
  InputFile file(path);
  partition::ProducerState state;
  model::Offset next_offset{0};
  std::vector<log::EpochStart> epochs;
  if (!state.decode(file.read_all(), next_offset, epochs)) {
    fmt::print("DAMAGED: not a producer snapshot, or its checksum is wrong\n");
    return 1;
  }
  fmt::print("up to offset {}, {} producers\n", next_offset.value(), state.size());
  for (const log::EpochStart& start : epochs) {
    fmt::print("leader epoch {} from offset {}\n", start.epoch, start.start_offset.value());
  }
  std::vector<const partition::ProducerEntry*> sorted;
  for (const auto& [id, entry] : state.entries()) sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, [](const auto* entry) { return entry->producer_id.value(); });
  for (const partition::ProducerEntry* entry : sorted) {
    fmt::print("producer {} epoch {} last append {}\n", entry->producer_id.value(),
               entry->epoch.value(), print_time(entry->last_append_ms));
    for (size_t i = 0; i < entry->batch_count; ++i) {
      const partition::ProducerBatch& batch = entry->batches[i];
      fmt::print("  sequences {}..{} offsets {}..{}\n", batch.first_sequence.value(),
                 batch.last_sequence.value(), batch.base_offset.value(),
                 batch.last_offset.value());
    }
  }
  return 0;
}

}  // namespace weir::tools
