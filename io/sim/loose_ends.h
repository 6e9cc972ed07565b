#pragma once
// LooseEnds: everything on a simulated disk that a power cut at this moment may leave in one way or
// another, thing by thing: directory changes that no sync covered, sizes, and sectors with pending
// writes. Versions with equal contents are one. A caller that wants to see every state that a cut
// can leave walks over all picks: one number below outcomes()[i] for each thing i, 0 being what is
// durable now.
//
// Values of one moment: any step of the world makes them stale.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weir::io::sim {

struct SimNode;

struct LooseSector {
  uint64_t sector = 0;
  std::vector<std::array<std::byte, 512>> contents;  // distinct; the first is the durable one
};

struct LooseFile {
  std::shared_ptr<SimNode> node;
  std::vector<uint64_t> sizes;  // distinct; the first is the durable one
  std::vector<LooseSector> sectors;
};

class LooseEnds {
 public:
  using Picks = std::span<const uint32_t>;

  // How many ways each thing can go: directory changes in their order, then file by file its size
  // and its sectors. Things that can go one way only are not there.
  const std::vector<uint32_t>& outcomes() const { return outcomes_; }

 private:
  friend class SimTree;
  std::vector<uint64_t> changes_;  // of directories, by number; pick 1: it is kept
  std::vector<LooseFile> files_;   // by node id
  std::vector<uint32_t> outcomes_;
};

}  // namespace weir::io::sim
