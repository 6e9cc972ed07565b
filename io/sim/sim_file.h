#pragma once
// SimFile: one simulated file (an inode): what readers see now, what would survive a power cut for
// sure, and the changes between the two.
//
// A change lives from its submission until it is durable. Visible content changes when it is
// applied; a sync makes durable exactly the changes whose completion was seen before it was
// submitted. At a power cut every 512-byte sector independently takes any of its versions: durable,
// or after the first k of the pending writes that touch it; torn sectors turn to garbage. The size
// takes any pending value.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "io/base/random.h"
#include "io/disk.h"
#include "io/sim/sparse_bytes.h"

namespace weir::io::sim {

inline constexpr uint64_t kSectorSize = 512;

struct LooseSector;

// How a power cut treats what was not synced; drawn once for each cut.
struct PowerCut {
  double keep = 0.5;          // chance that something unsynced made it
  bool whole_writes = false;  // versions stand or fall with their write, not sector by sector
  double torn = 0;            // share of unsynced sectors that turn to garbage
};

class SimFile {
 public:
  using ChangeId = uint64_t;

  uint64_t size() const { return size_; }
  uint64_t durable_size() const { return durable_size_; }
  bool has_pending() const { return !pending_.empty(); }
  // Bytes the file occupies: the largest size it had since its durable size was last certain.
  uint64_t occupied() const;

  // Reads what is visible; `direct` reads see the medium where a failed flush left the cache ahead
  // of it. Returns how many bytes there were.
  size_t read(uint64_t position, std::span<std::byte> into, bool direct) const;

  // A write or resize that was submitted; `id` grows with each.
  void begin_write(ChangeId id, uint64_t position, std::span<const Slice> pieces);
  void begin_resize(ChangeId id, uint64_t size, bool only_grow);
  // The data of a write that has not been dropped equals `now` (the caller's buffer was left
  // alone).
  bool same_data(ChangeId id, std::span<const Slice> now) const;
  void apply(ChangeId id, uint64_t size_done);  // visible now; short writes keep their first bytes
  void apply_some_sectors(ChangeId id, base::RandomStream& random);  // a write that failed with EIO
  void complete(ChangeId id, uint64_t sequence);  // `sequence` of completions, from 1
  void drop(ChangeId id);                         // had no effect at all
  void make_durable(ChangeId id, uint64_t submitted_at);  // a completed write with Durability

  // A sync that was submitted after completion number `sequence`.
  void sync(uint64_t sequence);
  void fail_sync(uint64_t sequence, base::RandomStream& random);

  void power_cut(const PowerCut& cut, base::RandomStream& random);
  void corrupt(uint64_t position, std::byte mask);  // on the medium and in every cache

  // A power cut whose outcome is chosen (loose_ends.h): what may come out of it; the file with that
  // size and those sectors, sorted; its hash if it were so.
  using SectorContent = std::pair<uint64_t, const std::array<std::byte, kSectorSize>*>;
  std::vector<uint64_t> loose_sizes() const;
  std::vector<LooseSector> loose_sectors() const;
  void settle_as(uint64_t size, std::span<const SectorContent> contents);
  uint64_t hash_as(uint64_t size, std::span<const SectorContent> contents) const;

 private:
  struct Change {
    uint64_t position = 0;
    uint64_t size = 0;
    std::vector<std::byte> data;         // empty: zeroes
    std::optional<uint64_t> resize;      // the new size, instead of a write
    bool only_grow = false;
    bool applied = false;
    uint64_t completed_at = 0;           // 0: in flight
    std::set<uint64_t> dropped_sectors;  // superseded or lost
    std::span<const std::byte> piece(uint64_t from, uint64_t size) const;
  };

  Change& change(ChangeId id);
  void settle(const Change& change);  // into the durable content
  static void put(SparseBytes& to, const Change& change, uint64_t position, uint64_t size);
  void supersede(const Change& by, uint64_t submitted_at);
  template <class Function>
  static void for_each_sector(const Change& change, Function function);

  SparseBytes visible_;
  SparseBytes durable_;
  uint64_t size_ = 0;
  uint64_t durable_size_ = 0;
  std::map<ChangeId, Change> pending_;
  std::set<uint64_t> lost_sectors_;  // visible in the cache, not on the medium, never will be
};

// Calls function(sector, position, size) for the part of each live sector that the write covers.
template <class Function>
void SimFile::for_each_sector(const Change& change, Function function) {
  const uint64_t end = change.position + change.size;
  for (uint64_t from = change.position; from < end;) {
    const uint64_t sector = from / kSectorSize;
    const uint64_t to = std::min(end, (sector + 1) * kSectorSize);
    if (!change.dropped_sectors.contains(sector)) function(sector, from, to - from);
    from = to;
  }
}

}  // namespace weir::io::sim
