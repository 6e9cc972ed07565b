// Proves P7 for every place at once: whichever single bit of a data directory turns, the start
// succeeds, nothing acknowledged is cut, no wrong byte is ever served, and what is refused is one
// write group at most.
//
// How: two partitions are filled, by small appends and by extents, over several segments, and the
// process is killed when all is proved durable. Then bit after bit of that directory is turned in a
// copy of it. FLIPS=N turns N bits drawn at random instead of some; FLIPS=all every bit in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "io/base/random.h"
#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

constexpr int32_t kPartitions = 2;
constexpr uint64_t kFlipsByDefault = 1'000;
constexpr size_t kSmall = 1'500;
constexpr size_t kLarge = 70'000;  // goes to the segment at once

WorldOptions small_world() {
  WorldOptions options;
  options.settings.segment_bytes = 128_KiB;
  options.partition_count = kPartitions;
  options.partition.flush_bytes = 32_KiB;
  return options;
}

class BitFlip : public testing::Test {
 protected:
  void SetUp() override {
    PartitionWorld world(1, small_world());
    ASSERT_TRUE(world.start());
    for (int i = 0; i < 80; ++i) {
      for (int32_t partition = 0; partition < kPartitions; ++partition) {
        const bool large = i % 20 == 7 + partition;
        auto batch = log::make_batch(1, 1000 + i, large ? kLarge : kSmall);
        ASSERT_EQ(world.append(batch, partition), i);
        batches_[partition].push_back(std::move(batch));
      }
    }
    world.sim().run_for(200'000'000);
    world.crash();
    generation_ = world.generation();
    files_ = world.files();
    for (const auto& [path, bytes] : files_) bits_ += bytes.size() * 8;
  }

  // The file that holds bit `number` of all files one behind the other, and which bit of it.
  std::pair<std::string, uint64_t> place_of(uint64_t number) const {
    for (const auto& [path, bytes] : files_) {
      if (number < bytes.size() * 8) return {path, number};
      number -= bytes.size() * 8;
    }
    return {};
  }

  // Empty, or what is wrong when that bit is turned.
  std::string judge(const std::string& path, uint64_t bit) {
    std::byte& harmed = files_.at(path)[bit / 8];
    const std::byte mask = std::byte{1} << (bit % 8);
    harmed ^= mask;
    PartitionWorld world(2, small_world());
    world.adopt(generation_, files_);
    harmed ^= mask;
    if (!world.start()) return "does not start: " + world.failure();
    uint64_t lost_bytes = 0;
    for (int32_t partition = 0; partition < kPartitions; ++partition) {
      const std::string fault = judge_partition(world, partition, lost_bytes);
      if (!fault.empty()) return fmt::format("partition {}: {}", partition, fault);
    }
    if (lost_bytes > 0) ++costly_;
    return lost_bytes > log::kGroupSize + kLarge ? fmt::format("{} bytes lost", lost_bytes) : "";
  }

  std::string judge_partition(PartitionWorld& world, int32_t partition, uint64_t& lost_bytes) {
    const auto& batches = batches_[partition];
    const auto end = static_cast<int64_t>(batches.size());
    if (world.partition(partition).high_watermark().value() != end) {
      return fmt::format("ends at {}", world.partition(partition).high_watermark().value());
    }
    for (int64_t offset = 0; offset < end; ++offset) {
      const auto& batch = batches[static_cast<size_t>(offset)];
      Read read(partition, model::Offset(offset), 1);
      if (!world.read(read)) return "a read is not answered";
      if (read.item.error == ErrorCode::kafka_storage_error) {
        lost_bytes += batch.size();
        continue;
      }
      // Offset and epoch are the broker's; all the rest is as it was sent.
      constexpr size_t kOwn = 16;
      const bool same = read.item.error == ErrorCode::none && read.bytes.size() == batch.size() &&
                        std::memcmp(read.bytes.data() + kOwn, batch.data() + kOwn,
                                    batch.size() - kOwn) == 0;
      if (!same) return fmt::format("offset {} is something else", offset);
    }
    return {};
  }

  std::vector<log::Buffer> batches_[kPartitions];
  PartitionWorld::Files files_;
  uint64_t generation_ = 0;
  uint64_t bits_ = 0;
  uint64_t costly_ = 0;  // turned bits that made something unreadable
};

TEST_F(BitFlip, IsDetectedOrHarmlessAndCostsOneGroupAtMost) {
  const char* const wish = std::getenv("FLIPS");
  const bool all = wish != nullptr && std::strcmp(wish, "all") == 0;
  uint64_t flips = kFlipsByDefault;
  if (wish != nullptr) flips = all ? bits_ : std::strtoull(wish, nullptr, 10);
  base::RandomStream random(flips, "bit flips");
  for (uint64_t i = 0; i < flips; ++i) {
    const auto [path, bit] = place_of(all ? i : random.below(bits_));
    ASSERT_EQ(judge(path, bit), "") << path << " byte " << bit / 8 << " bit " << bit % 8;
  }
  fmt::print("{} bits turned of {}, {} of them cost something\n", flips, bits_, costly_);
  EXPECT_GT(costly_, 0u);
}

}  // namespace
}  // namespace weir::partition
