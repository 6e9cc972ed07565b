// Proves what readers see of transactions (SCOPE 9): read_committed ends at the last stable offset,
// aborted ones are listed, a marker wakes who waits for it; and that after any crash all of this is
// what a scan of the log says, whether it comes from a snapshot or from the batches.
#include <gtest/gtest.h>

#include <map>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using model::ErrorCode;

log::Buffer transactional_batch(int64_t id, int16_t epoch, int32_t sequence,
                                size_t value_size = 100) {
  return log::make_batch(1, 5000, value_size,
                         {.producer_id = model::ProducerId(id),
                          .producer_epoch = model::ProducerEpoch(epoch),
                          .base_sequence = model::Sequence(sequence),
                          .transactional = true});
}

class TransactionsTest : public testing::Test {
 protected:
  int64_t begin(int64_t id, int32_t sequence = 0) {
    return world.append(transactional_batch(id, 0, sequence));
  }
  // The marker's offset; -1: nothing to end; else minus the error.
  int64_t end(int64_t id, bool commit, bool only_if_open = true) {
    Call<MarkerRequest> call;
    call.key = key_of(0);
    call.producer_id = model::ProducerId(id);
    call.producer_epoch = model::ProducerEpoch(0);
    call.marker = {.commit = commit, .coordinator_epoch = 1};
    call.origin.only_if_open = only_if_open;
    if (!world.ask(call, model::ports::kWriteMarker)) return INT64_MIN;
    return call.error == ErrorCode::none ? call.base_offset.value()
                                         : -static_cast<int64_t>(call.error);
  }
  ReadItem read(int64_t offset, bool committed = true) {
    Read call(0, model::Offset(offset), 1 << 20);
    call.item.read_committed = committed;
    call.items = std::span(&call.item, 1);
    EXPECT_TRUE(world.ask(call, model::ports::kRead));
    aborted.assign(call.item.aborted.begin(), call.item.aborted.end());
    EXPECT_TRUE(world.ask(call, model::ports::kReleaseRead));
    return call.item;
  }

  PartitionWorld world{11};
  std::vector<AbortedTransaction> aborted;
};

TEST_F(TransactionsTest, read_committed_ends_at_the_last_stable_offset) {
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.append(log::make_batch(2)), 0);
  ASSERT_EQ(begin(1), 2);
  ASSERT_EQ(world.append(log::make_batch(1)), 3);
  EXPECT_EQ(world.partition().last_stable_offset().value(), 2);
  const ReadItem committed = read(0);
  EXPECT_EQ(committed.size, log::make_batch(2).size());
  EXPECT_EQ(committed.high_watermark.value(), 4);
  EXPECT_EQ(committed.last_stable_offset.value(), 2);
  EXPECT_EQ(read(2).size, 0u);
  EXPECT_EQ(read(2).error, ErrorCode::none);
  EXPECT_GT(read(2, false).size, 0u);
  ASSERT_EQ(end(1, false), 4);
  EXPECT_EQ(world.partition().last_stable_offset().value(), 5);
  EXPECT_GT(read(2).size, 0u);
  ASSERT_EQ(aborted.size(), 1u);
  EXPECT_EQ(aborted[0], (AbortedTransaction{model::ProducerId(1), model::Offset(2)}));
  read(2, false);
  EXPECT_TRUE(aborted.empty());
}

TEST_F(TransactionsTest, a_marker_without_transaction_is_written_only_when_asked_for) {
  ASSERT_TRUE(world.start());
  EXPECT_EQ(end(1, true), -1);
  EXPECT_EQ(world.partition().high_watermark().value(), 0);
  EXPECT_EQ(end(1, true, false), 0);
  ASSERT_EQ(begin(1), 1);
  EXPECT_EQ(end(1, true), 2);
  EXPECT_EQ(end(1, true), -1);
  EXPECT_EQ(end(1, true, false), 3);
  EXPECT_EQ(world.partition().last_stable_offset().value(), 4);
}

TEST_F(TransactionsTest, a_marker_wakes_who_waits_for_the_stable_offset) {
  ASSERT_TRUE(world.start());
  ASSERT_EQ(begin(1), 0);
  const WatchItem committed{.key = key_of(0), .fetch_offset = model::Offset(0), .size_max = 1000,
                            .read_committed = true};
  Call<WatchRequest> watch;
  watch.items = std::span(&committed, 1);
  watch.size_min = 1;
  world.send(watch, model::ports::kWatch);
  // Data of another producer is readable, but not stable.
  ASSERT_EQ(world.append(log::make_batch(1)), 1);
  EXPECT_FALSE(watch.done);
  ASSERT_EQ(end(1, true), 2);
  EXPECT_TRUE(watch.done);
}

TEST_F(TransactionsTest, producers_are_described) {
  ASSERT_TRUE(world.start());
  ASSERT_EQ(begin(4), 0);
  ASSERT_EQ(end(4, true), 1);
  ASSERT_EQ(begin(2), 2);
  ASSERT_EQ(begin(4, 1), 3);
  base::Arena arena(1 << 20);
  Call<ProducersRequest> call;
  call.key = key_of(0);
  call.arena = &arena;
  ASSERT_TRUE(world.ask(call, model::ports::kDescribeProducers));
  ASSERT_EQ(call.error, ErrorCode::none);
  ASSERT_EQ(call.producers.size(), 2u);
  EXPECT_EQ(call.producers[0].producer_id.value(), 2);
  EXPECT_EQ(call.producers[0].transaction_first_offset, 2);
  EXPECT_EQ(call.producers[0].coordinator_epoch, -1);
  EXPECT_EQ(call.producers[1].transaction_first_offset, 3);
  EXPECT_EQ(call.producers[1].coordinator_epoch, 1);
  EXPECT_EQ(call.producers[1].last_sequence, 1);
  call.key = key_of(3);
  ASSERT_TRUE(world.ask(call, model::ports::kDescribeProducers));
  EXPECT_EQ(call.error, ErrorCode::unknown_topic_or_partition);
}

// What a scan of the log says of its transactions.
struct Scan {
  std::map<int64_t, int64_t> open;  // producer -> first offset
  std::vector<TransactionIndex::Aborted> aborted;
  int64_t end = 0;

  explicit Scan(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const log::BatchView batch(bytes);
      bytes = bytes.subspan(batch.size());
      end = batch.next_offset().value();
      const int64_t id = batch.producer_id().value();
      if (!batch.is_transactional()) continue;
      if (!batch.is_control()) {
        open.try_emplace(id, batch.base_offset().value());
        continue;
      }
      const auto found = open.find(id);
      if (found == open.end()) continue;
      if (!log::read_marker(batch)->commit) {
        aborted.push_back({batch.producer_id(), model::Offset(found->second),
                           batch.base_offset(), model::Offset(0)});
      }
      open.erase(found);
    }
  }
  int64_t stable() const {
    int64_t first = end;
    for (const auto& [id, offset] : open) first = std::min(first, offset);
    return first;
  }
};

void expect_as_scanned(PartitionWorld& world) {
  ErrorCode error{};
  const auto bytes = world.read_all(0, error);
  ASSERT_EQ(error, ErrorCode::none);
  const Scan scan(bytes);
  Partition& partition = world.partition();
  EXPECT_EQ(partition.high_watermark().value(), scan.end);
  EXPECT_EQ(partition.last_stable_offset().value(), scan.stable());
  const auto& index = partition.producers().transactions();
  ASSERT_EQ(index.aborted().size(), scan.aborted.size());
  for (size_t i = 0; i < scan.aborted.size(); ++i) {
    EXPECT_EQ(index.aborted()[i].first_offset, scan.aborted[i].first_offset);
    EXPECT_EQ(index.aborted()[i].last_offset, scan.aborted[i].last_offset);
  }
  for (int64_t from = 0; from < scan.end; from += 1 + scan.end / 7) {
    for (int64_t to = from + 1; to <= scan.end; to += 1 + scan.end / 9) {
      std::vector<AbortedTransaction> found;
      index.find_aborted(model::Offset(from), model::Offset(to), found);
      size_t expected = 0;
      for (const auto& aborted : scan.aborted) {
        const bool touches =
            aborted.last_offset.value() >= from && aborted.first_offset.value() < to;
        expected += touches ? 1 : 0;
      }
      EXPECT_EQ(found.size(), expected) << from << ".." << to;
      EXPECT_TRUE(std::ranges::is_sorted(found, {}, &AbortedTransaction::first_offset));
    }
  }
}

TEST(TransactionsCrashTest, after_any_crash_the_index_is_what_a_scan_says) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    PartitionWorld world(seed);
    base::RandomStream random(seed, "test");
    std::map<int64_t, int32_t> sequences;
    for (int life = 0; life < 4; ++life) {
      ASSERT_TRUE(world.start()) << world.failure();
      expect_as_scanned(world);
      if (HasFatalFailure() || HasFailure()) return;
      sequences.clear();
      for (const auto& [id, entry] : world.partition().producers().entries()) {
        sequences[id.value()] = entry.last_sequence().value() + 1;
      }
      const uint64_t steps = random.between(1, 60);
      for (uint64_t step = 0; step < steps; ++step) {
        const auto id = static_cast<int64_t>(random.below(5));
        if (random.chance(0.3)) {
          Call<MarkerRequest> call;
          call.key = key_of(0);
          call.producer_id = model::ProducerId(id);
          call.producer_epoch = model::ProducerEpoch(0);
          call.marker = {.commit = random.chance(0.5), .coordinator_epoch = 0};
          call.origin.only_if_open = random.chance(0.8);
          ASSERT_TRUE(world.ask(call, model::ports::kWriteMarker));
          ASSERT_EQ(call.error, ErrorCode::none);
          continue;
        }
        const size_t size = random.between(1, 30'000);
        ASSERT_GE(world.append(transactional_batch(id, 0, sequences[id]++, size)), 0);
      }
      expect_as_scanned(world);
      if (random.chance(0.3)) {
        world.table().prepare_stop();
        world.sim().run_for(50'000'000);
      }
      world.crash(random.chance(0.5) ? io::sim::CrashKind::power_cut
                                     : io::sim::CrashKind::process_kill);
    }
  }
}

}  // namespace
}  // namespace weir::partition
