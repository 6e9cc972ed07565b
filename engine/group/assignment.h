#pragma once
// Assignment: partitions by topic, as consumer groups (KIP-848) hand them out, and who has them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "io/base/uuid.h"

namespace weir::group {

// Partitions ascending and each once; no topic without partitions.
using Assignment = std::map<base::Uuid, std::vector<int32_t>>;

[[nodiscard]] size_t partition_count(const Assignment& assignment);
[[nodiscard]] bool contains(const Assignment& assignment, const base::Uuid& topic,
                            int32_t partition);
[[nodiscard]] bool is_subset(const Assignment& part, const Assignment& whole);
[[nodiscard]] bool intersects(const Assignment& a, const Assignment& b);
[[nodiscard]] size_t memory_size(const Assignment& assignment);  // estimated

// The partitions that members of one group hold: assigned to them, or not yet given back.
class PartitionOwners {
 public:
  void add(const Assignment& assignment);
  void remove(const Assignment& assignment);
  [[nodiscard]] bool is_owned(const base::Uuid& topic, int32_t partition) const;
  [[nodiscard]] bool empty() const { return holders_.empty(); }

 private:
  // How many hold a partition: one, unless a log says otherwise.
  std::unordered_map<base::Uuid, std::unordered_map<int32_t, uint32_t>> holders_;
};

}  // namespace weir::group
