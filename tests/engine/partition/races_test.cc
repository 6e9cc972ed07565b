// Proves that what races in one partition cannot hurt it: readers at the tail against slow writes
// and rolls, cuts against appends, look-ups against retention (CASES C31, C32, C38-C40, C42, C51).
//
// How: PartitionWorld, hundreds of seeds each; the seed draws sizes, faults, how far the world runs
// between two steps, and what comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "tests/engine/partition/partition_world.h"

namespace weir::partition {
namespace {

using io::sim::CrashKind;
using model::ErrorCode;

constexpr int64_t kEarliest = -2;
constexpr int64_t kLatest = -1;

struct Append : Call<AppendRequest> {
  explicit Append(int32_t count, size_t size) : bytes(log::make_batch(count, 1'000, size)) {}
  log::Buffer bytes;
};

// Batches in flight, and what was acknowledged of them.
class Producer {
 public:
  explicit Producer(PartitionWorld& world) : world_(world) {}

  void send(int32_t count, size_t size) {
    in_flight_.push_back(std::make_unique<Append>(count, size));
    world_.send_append(*in_flight_.back(), in_flight_.back()->bytes);
  }
  // Takes what came back.
  void look() {
    while (!in_flight_.empty() && in_flight_.front()->done) {
      Append& append = *in_flight_.front();
      ASSERT_EQ(append.error, ErrorCode::none);
      ASSERT_EQ(append.base_offset.value(), end_) << "acknowledged in order, without a hole";
      end_ += log::BatchView(append.bytes).offset_count();
      in_flight_.pop_front();
    }
  }
  size_t in_flight() const { return in_flight_.size(); }
  int64_t end() const { return end_; }

 private:
  PartitionWorld& world_;
  std::deque<std::unique_ptr<Append>> in_flight_;
  int64_t end_ = 0;
};

int64_t look_up(PartitionWorld& world, int64_t timestamp) {
  Call<OffsetsRequest> call;
  call.key = key_of(0);
  call.timestamp = timestamp;
  EXPECT_TRUE(world.ask(call, model::ports::kListOffsets));
  EXPECT_EQ(call.error, ErrorCode::none);
  return call.offset.value();
}

void send_cut(PartitionWorld& world, Call<DeleteRecordsRequest>& call, int64_t offset) {
  call.key = key_of(0);
  call.offset = model::Offset(offset);
  call.done = false;
  world.send(call, model::ports::kDeleteRecords);
}

// One look of a reader that follows the tail; false: nothing new.
bool follow(PartitionWorld& world, int64_t& next, int64_t& high_watermark) {
  Read read(0, model::Offset(next), 40'000);
  EXPECT_TRUE(world.read(read));
  EXPECT_EQ(read.item.error, ErrorCode::none);
  EXPECT_GE(read.item.high_watermark.value(), high_watermark) << "the high watermark went back";
  high_watermark = std::max(high_watermark, read.item.high_watermark.value());
  bool first = true;
  for (std::span<const std::byte> left = read.bytes; !left.empty(); first = false) {
    const log::BatchView batch(left);
    left = left.subspan(batch.size());
    EXPECT_TRUE(first ? batch.base_offset().value() <= next
                      : batch.base_offset().value() == next)
        << "jumps from " << next << " to " << batch.base_offset().value();
    EXPECT_EQ(batch.crc(), batch.computed_crc());
    next = batch.next_offset().value();
    EXPECT_LE(next, read.item.high_watermark.value()) << "above the mark of the same answer";
  }
  return !read.bytes.empty();
}

// The world goes on by less than `most` events, as the seed says.
void go_on(PartitionWorld& world, base::RandomStream& random, uint64_t most) {
  const uint64_t until = world.sim().event_count() + random.below(most);
  world.run_until([&] { return world.sim().event_count() >= until; });
}

TEST(Races, a_reader_at_the_tail_sees_all_that_is_durable_and_nothing_else) {
  for (uint64_t seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::RandomStream random(seed, "tail");
    WorldOptions options;
    options.sim.faults.stuck_io = random.chance(0.7) ? 0.05 : 0;
    options.sim.faults.stuck_io_ns = 200'000'000;
    options.settings.segment_bytes = random.between(1, 8) * 32_KiB;
    if (random.chance(0.6)) options.settings.segment_ms = 20;
    options.partition.flush_bytes = random.between(1, 16) * 8_KiB;
    options.partition.tail_cache_bytes = random.chance(0.5) ? 0 : 16_MiB;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    Producer producer(world);
    int64_t next = 0;
    int64_t high_watermark = 0;
    for (int step = 0; step < 120; ++step) {
      if (producer.in_flight() < 8) {
        producer.send(static_cast<int32_t>(random.between(1, 4)), random.between(10, 6'000));
      }
      go_on(world, random, 40);
      ASSERT_NO_FATAL_FAILURE(producer.look());
      if (random.chance(0.5)) follow(world, next, high_watermark);
    }
    world.crash(CrashKind::power_cut);
    ASSERT_TRUE(world.start());
    EXPECT_GE(world.partition().high_watermark().value(), high_watermark);
    EXPECT_GE(world.partition().high_watermark().value(), producer.end());
    while (follow(world, next, high_watermark)) {
    }
    EXPECT_EQ(next, world.partition().high_watermark().value());
  }
}

TEST(Races, a_cut_at_the_end_takes_nothing_that_comes) {
  for (uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::RandomStream random(seed, "cut");
    WorldOptions options;
    options.settings.segment_bytes = 32_KiB;
    options.settings.file_delete_delay_ms = 0;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    world.table().start_retention(nullptr);
    ASSERT_EQ(world.append(log::make_batch(10, 1'000, random.between(10, 3'000))), 0);
    Call<DeleteRecordsRequest> cut;
    Append append(5, random.between(10, 3'000));
    const bool cut_first = random.chance(0.5);
    if (cut_first) send_cut(world, cut, 10);
    else world.send_append(append, append.bytes);
    go_on(world, random, 30);
    if (cut_first) world.send_append(append, append.bytes);
    else send_cut(world, cut, 10);
    ASSERT_TRUE(world.run_until([&] { return cut.done && append.done; }));
    EXPECT_EQ(cut.error, ErrorCode::none);
    ASSERT_EQ(append.error, ErrorCode::none);
    ASSERT_EQ(append.base_offset.value(), 10);
    for (const bool restarted : {false, true}) {
      if (restarted) {
        world.crash(random.chance(0.5) ? CrashKind::power_cut : CrashKind::process_kill);
        ASSERT_TRUE(world.start());
      }
      int64_t next = 10;
      int64_t high_watermark = 0;
      EXPECT_TRUE(follow(world, next, high_watermark));
      EXPECT_EQ(next, 15);
      EXPECT_EQ(world.partition().log_start_offset().value(), 10);
    }
  }
}

TEST(Races, the_earliest_offset_can_be_read_while_retention_is_at_work) {
  for (uint64_t seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    base::RandomStream random(seed, "earliest");
    WorldOptions options;
    options.settings.segment_bytes = 32_KiB;
    options.settings.file_delete_delay_ms = 0;
    options.partition.retention_check_ms = static_cast<int64_t>(random.between(1, 20));
    options.settings.retention.size_bytes_max = random.chance(0.5) ? 0 : 50'000;
    options.settings.retention.age_ms_max = 5;
    PartitionWorld world(seed, options);
    ASSERT_TRUE(world.start());
    world.table().start_retention(nullptr);
    Producer producer(world);
    for (int step = 0; step < 60; ++step) {
      if (producer.in_flight() < 4) producer.send(1, random.between(1'000, 9'000));
      go_on(world, random, 60);
      ASSERT_NO_FATAL_FAILURE(producer.look());
      const int64_t earliest = look_up(world, kEarliest);
      Read read(0, model::Offset(earliest), 20'000);
      ASSERT_TRUE(world.read(read));
      if (read.item.error == ErrorCode::offset_out_of_range) {
        EXPECT_GT(world.partition().log_start_offset().value(), earliest)
            << "only because it moved on";
      } else {
        EXPECT_EQ(read.item.error, ErrorCode::none);
      }
    }
    ASSERT_TRUE(world.run_until([&] {
      producer.look();
      return producer.in_flight() == 0;
    }));
    Call<DeleteRecordsRequest> cut;
    send_cut(world, cut, -1);
    ASSERT_TRUE(world.run_until([&] { return cut.done; }));
    EXPECT_EQ(look_up(world, kEarliest), look_up(world, kLatest)) << "an empty log";
    EXPECT_EQ(look_up(world, kLatest), producer.end());
  }
}

TEST(Races, an_emptied_log_goes_on_for_ever) {
  WorldOptions options;
  options.settings.segment_ms = 10;
  options.settings.file_delete_delay_ms = 0;
  options.partition.retention_check_ms = 5;
  PartitionWorld world(1, options);
  ASSERT_TRUE(world.start());
  world.table().start_retention(nullptr);
  for (int64_t round = 0; round < 200; ++round) {
    ASSERT_EQ(world.append(log::make_batch(1)), round);
    Call<DeleteRecordsRequest> cut;
    send_cut(world, cut, -1);
    ASSERT_TRUE(world.run_until([&] { return cut.done; }));
    const io::Instant idle_until = world.sim().core(0).clock.now() + 30'000'000;
    world.run_until([&] { return world.sim().core(0).clock.now() >= idle_until; });
    if (round % 3 == 0) {
      world.crash(round % 2 == 0 ? CrashKind::power_cut : CrashKind::process_kill);
      ASSERT_TRUE(world.start()) << world.failure();
      world.table().start_retention(nullptr);
    }
    ASSERT_EQ(look_up(world, kEarliest), round + 1);
    ASSERT_EQ(look_up(world, kLatest), round + 1);
  }
}

}  // namespace
}  // namespace weir::partition
