#include "tests/sim/rot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "engine/journal/record.h"

namespace weir::simtest {
namespace {

using Bytes = std::vector<std::byte>;

struct Found {
  journal::RecordHeader header;
  std::vector<journal::Entry> entries;
  std::vector<journal::Entry> echo;
};

// "/data/topics/<topic>-<partition>.<serial>/..." -> names by serial and partition.
std::map<std::pair<uint32_t, int32_t>, TopicPartition> partition_names(
    const std::vector<std::string>& files) {
  std::map<std::pair<uint32_t, int32_t>, TopicPartition> names;
  for (const std::string& path : files) {
    constexpr std::string_view kTopics = "/data/topics/";
    if (!path.starts_with(kTopics)) continue;
    const std::string name = path.substr(kTopics.size(), path.rfind('/') - kTopics.size());
    const size_t dot = name.rfind('.');
    const size_t dash = name.rfind('-', dot);
    if (dot == std::string::npos || dash == std::string::npos) continue;
    const auto serial = static_cast<uint32_t>(std::strtoul(name.c_str() + dot + 1, nullptr, 10));
    const auto index = static_cast<int32_t>(std::strtol(name.c_str() + dash + 1, nullptr, 10));
    names[{serial, index}] = {name.substr(0, dash), index};
  }
  return names;
}

std::map<uint64_t, Found> find_records(const Bytes& image) {
  std::map<uint64_t, Found> found;
  const std::span<const std::byte> bytes(image);
  journal::Superblock superblock;
  if (image.size() < journal::kRecordsBegin ||
      !journal::decode_superblock(bytes.first(io::kBlockSize), 0, superblock)) {
    return found;
  }
  for (uint64_t at = journal::kRecordsBegin; at + io::kBlockSize <= image.size();
       at += io::kBlockSize) {
    Found record;
    const auto fault =
        journal::decode_header(bytes.subspan(at, io::kBlockSize), superblock.log_id,
                               superblock.generation, at, record.header);
    if (fault != journal::RecordFault::none || record.header.size > image.size() - at) continue;
    const auto whole = bytes.subspan(at, record.header.size);
    if (journal::decode_record(whole, record.header, record.entries, record.echo) ==
        journal::RecordFault::none) {
      found.insert_or_assign(record.header.sequence, std::move(record));
    }
  }
  return found;
}

// A carried block holds bytes of offsets that its entry does not name: such a record is left alone.
bool names_its_offsets(const Found& record) {
  return !record.entries.empty() && std::ranges::all_of(record.entries, [](const auto& entry) {
    return entry.kind != journal::EntryKind::carry && entry.next_offset > entry.base_offset;
  });
}

std::vector<std::string> journals(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& path : files) {
    if (path.starts_with("/data/journal/") && path.ends_with(".journal")) paths.push_back(path);
  }
  return paths;
}

}  // namespace

std::vector<RotRange> inject_rot(io::sim::SimWorld& world, base::RandomStream& random,
                                 std::string& what) {
  const std::vector<std::string> files = world.disk().files();
  const auto names = partition_names(files);
  std::vector<std::pair<std::string, Found>> candidates;
  for (const std::string& path : journals(files)) {
    const auto records = find_records(world.disk().content(path));
    if (records.empty()) continue;
    uint64_t acknowledged = 0;
    for (const auto& [sequence, record] : records) {
      acknowledged = std::max(acknowledged, record.header.durable_sequence);
    }
    const uint64_t tail = records.rbegin()->second.header.tail_sequence;
    for (const auto& [sequence, record] : records) {
      // The one behind it must be whole: rot and a torn write at once are more than is promised.
      const bool live =
          sequence >= tail && sequence <= acknowledged && records.contains(sequence + 1);
      if (live && names_its_offsets(record)) candidates.emplace_back(path, record);
    }
  }
  if (candidates.empty()) return {};
  const auto& [path, record] = candidates[random.below(candidates.size())];
  std::vector<RotRange> ranges;
  for (const journal::Entry& entry : record.entries) {
    const auto name = names.find({entry.key.topic.value(), entry.key.index.value()});
    // Deleted: nothing to compare with. Internal: a group falls back to an older commit.
    if (name == names.end() || name->second.topic.starts_with("__")) return {};
    ranges.push_back({name->second, entry.base_offset.value(), entry.next_offset.value()});
  }
  const uint64_t position = record.header.position + random.below(record.header.size);
  world.disk().corrupt(path, position, static_cast<std::byte>(1u << random.below(8)));
  what = fmt::format("bit flipped at {} of {}, record {}", position, path,
                     record.header.sequence);
  return ranges;
}

}  // namespace weir::simtest
