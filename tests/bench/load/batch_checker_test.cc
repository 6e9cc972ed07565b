// What a reader must notice: a wrong CRC, offsets that no batch had, a producer's batches out of
// order; and what it must not complain of: other runs, control batches, a cut answer, compaction.

#include "bench/load/batch_checker.h"

#include <gtest/gtest.h>

#include <vector>

#include "bench/load/batch_factory.h"
#include "engine/log/record_batch.h"

namespace weir::load {
namespace {

using Buffer = std::vector<std::byte>;

constexpr uint16_t kRun = 7;
constexpr uint32_t kProducer = (uint32_t{kRun} << 16) | 3;

class BatchCheckerTest : public testing::Test {
 protected:
  BatchCheckerTest() : recorder_(window_, true) {
    factory_ = *BatchFactory::make({.value_size = 100, .record_count = 2});
  }

  // Two records at the offset.
  Buffer batch(int64_t offset, uint64_t sequence, uint32_t producer = kProducer,
               int64_t intended_ns = 1000) {
    const Batch& built = factory_->batch(0, 0);
    Buffer bytes(BatchFactory::kFrontSizeMax);
    bytes.resize(stamp_front(built,
                             {.producer = producer, .sequence = sequence,
                              .intended_ns = intended_ns},
                             0, bytes));
    bytes.insert(bytes.end(), built.rest().begin(), built.rest().end());
    log::set_base_offset(bytes, model::Offset(offset));
    return bytes;
  }
  void check(BatchChecker& checker, const Buffer& bytes, int64_t now_ns = 5000) {
    checker.check(bytes, now_ns, flow_, recorder_);
  }
  Verification& found() { return recorder_.results().verification; }

  Window window_{.from_ns = 0, .to_ns = 1'000'000};
  Recorder recorder_;
  std::optional<BatchFactory> factory_;
  Flow flow_;
};

TEST_F(BatchCheckerTest, SoundBatchesAreCountedAndTimed) {
  BatchChecker checker({.partition = 1, .position = 10, .run_id = kRun});
  Buffer both = batch(10, 1, kProducer, 1000);
  const Buffer second = batch(12, 2, kProducer, 2000);
  both.insert(both.end(), second.begin(), second.end());
  check(checker, both, 5000);
  EXPECT_TRUE(found().sound()) << found().first_problem;
  EXPECT_EQ(found().batches, 2u);
  EXPECT_EQ(found().stamps, 2u);
  EXPECT_EQ(checker.position(), 14);
  EXPECT_EQ(flow_.records, 4u);
  EXPECT_EQ(flow_.bytes, both.size());
  const Histogram& latency = recorder_.results().end_to_end;
  EXPECT_EQ(latency.count(), 4u);
  EXPECT_EQ(latency.max(), 4000u);
  EXPECT_EQ(latency.percentile(0.5), 3001u);  // 3,000 to the edge of its step
}

TEST_F(BatchCheckerTest, AFlippedBitIsAWrongCrc) {
  BatchChecker checker({.position = 0, .run_id = kRun});
  Buffer bytes = batch(0, 1);
  bytes.back() ^= std::byte{1};
  check(checker, bytes);
  EXPECT_EQ(found().wrong_crc, 1u);
  EXPECT_FALSE(found().sound());
  EXPECT_NE(found().first_problem.find("offset 0"), std::string::npos);
}

TEST_F(BatchCheckerTest, AMissingOffsetIsAGapUnlessCompacted) {
  BatchChecker checker({.position = 5, .run_id = kRun});
  check(checker, batch(6, 1));
  EXPECT_EQ(found().gaps, 1u);
  EXPECT_EQ(checker.position(), 8);
  BatchChecker compacted({.position = 5, .gaps_allowed = true, .run_id = kRun});
  check(compacted, batch(60, 2));
  EXPECT_EQ(found().gaps, 1u);
}

TEST_F(BatchCheckerTest, ABatchThatBeganBeforeIsNoGapAndAnOldOneIsSkipped) {
  BatchChecker checker({.position = 1, .run_id = kRun});
  check(checker, batch(0, 1));
  EXPECT_EQ(checker.position(), 2);
  check(checker, batch(0, 1));
  EXPECT_EQ(checker.position(), 2);
  EXPECT_EQ(found().batches, 1u);
  EXPECT_TRUE(found().sound());
}

TEST_F(BatchCheckerTest, OrderIsThatOfEachProducer) {
  BatchChecker checker({.position = 0, .run_id = kRun});
  check(checker, batch(0, 5));
  check(checker, batch(2, 1, kProducer + 1));  // another producer
  check(checker, batch(4, 9));                 // others of it went to other partitions
  EXPECT_TRUE(found().sound()) << found().first_problem;
  check(checker, batch(6, 9));  // twice
  EXPECT_EQ(found().out_of_order, 1u);
  check(checker, batch(8, 2));  // back
  EXPECT_EQ(found().out_of_order, 2u);
}

TEST_F(BatchCheckerTest, OtherRunsAreNotTimed) {
  BatchChecker checker({.position = 0, .run_id = kRun});
  check(checker, batch(0, 9, (uint32_t{kRun + 1} << 16) | 3));
  check(checker, batch(2, 1));
  EXPECT_TRUE(found().sound());
  EXPECT_EQ(found().stamps, 1u);
  EXPECT_EQ(recorder_.results().end_to_end.count(), 2u);
}

TEST_F(BatchCheckerTest, ACutBatchIsLeftForTheNextFetch) {
  BatchChecker checker({.position = 0, .run_id = kRun});
  Buffer bytes = batch(0, 1);
  const Buffer next = batch(2, 2);
  bytes.insert(bytes.end(), next.begin(), next.end() - 1);
  check(checker, bytes);
  EXPECT_EQ(checker.position(), 2);
  EXPECT_TRUE(found().sound());
  check(checker, next);
  EXPECT_EQ(checker.position(), 4);
}

TEST_F(BatchCheckerTest, ControlBatchesTakeOffsetsOnly) {
  log::BatchBuilder builder({.base_offset = model::Offset(0), .control = true});
  builder.append(std::nullopt, std::nullopt, 0);
  const auto bytes = builder.finish();
  BatchChecker checker({.position = 0, .run_id = kRun});
  check(checker, Buffer(bytes.begin(), bytes.end()));
  EXPECT_EQ(checker.position(), 1);
  EXPECT_EQ(flow_.records, 0u);
  EXPECT_TRUE(found().sound());
}

TEST_F(BatchCheckerTest, StartingOverForgetsTheOrder) {
  BatchChecker checker({.position = 0, .run_id = kRun});
  check(checker, batch(0, 5));
  checker.start_over(0);
  check(checker, batch(0, 5));
  EXPECT_TRUE(found().sound()) << found().first_problem;
  EXPECT_EQ(found().batches, 2u);
}

}  // namespace
}  // namespace weir::load
