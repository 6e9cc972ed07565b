#include "engine/catalog/placement.h"

#include "engine/catalog/catalog.h"
#include "io/base/assert.h"

namespace weir::catalog {

io::CoreIndex home_core(const Topic& topic, model::PartitionIndex partition, uint16_t core_count) {
  ASSERT(partition.value() >= 0 && core_count > 0, "partition {}", partition.value());
  const uint64_t place = uint64_t{topic.first_core} + static_cast<uint32_t>(partition.value());
  return io::CoreIndex(static_cast<uint16_t>(place % core_count));
}

uint32_t Placement::place(int32_t partition_count) {
  ASSERT(partition_count > 0 && core_count_ > 0, "{} partitions", partition_count);
  const auto first = static_cast<uint32_t>(dealt_ % core_count_);
  dealt_ += static_cast<uint32_t>(partition_count);
  return first;
}

}  // namespace weir::catalog
