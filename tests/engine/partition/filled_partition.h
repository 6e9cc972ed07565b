#pragma once
// FilledPartition: a partition of one producer whose process is killed when all of it is proved
// durable, so that bytes of its files may be changed, and every batch it was given.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {

class FilledPartition : public testing::Test {
 protected:
  FilledPartition() : world(1, options()) {}
  static WorldOptions options() {
    WorldOptions all;
    all.settings.segment_bytes = 256_KiB;
    return all;
  }
  void SetUp() override { ASSERT_TRUE(world.start()); }

  // Each batch in a commit of its own, with the sequence that is its offset.
  void fill(int count, size_t value_size) {
    for (int i = 0; i < count; ++i) {
      const int32_t sequence = static_cast<int32_t>(next_);
      auto batch = log::make_batch(1, 1000 + next_, value_size,
                                   {.producer_id = model::ProducerId(1),
                                    .producer_epoch = model::ProducerEpoch(0),
                                    .base_sequence = model::Sequence(sequence)});
      ASSERT_EQ(world.append(batch), next_++);
      batches.push_back(std::move(batch));
    }
  }
  void prove_and_kill() {
    world.sim().run_for(200'000'000);
    world.crash();
  }
  void check_goes_on() {
    const int64_t before = next_;
    ASSERT_NO_FATAL_FAILURE(fill(2, 500));
    EXPECT_EQ(world.append(batches[static_cast<size_t>(before) - 1]), before - 1)
        << "a retry is known";
  }

  PartitionWorld world;
  std::vector<log::Buffer> batches;
  int64_t next_ = 0;
};

}  // namespace weir::partition
