// What a power cut may leave, thing by thing: collected, hashed and carried out.
#include "io/sim/loose_ends.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "io/base/assert.h"
#include "io/sim/sim_directory.h"

namespace weir::io::sim {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

// Zeroes hash to 0, so that what was never written counts for nothing.
uint64_t sector_hash(uint64_t sector, std::span<const std::byte> bytes) {
  if (all_zero(bytes)) return 0;
  uint64_t hash = mix(0, sector + 1);
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = mix(hash, word);
  }
  return hash;
}

uint64_t name_hash(uint64_t hash, std::string_view name) {
  for (const char letter : name) hash = mix(hash, static_cast<unsigned char>(letter));
  return mix(hash, name.size());
}

// Takes the picks of a file's things off `picks`, in the order of LooseEnds::outcomes().
struct FilePicks {
  FilePicks(const LooseFile& file, LooseEnds::Picks& picks) {
    const auto next = [&] {
      const uint32_t pick = picks.front();
      picks = picks.subspan(1);
      return pick;
    };
    size = file.sizes[file.sizes.size() > 1 ? next() : 0];
    for (const LooseSector& sector : file.sectors) {
      contents.emplace_back(sector.sector, &sector.contents[next()]);
    }
  }
  uint64_t size = 0;
  std::vector<std::pair<uint64_t, const std::array<std::byte, kSectorSize>*>> contents;
};

}  // namespace

// --- a file --------------------------------------------------------------------------------------

std::vector<uint64_t> SimFile::loose_sizes() const {
  std::vector<uint64_t> sizes{durable_size_};
  uint64_t last = durable_size_;
  for (const auto& [id, change] : pending_) {
    last = change.resize ? *change.resize : std::max(last, change.position + change.size);
    if (std::ranges::find(sizes, last) == sizes.end()) sizes.push_back(last);
  }
  return sizes;
}

std::vector<LooseSector> SimFile::loose_sectors() const {
  struct Versions {
    std::array<std::byte, kSectorSize> last;
    LooseSector all;
  };
  std::map<uint64_t, Versions> sectors;
  for (const auto& [id, change] : pending_) {
    if (change.resize) continue;
    for_each_sector(change, [&](uint64_t number, uint64_t from, uint64_t size) {
      const auto [found, fresh] = sectors.try_emplace(number);
      Versions& versions = found->second;
      if (fresh) {
        durable_.read(number * kSectorSize, versions.last);
        versions.all = {number, {versions.last}};
      }
      std::byte* to = versions.last.data() + from % kSectorSize;
      const auto bytes = static_cast<size_t>(size);
      if (change.data.empty()) std::memset(to, 0, bytes);
      else std::memcpy(to, change.piece(from, size).data(), bytes);
      auto& contents = versions.all.contents;
      if (std::ranges::find(contents, versions.last) == contents.end()) {
        contents.push_back(versions.last);
      }
    });
  }
  std::vector<LooseSector> loose;
  for (auto& [number, versions] : sectors) {
    if (versions.all.contents.size() > 1) loose.push_back(std::move(versions.all));
  }
  return loose;
}

void SimFile::settle_as(uint64_t size, std::span<const SectorContent> contents) {
  for (const auto& [sector, bytes] : contents) durable_.write(sector * kSectorSize, *bytes);
  pending_.clear();
  lost_sectors_.clear();
  durable_.cut(size);
  durable_size_ = size_ = size;
  visible_ = durable_;
}

uint64_t SimFile::hash_as(uint64_t size, std::span<const SectorContent> contents) const {
  uint64_t hash = 0;
  std::array<std::byte, kSectorSize> bytes;
  const auto add = [&](uint64_t sector, std::array<std::byte, kSectorSize> content) {
    const uint64_t from = sector * kSectorSize;
    if (from >= size) return;
    const auto kept = static_cast<size_t>(std::min<uint64_t>(kSectorSize, size - from));
    std::memset(content.data() + kept, 0, kSectorSize - kept);
    hash ^= sector_hash(sector, content);
  };
  auto next = contents.begin();
  durable_.for_each_page([&](uint64_t position, std::span<const std::byte> page) {
    for (size_t at = 0; at < page.size(); at += kSectorSize) {
      const uint64_t sector = (position + at) / kSectorSize;
      while (next != contents.end() && next->first < sector) {  // where no page is yet
        add(next->first, *next->second);
        ++next;
      }
      if (next != contents.end() && next->first == sector) {
        add(sector, *next->second);
        ++next;
        continue;
      }
      std::memcpy(bytes.data(), page.data() + at, kSectorSize);
      add(sector, bytes);
    }
  });
  for (; next != contents.end(); ++next) add(next->first, *next->second);
  return mix(hash, size);
}

// --- the tree ------------------------------------------------------------------------------------

LooseEnds SimTree::loose_ends() const {
  std::map<uint64_t, SimNodePtr> files;
  const auto collect = [&](auto& self, const SimNodePtr& node) -> void {
    if (!node->is_directory) files.emplace(node->id, node);
    for (const auto& [name, child] : node->durable) self(self, child);
  };
  LooseEnds ends;
  collect(collect, root_);
  for (const auto& [id, change] : pending_) {
    ends.changes_.push_back(id);
    ends.outcomes_.push_back(2);
    for (const Entry& entry : change.entries) {
      if (entry.node) collect(collect, entry.node);
    }
  }
  for (const auto& [id, node] : files) {
    if (!node->file.has_pending()) continue;
    LooseFile file{node, node->file.loose_sizes(), node->file.loose_sectors()};
    if (file.sizes.size() > 1) {
      ends.outcomes_.push_back(static_cast<uint32_t>(file.sizes.size()));
    }
    for (const LooseSector& sector : file.sectors) {
      ends.outcomes_.push_back(static_cast<uint32_t>(sector.contents.size()));
    }
    ends.files_.push_back(std::move(file));
  }
  return ends;
}

// A change rests on the earlier ones to the same name.
void SimTree::settle_picked(const LooseEnds& ends, LooseEnds::Picks& picks) {
  NameSet dropped;
  for (const uint64_t id : ends.changes_) {
    const Change& change = pending_.at(id);
    bool kept = picks.front() != 0;
    picks = picks.subspan(1);
    for (const Entry& entry : change.entries) {
      kept = kept && !dropped.contains({entry.directory.get(), entry.name});
    }
    if (kept) {
      settle(change);
      continue;
    }
    for (const Entry& entry : change.entries) {
      dropped.emplace(entry.directory.get(), entry.name);
    }
  }
}

void SimTree::power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks) {
  ASSERT(picks.size() == ends.outcomes().size());
  settle_picked(ends, picks);
  pending_.clear();
  for (const LooseFile& file : ends.files_) {
    const FilePicks chosen(file, picks);
    file.node->file.settle_as(chosen.size, chosen.contents);
  }
  // What is left has nothing pending but, maybe, a cache that is ahead of the medium.
  const auto forget = [](auto& self, SimNode& node) -> void {
    if (!node.is_directory) {
      if (!node.file.has_pending()) node.file.settle_as(node.file.durable_size(), {});
      return;
    }
    node.visible = node.durable;
    for (auto& [name, child] : node.durable) self(self, *child);
  };
  forget(forget, *root_);
}

uint64_t SimTree::hash_as(const LooseEnds& ends, LooseEnds::Picks picks) {
  ASSERT(picks.size() == ends.outcomes().size());
  std::map<SimNodePtr, decltype(SimNode::durable)> before;
  for (const auto& [id, change] : pending_) {
    for (const Entry& entry : change.entries) {
      before.try_emplace(entry.directory, entry.directory->durable);
    }
  }
  settle_picked(ends, picks);
  std::map<const SimNode*, FilePicks> chosen;
  for (const LooseFile& file : ends.files_) chosen.emplace(file.node.get(), FilePicks(file, picks));
  const auto hash = [&](auto& self, const SimNode& node, uint64_t name) -> uint64_t {
    if (!node.is_directory) {
      const auto found = chosen.find(&node);
      const SimFile& file = node.file;
      return mix(name, found == chosen.end()
                           ? file.hash_as(file.durable_size(), {})
                           : file.hash_as(found->second.size, found->second.contents));
    }
    uint64_t sum = mix(name, 1);
    for (const auto& [child_name, child] : node.durable) {
      sum ^= self(self, *child, name_hash(name, child_name));
    }
    return sum;
  };
  const uint64_t result = hash(hash, *root_, 1);
  for (auto& [directory, entries] : before) directory->durable = std::move(entries);
  return result;
}

}  // namespace weir::io::sim
