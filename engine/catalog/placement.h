#pragma once
// Placement: which core is a partition's home. Balanced and fixed for one run of the process:
// partition 0 of a topic lives on the topic's first core, the next partition on the next core,
// around. First cores are dealt out so that all partitions together fill the cores evenly: each
// topic begins where the one before it (in order of creation) ended. Every core computes the same
// from the same catalog; nothing of it is stored, so the core count may change between runs.

#include <cstdint>

#include "engine/model/ids.h"
#include "io/mailbox.h"

namespace weir::catalog {

struct Topic;

io::CoreIndex home_core(const Topic& topic, model::PartitionIndex partition, uint16_t core_count);

// Deals out first cores; one in each core's Catalog, fed in the order of the catalog log.
class Placement {
 public:
  explicit Placement(uint16_t core_count) : core_count_(core_count) {}

  uint16_t core_count() const { return core_count_; }
  // The first core of a new topic with that many partitions.
  uint32_t place(int32_t partition_count);

 private:
  uint16_t core_count_;
  uint64_t dealt_ = 0;  // partitions placed so far
};

}  // namespace weir::catalog
