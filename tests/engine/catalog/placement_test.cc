// Placement: even over all cores, a function of catalog order and core count alone.
#include "engine/catalog/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/catalog/catalog.h"

namespace weir::catalog {
namespace {

Change topic_change(uint32_t serial, int32_t partitions) {
  Change change;
  change.kind = ChangeKind::create_topic;
  change.serial = model::TopicSerial(serial);
  change.id.bytes[0] = static_cast<std::byte>(serial);
  change.name = "t" + std::to_string(serial);
  change.partition_count = partitions;
  return change;
}

std::vector<int> partitions_per_core(const Catalog& catalog, uint16_t cores) {
  std::vector<int> counts(cores);
  for (const Topic& topic : catalog.topics()) {
    for (int32_t i = 0; i < topic.partition_count; ++i) {
      ++counts[catalog.home_core(topic, model::PartitionIndex(i)).value()];
    }
  }
  return counts;
}

TEST(PlacementTest, PartitionsFillTheCoresEvenly) {
  for (const uint16_t cores : std::vector<uint16_t>{1, 2, 3, 7, 64}) {
    const Settings settings;
    Catalog catalog(settings, cores);
    for (uint32_t serial = 1; serial <= 40; ++serial) {
      catalog.create(topic_change(serial, static_cast<int32_t>(serial % 5 + 1)));
    }
    const auto counts = partitions_per_core(catalog, cores);
    const auto [least, most] = std::ranges::minmax(counts);
    EXPECT_LE(most - least, 1) << cores;
  }
}

TEST(PlacementTest, RestartWithTheSameCatalogPlacesTheSame) {
  const Settings settings;
  Catalog catalog(settings, 3);
  for (uint32_t serial = 1; serial <= 9; ++serial) catalog.create(topic_change(serial, 2));
  catalog.remove(model::TopicSerial(4));
  const Catalog replica(settings, 3, catalog.image());
  const Catalog other(settings, 3, replica.image());
  for (const Topic& topic : replica.topics()) {
    EXPECT_EQ(topic.first_core, other.find(topic.name)->first_core);
    EXPECT_EQ(topic.id, catalog.find(topic.serial)->id);
  }
}

TEST(PlacementTest, AddedPartitionsDoNotMoveOldOnes) {
  const Settings settings;
  Catalog catalog(settings, 4);
  catalog.create(topic_change(1, 3));
  const Topic& topic = *catalog.find("t1");
  std::vector<io::CoreIndex> before;
  for (int i = 0; i < 3; ++i) before.push_back(catalog.home_core(topic, model::PartitionIndex(i)));
  Change more;
  more.kind = ChangeKind::set_partition_count;
  more.serial = topic.serial;
  more.partition_count = 9;
  EXPECT_EQ(catalog.set_partition_count(more), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(catalog.home_core(topic, model::PartitionIndex(i)), before[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(catalog.partition_count(), 9);
}

}  // namespace
}  // namespace weir::catalog
