// weir dump: a journal. Records are listed by sequence, as a start would take them.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/journal/record.h"
#include "io/disk.h"
#include "tools/weir/dump.h"

namespace weir::tools {
namespace {

using journal::Entry;
using journal::EntryKind;
using journal::RecordFault;

struct Found {
  journal::RecordHeader header;
  std::vector<Entry> entries;
  std::vector<Entry> echo;
  std::vector<bool> sound;  // payload, by entry
};

std::string_view kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::inline_data: return "inline";
    case EntryKind::extent: return "extent";
    case EntryKind::carry: return "carry";
  }
  return "unknown";
}

// Prints the copies; what two of them agree on.
std::optional<journal::Superblock> dump_superblocks(InputFile& file, int& damaged) {
  std::vector<journal::Superblock> sound;
  for (uint32_t copy = 0; copy < journal::kSuperblockCopies; ++copy) {
    const auto block = file.read(copy * io::kBlockSize, io::kBlockSize);
    journal::Superblock superblock;
    if (block.size() == io::kBlockSize && journal::decode_superblock(block, copy, superblock)) {
      sound.push_back(superblock);
    } else {
      fmt::print("superblock copy {} DAMAGED\n", copy);
      ++damaged;
    }
  }
  for (size_t i = 0; i + 1 < sound.size(); ++i) {
    const journal::Superblock& first = sound[i];
    const journal::Superblock& second = sound[i + 1];
    if (first.log_id != second.log_id || first.generation != second.generation) continue;
    fmt::print("journal of core {} of {}, generation {}\n", first.core, first.core_count,
               first.generation);
    return first;
  }
  return std::nullopt;
}

// Every sound record, block by block: a newer one may begin inside the place of an older one.
std::map<uint64_t, Found> find_records(InputFile& file, const journal::Superblock& superblock,
                                       uint64_t& blank_blocks) {
  std::map<uint64_t, Found> records;
  for (uint64_t at = journal::kRecordsBegin; at + io::kBlockSize <= file.size();
       at += io::kBlockSize) {
    Found found;
    const auto fault = journal::decode_header(file.read(at, io::kBlockSize), superblock.log_id,
                                              superblock.generation, at, found.header);
    if (fault == RecordFault::blank) ++blank_blocks;
    if (fault != RecordFault::none) continue;
    const auto bytes = file.read(at, found.header.size);
    if (bytes.size() < found.header.size) continue;
    const auto tables = journal::decode_record(bytes, found.header, found.entries, found.echo);
    if (tables != RecordFault::none) continue;
    for (const Entry& entry : found.entries) {
      found.sound.push_back(journal::payload_sound(bytes, entry));
    }
    records.insert_or_assign(found.header.sequence, std::move(found));
  }
  return records;
}

void print_entry(const Entry& entry, bool sound) {
  fmt::print("  topic {} partition {} {} epoch {} segment {} offsets [{}, {}) bytes [{}, {}) "
             "payload {}{}\n",
             entry.key.topic.value(), entry.key.index.value(), kind_name(entry.kind),
             entry.leader_epoch.value(), entry.segment_base_offset.value(),
             entry.base_offset.value(), entry.next_offset.value(), entry.begin, entry.end,
             entry.payload_size, sound ? "" : " DAMAGED");
}

void print_record(const Found& found) {
  const journal::RecordHeader& header = found.header;
  fmt::print("sequence {} position {} size {} entries {} durable {} tail {}\n", header.sequence,
             header.position, header.size, header.entry_count, header.durable_sequence,
             header.tail_sequence);
}

}  // namespace

int dump_journal(const std::string& path, const DumpOptions& options) {
  InputFile file(path);
  int damaged = 0;
  const auto superblock = dump_superblocks(file, damaged);
  if (!superblock) {
    fmt::print("DAMAGED: fewer than two superblock copies agree\n");
    return damaged + 1;
  }
  uint64_t blank_blocks = 0;
  const auto records = find_records(file, *superblock, blank_blocks);
  uint64_t acknowledged = 0;
  for (const auto& [sequence, found] : records) {
    acknowledged = std::max(acknowledged, found.header.durable_sequence);
  }
  const uint64_t tail = records.empty() ? 0 : records.rbegin()->second.header.tail_sequence;
  const Found* previous = nullptr;
  for (const auto& [sequence, found] : records) {
    const bool needed = sequence >= tail;
    if (needed && previous != nullptr && previous->header.sequence + 1 != sequence) {
      const bool lost = previous->header.sequence + 1 <= acknowledged;
      fmt::print("sequences {}..{} {}\n", previous->header.sequence + 1, sequence - 1,
                 lost ? "DAMAGED: acknowledged and not here" : "are not here");
      damaged += lost ? 1 : 0;
    }
    print_record(found);
    for (size_t i = 0; i < found.entries.size(); ++i) {
      if (needed && !found.sound[i]) ++damaged;
      if (options.details || (needed && !found.sound[i])) {
        print_entry(found.entries[i], found.sound[i]);
      }
    }
    previous = &found;
  }
  fmt::print("{} records; needed from sequence {}; acknowledged up to {}; {} blank blocks\n",
             records.size(), tail, acknowledged, blank_blocks);
  return damaged;
}

}  // namespace weir::tools
