#include "io/sim/sim_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "io/base/assert.h"

namespace weir::io::sim {
namespace {

// What a power cut decided about one sector: it takes the first `taken` of its pending versions.
struct Versions {
  uint64_t count = 0;
  uint64_t taken = 0;
  uint64_t seen = 0;
};

std::span<const std::byte> bytes_of(const Slice& piece) { return {piece.data, piece.size}; }

}  // namespace

std::span<const std::byte> SimFile::Change::piece(uint64_t from, uint64_t piece_size) const {
  return std::span(data).subspan(static_cast<size_t>(from - position),
                                 static_cast<size_t>(piece_size));
}

SimFile::Change& SimFile::change(ChangeId id) {
  const auto found = pending_.find(id);
  ASSERT(found != pending_.end());
  return found->second;
}

uint64_t SimFile::occupied() const {
  uint64_t most = std::max(size_, durable_size_);
  for (const auto& [id, change] : pending_) {
    if (change.applied) most = std::max(most, change.resize.value_or(0));
  }
  return most;
}

void SimFile::put(SparseBytes& to, const Change& change, uint64_t position, uint64_t size) {
  if (change.data.empty()) to.zero(position, size);
  else to.write(position, change.piece(position, size));
}

size_t SimFile::read(uint64_t position, std::span<std::byte> into, bool direct) const {
  if (position >= size_) return 0;
  const auto size = static_cast<size_t>(std::min<uint64_t>(into.size(), size_ - position));
  into = into.first(size);
  visible_.read(position, into);
  if (!direct) return size;
  auto lost = lost_sectors_.lower_bound(position / kSectorSize);
  for (; lost != lost_sectors_.end() && *lost * kSectorSize < position + size; ++lost) {
    const uint64_t from = std::max(*lost * kSectorSize, position);
    const uint64_t to = std::min((*lost + 1) * kSectorSize, position + size);
    durable_.read(from, into.subspan(static_cast<size_t>(from - position),
                                     static_cast<size_t>(to - from)));
  }
  return size;
}

void SimFile::begin_write(ChangeId id, uint64_t position, std::span<const Slice> pieces) {
  Change change;
  change.position = position;
  for (const Slice& piece : pieces) change.size += piece.size;
  if (!std::ranges::all_of(pieces, [](const Slice& p) { return all_zero(bytes_of(p)); })) {
    change.data.reserve(static_cast<size_t>(change.size));
    for (const Slice& piece : pieces) {
      change.data.insert(change.data.end(), piece.data, piece.data + piece.size);
    }
  }
  pending_.emplace(id, std::move(change));
}

void SimFile::begin_resize(ChangeId id, uint64_t size, bool only_grow) {
  Change change;
  change.resize = size;
  change.only_grow = only_grow;
  pending_.emplace(id, std::move(change));
}

bool SimFile::same_data(ChangeId id, std::span<const Slice> now) const {
  const Change& change = pending_.at(id);
  size_t at = 0;
  for (const Slice& piece : now) {
    const size_t size = std::min(piece.size, static_cast<size_t>(change.size) - at);
    const bool same = change.data.empty()
                          ? all_zero({piece.data, size})
                          : std::memcmp(piece.data, change.data.data() + at, size) == 0;
    if (!same) return false;
    at += size;
  }
  return at == change.size;
}

void SimFile::apply(ChangeId id, uint64_t size_done) {
  Change& change = this->change(id);
  ASSERT(!change.applied);
  change.applied = true;
  if (change.resize) {
    if (change.only_grow) change.resize = std::max(*change.resize, size_);
    if (*change.resize < size_) visible_.cut(*change.resize);
    size_ = *change.resize;
    return;
  }
  change.size = size_done;
  if (!change.data.empty()) change.data.resize(static_cast<size_t>(size_done));
  put(visible_, change, change.position, change.size);
  for (uint64_t s = change.position / kSectorSize;
       !lost_sectors_.empty() && s * kSectorSize < change.position + change.size; ++s) {
    lost_sectors_.erase(s);
  }
  size_ = std::max(size_, change.position + change.size);
}

void SimFile::apply_some_sectors(ChangeId id, base::RandomStream& random) {
  Change& change = this->change(id);
  if (!change.applied) {
    uint64_t end = 0;
    for_each_sector(change, [&](uint64_t sector, uint64_t from, uint64_t size) {
      if (random.chance(0.5)) {
        change.dropped_sectors.insert(sector);
      } else {
        put(visible_, change, from, size);
        end = from + size;
      }
    });
    change.applied = true;
    size_ = std::max(size_, end);
  }
}

void SimFile::complete(ChangeId id, uint64_t sequence) {
  Change& change = this->change(id);
  ASSERT(change.applied && change.completed_at == 0);
  change.completed_at = sequence;
  // Zeroes over what was always zero change nothing but the size: remember only that.
  const bool nothing_changed = !change.resize && change.data.empty() &&
                               durable_.untouched(change.position, change.size) &&
                               visible_.untouched(change.position, change.size);
  if (!nothing_changed) return;
  change.resize = std::max(size_, change.position + change.size);
  change.only_grow = true;
  change.size = 0;
}

void SimFile::drop(ChangeId id) { pending_.erase(id); }

void SimFile::settle(const Change& change) {
  if (change.resize) {
    uint64_t size = *change.resize;
    if (change.only_grow) size = std::max(size, durable_size_);
    if (size < durable_size_) durable_.cut(size);
    durable_size_ = size;
    return;
  }
  if (change.dropped_sectors.empty()) {
    put(durable_, change, change.position, change.size);
  } else {
    for_each_sector(change, [&](uint64_t, uint64_t from, uint64_t size) {
      put(durable_, change, from, size);
    });
  }
  durable_size_ = std::max(durable_size_, change.position + change.size);
}

// What was complete on the same sectors before `by` was submitted lies below it for good.
void SimFile::supersede(const Change& by, uint64_t submitted_at) {
  const uint64_t end = by.position + by.size;
  for (auto& [id, old] : pending_) {
    if (&old == &by || old.resize || old.completed_at == 0 || old.completed_at > submitted_at) {
      continue;
    }
    if (old.position + old.size <= by.position || old.position >= end) continue;
    for_each_sector(old, [&](uint64_t sector, uint64_t from, uint64_t size) {
      if (from >= by.position && from + size <= end) old.dropped_sectors.insert(sector);
    });
  }
}

void SimFile::make_durable(ChangeId id, uint64_t submitted_at) {
  Change& change = this->change(id);
  for (auto it = pending_.begin(); it != pending_.end();) {
    const bool earlier_size = it->second.resize && it->second.completed_at != 0 &&
                              it->second.completed_at <= submitted_at;
    if (earlier_size) settle(it->second);
    it = earlier_size ? pending_.erase(it) : std::next(it);
  }
  supersede(change, submitted_at);
  settle(change);
  pending_.erase(id);
}

void SimFile::sync(uint64_t sequence) {
  for (auto it = pending_.begin(); it != pending_.end();) {
    const Change& change = it->second;
    const bool covered = change.completed_at != 0 && change.completed_at <= sequence;
    if (covered) settle(change);
    it = covered ? pending_.erase(it) : std::next(it);
  }
}

void SimFile::fail_sync(uint64_t sequence, base::RandomStream& random) {
  for (auto& [id, change] : pending_) {
    if (change.resize || change.completed_at == 0 || change.completed_at > sequence) continue;
    for_each_sector(change, [&](uint64_t sector, uint64_t, uint64_t) {
      if (random.chance(0.5)) return;
      change.dropped_sectors.insert(sector);
      lost_sectors_.insert(sector);
    });
  }
}

void SimFile::power_cut(const PowerCut& cut, base::RandomStream& random) {
  std::unordered_map<uint64_t, Versions> sectors;
  std::vector<uint64_t> sizes{durable_size_};
  for (const auto& [id, change] : pending_) {
    sizes.push_back(change.resize ? *change.resize
                                  : std::max(sizes.back(), change.position + change.size));
    if (change.resize) continue;
    for_each_sector(change, [&](uint64_t sector, uint64_t, uint64_t) { ++sectors[sector].count; });
  }
  const uint64_t new_size =
      random.chance(cut.keep) ? sizes.back() : sizes[random.below(sizes.size())];
  for (const auto& [id, change] : pending_) {
    if (change.resize) continue;
    const bool keep_write = random.chance(cut.keep);
    for_each_sector(change, [&](uint64_t sector, uint64_t from, uint64_t size) {
      Versions& versions = sectors[sector];
      if (versions.seen == 0) {
        versions.taken = random.chance(cut.keep) ? random.between(1, versions.count) : 0;
      }
      const bool take = cut.whole_writes ? keep_write : versions.seen < versions.taken;
      if (take) put(durable_, change, from, size);
      if (++versions.seen < versions.count || !random.chance(cut.torn)) return;
      std::array<std::byte, kSectorSize> garbage;
      for (auto& byte : garbage) byte = static_cast<std::byte>(random.below(256));
      durable_.write(from, std::span(garbage).first(static_cast<size_t>(size)));
    });
  }
  pending_.clear();
  lost_sectors_.clear();
  durable_.cut(new_size);
  durable_size_ = size_ = new_size;
  visible_ = durable_;
}

void SimFile::corrupt(uint64_t position, std::byte mask) {
  ASSERT(position < size_);
  for (SparseBytes* bytes : {&visible_, &durable_}) {
    std::byte value;
    bytes->read(position, std::span(&value, 1));
    value ^= mask;
    bytes->write(position, std::span(&value, 1));
  }
}

}  // namespace weir::io::sim
