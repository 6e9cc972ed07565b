#pragma once
// SimTree: the directories of a simulated disk. Each directory has the entries that are seen now
// and the entries that would survive a power cut; between them lie the changes that no
// sync_directory covered.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/base/random.h"
#include "io/sim/faults.h"
#include "io/sim/loose_ends.h"
#include "io/sim/sim_file.h"

namespace weir::io::sim {

struct SimNode;
// OpenOptions::locked: kept alive by the open handle and by every request made through it.
struct FileLock {};
using SimNodePtr = std::shared_ptr<SimNode>;

// A file or a directory; it lives as long as an entry or an open handle refers to it.
struct SimNode {
  bool is_directory = false;
  uint64_t id = 0;
  int64_t modified_ms = 0;
  SimFile file;
  std::weak_ptr<FileLock> lock;  // alive: someone holds it
  std::map<std::string, SimNodePtr, std::less<>> visible;
  std::map<std::string, SimNodePtr, std::less<>> durable;
};

class SimTree {
 public:
  SimTree();

  SimNodePtr find(std::string_view path) const;  // null when missing
  // The directory that holds the path's last name, or null; `name` views the path.
  SimNodePtr parent(std::string_view path, std::string_view& name) const;

  // Each returns 0 or -errno, changes what is visible, and leaves a change to be synced. The change
  // counts as complete once its operation is: complete(change, sequence).
  int create(std::string_view path, bool is_directory, int64_t now_ms);
  int rename(std::string_view from, std::string_view to);
  int remove(std::string_view path);
  uint64_t last_change() const { return next_change_ - 1; }
  void complete(uint64_t change, uint64_t sequence);

  // A sync of directory `path` (or, for ext4_ordered, of any file) that was submitted after
  // completion number `sequence`.
  int sync(std::string_view path, uint64_t sequence);
  void sync_all(uint64_t sequence);

  // Bytes that the files which are reachable now occupy.
  uint64_t occupied() const { return occupied(*root_); }
  // Visits every file that is reachable now, in the order of paths.
  template <class Function>
  void for_each_file(Function function) const {
    visit(*root_, "", function);
  }

  void power_cut(const PowerCut& cut, Persistence persistence, base::RandomStream& random);

  // A power cut whose outcome is chosen (Persistence::posix_minimal), and the hash of the paths and
  // bytes that it would leave; the latter leaves all as it is.
  LooseEnds loose_ends() const;
  void power_cut_as(const LooseEnds& ends, LooseEnds::Picks picks);
  uint64_t hash_as(const LooseEnds& ends, LooseEnds::Picks picks);

 private:
  struct Entry {
    SimNodePtr directory;
    std::string name;
    SimNodePtr node;  // null: the entry goes away
  };
  struct Change {
    std::vector<Entry> entries;  // applied together; the first names the directory to sync
    uint64_t completed_at = 0;
  };
  using NameSet = std::set<std::pair<const SimNode*, std::string>>;  // membership only

  void record(std::vector<Entry> entries);
  static uint64_t occupied(const SimNode& node);
  static void settle(const Change& change);
  void settle_picked(const LooseEnds& ends, LooseEnds::Picks& picks);  // takes its picks off
  static void forget_unsynced(SimNode& node, const PowerCut& cut, base::RandomStream& random);
  template <class Function>
  static void visit(const SimNode& directory, const std::string& path, Function& function) {
    for (const auto& [name, node] : directory.visible) {
      const std::string full = path + "/" + name;
      if (node->is_directory) visit(*node, full, function);
      else function(full, *node);
    }
  }

  SimNodePtr root_;
  uint64_t next_node_ = 1;
  uint64_t next_change_ = 1;
  std::map<uint64_t, Change> pending_;
};

}  // namespace weir::io::sim
